/** The last answers of a few routes, kept in this browser: an app that starts offline shows them as old. */

const PREFIX = "matrx-last:";

export interface LastKnown<T> {
  readonly at: number;
  readonly value: T;
}

/** Keeps it for this account. A full or closed store keeps nothing. */
export function remember<T>(name: string, value: T): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify({ at: Date.now(), value }));
  } catch {
    // Only the start offline is poorer for it.
  }
}

/** What was kept, by whichever release of the app: undefined where it cannot be read. */
export function lastKnown<T>(name: string): LastKnown<T> | undefined {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? "") as LastKnown<T>;
  } catch {
    return undefined;
  }
}

/** Nothing of an account stays in a browser where it signs out. */
export function forgetLastKnown(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}
