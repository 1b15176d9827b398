/** Texts that the browser keeps: for this origin, or for this tab. A store that is full, closed or forbidden keeps nothing. */

/** A browser may refuse even to name its stores. */
const STORES = { browser: () => localStorage, tab: () => sessionStorage };
type Place = keyof typeof STORES;

export function stored(place: Place, key: string): string | undefined {
  try {
    return STORES[place]().getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** What was kept as JSON; undefined: nothing, or it cannot be read. */
export function storedJson(place: Place, key: string): unknown {
  try {
    return JSON.parse(stored(place, key) ?? "");
  } catch {
    return undefined;
  }
}

/** False: there is no room for it. */
export function store(place: Place, key: string, text: string): boolean {
  try {
    STORES[place]().setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

export function unstore(place: Place, key: string): void {
  try {
    STORES[place]().removeItem(key);
  } catch {
    // Nothing could be kept there.
  }
}

/** Removes all whose names begin so. */
export function unstoreAll(place: Place, prefix: string): void {
  try {
    const found = STORES[place]();
    for (const key of Object.keys(found)) if (key.startsWith(prefix)) found.removeItem(key);
  } catch {
    // Nothing could be kept there.
  }
}
