/** A code, or an app's request, that waits while its owner signs in. It is kept here because a sign-in link loads the page again. */

const PLACE = "matrx.waiting";
const REQUEST_PLACE = "matrx.request";
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
  keep(PLACE, code);
}

/** Takes the waiting code out of the storage. */
export function takeWaiting() {
  const code = take(PLACE);
  return code && codeOf(code);
}

/** The query of an app's request. */
export function keepRequest(query) {
  keep(REQUEST_PLACE, query);
}

/** Takes the waiting request out of the storage. */
export function takeRequest() {
  return take(REQUEST_PLACE);
}

function keep(place, text) {
  try {
    localStorage.setItem(place, JSON.stringify({ text, until: Date.now() + KEPT }));
  } catch {
    // The browser stores nothing here; it is still in the address.
  }
}

function take(place) {
  try {
    const { text, until } = JSON.parse(localStorage.getItem(place) ?? "{}");
    localStorage.removeItem(place);
    return until > Date.now() ? String(text) : undefined;
  } catch {
    return undefined;
  }
}
