/** A code that waits while its owner signs in. It is kept here because a sign-in link loads the page again. */

const PLACE = "matrx.waiting";
/** How long a code is valid, in milliseconds. */
const KEPT = 10 * 60_000;

/** A code in its usual form, `ABCD-EFGH`; undefined if the text isn't one. */
export function codeOf(text) {
  const code = text
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : undefined;
}

/** Whether two texts are the same code, however they are spelled. */
export function isSameCode(one, other) {
  const code = codeOf(one);
  return code !== undefined && code === codeOf(other);
}

export function keepWaiting(code) {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ code, until: Date.now() + KEPT }));
  } catch {
    // The browser stores nothing here; the code is still in the address.
  }
}

/** Takes the waiting code out of the storage. */
export function takeWaiting() {
  try {
    const { code, until } = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    localStorage.removeItem(PLACE);
    return until > Date.now() ? codeOf(String(code)) : undefined;
  } catch {
    return undefined;
  }
}
