/** Codes that machines and command lines show, and what waits in this browser while its owner signs in. */

const CODE = "matrx.waiting";
const REQUEST = "matrx.request";
/** How long a code is valid, in milliseconds. */
const KEPT = 10 * 60_000;

/** A code in its usual form, `ABCD-EFGH`; undefined if the text isn't one. */
export function codeOf(text: string): string | undefined {
  const code = text
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : undefined;
}

/** A sign-in link loads the page again: the code is kept until then. */
export function keepCode(code: string): void {
  keep(CODE, code);
}

/** Whether one waits. */
export function isCodeWaiting(): boolean {
  return kept(CODE) !== undefined;
}

/** Takes the waiting code out of the storage. */
export function takeCode(): string | undefined {
  const code = take(CODE);
  return code === undefined ? undefined : codeOf(code);
}

/** Keeps the request of an app (OAuth), its query, for a sign-in that leads away from its page. */
export function keepRequest(query: string): void {
  keep(REQUEST, query);
}

/** Takes the request of an app out of the storage. */
export function takeRequest(): string | undefined {
  return take(REQUEST);
}

function keep(place: string, text: string): void {
  try {
    localStorage.setItem(place, JSON.stringify({ text, until: Date.now() + KEPT }));
  } catch {
    // The browser stores nothing here; it is still in the address.
  }
}

function take(place: string): string | undefined {
  const text = kept(place);
  try {
    localStorage.removeItem(place);
  } catch {
    // Nothing was there.
  }
  return text;
}

function kept(place: string): string | undefined {
  try {
    const { text, until } = JSON.parse(localStorage.getItem(place) ?? "{}");
    return until > Date.now() ? String(text) : undefined;
  } catch {
    return undefined;
  }
}
