/** Keeps a code while its person signs in, because a sign-in link opens a new page. */

const PLACE = "matrx.waiting";
/** How long a code is valid, in milliseconds. */
const KEPT = 10 * 60_000;

/** A code in its usual spelling, `ABCD-EFGH`; undefined: it is not a code. */
export function codeOf(text) {
  const code = text
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : undefined;
}

export function keepWaiting(code) {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ code, until: Date.now() + KEPT }));
  } catch {
    // The browser stores nothing: the code is still in the address.
  }
}

/** Returns the waiting code, once. */
export function takeWaiting() {
  try {
    const { code, until } = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    localStorage.removeItem(PLACE);
    return until > Date.now() ? codeOf(String(code)) : undefined;
  } catch {
    return undefined;
  }
}
