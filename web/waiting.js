/** A code that waits while its person signs in: kept here, because a sign-in link opens the page anew. */

const PLACE = "matrx.waiting";
/** As long as a code lives, in milliseconds. */
const KEPT = 10 * 60_000;

/** A code as all spell it, `ABCD-EFGH`; undefined: it is none. */
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
    // A browser that keeps nothing: the code is still in the address.
  }
}

/** The code that waits, once. */
export function takeWaiting() {
  try {
    const { code, until } = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    localStorage.removeItem(PLACE);
    return until > Date.now() ? codeOf(String(code)) : undefined;
  } catch {
    return undefined;
  }
}
