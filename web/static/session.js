/**
 * This browser's session. Its key never leaves the browser, and the browser keeps it for this origin alone, port included.
 * The relay trades the session's cookie and a proof of the key (RFC 9449) for an access token, which is kept in memory.
 */

/** An access token is renewed this long before it ends, in milliseconds. */
const EARLY = 60_000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
/** The database, its only table, the key's name in it, and the name of a key whose sign-in goes on elsewhere. */
const [DATABASE, TABLE, KEY, WAITING] = ["matrx", "keys", "session", "sign-in"];

let access;
let nonce;
let renewing;

/** The other pages of this browser have the same session. */
const others = new BroadcastChannel("session");

/** Calls back after another page signed in or out. */
export function onOtherSession(changed) {
  others.addEventListener("message", () => {
    dropAccess();
    changed();
  });
}

/** Signs in by `POST path`. Resolves to what the relay answered; the session is this browser's from then on. */
export async function signIn(path, body, fetchJson) {
  requireCrypto();
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const answer = await fetchJson(path, { ...body, key: await publicPart(pair) });
  await withKeys("readwrite", (keys) => keys.put(pair, KEY));
  keep(answer);
  others.postMessage("signed in");
  return answer;
}

/** Begins a sign-in that leads away from this page: its key waits here. Resolves to what the relay answered. */
export async function beginSignIn(path, fetchJson) {
  requireCrypto();
  const waiting = await withKeys("readonly", (keys) => keys.get(WAITING));
  const pair = waiting ?? (await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]));
  await withKeys("readwrite", (keys) => keys.put(pair, WAITING));
  return fetchJson(path, { key: await publicPart(pair) });
}

/** Ends it, with a proof of the key that waited. The session is this browser's from then on. */
export async function finishSignIn(path, body, used, fetchJson) {
  requireCrypto();
  const pair = await withKeys("readonly", (keys) => keys.get(WAITING));
  if (!pair) throw new Error("This sign-in was not begun in this browser. Start it here.");
  const answer = await fetchJson(path, body, { DPoP: await proof(pair, "POST", path, used) });
  await withKeys("readwrite", (keys) => {
    keys.delete(WAITING);
    return keys.put(pair, KEY);
  });
  keep(answer);
  others.postMessage("signed in");
}

/** A bearer token that is good for a while, or undefined if nobody is signed in here. */
export async function accessToken() {
  if (access && Date.now() < access.until) return access.token;
  renewing ??= renew().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

/** The relay refused the token that it gave: the next one is a new one. */
export function dropAccess() {
  access = undefined;
}

/** Nobody is signed in here any more. */
export async function forget() {
  dropAccess();
  await withKeys("readwrite", (keys) => keys.delete(KEY));
  others.postMessage("signed out");
}

/** What the relay answered, if it said more about the next proof. */
export function noteNonce(response) {
  nonce = response.headers.get("DPoP-Nonce") ?? nonce;
}

async function renew() {
  requireCrypto();
  const pair = await withKeys("readonly", (keys) => keys.get(KEY));
  if (!pair) return undefined;
  const hadNonce = nonce !== undefined;
  let response = await askForAccess(pair);
  // Another page of this browser may have used the nonce, and an old one has expired.
  if (response.status === 401 && (hadNonce || nonce)) response = await askForAccess(pair);
  if (response.status === 401) return undefined;
  if (!response.ok) throw response;
  keep(await response.json());
  return access.token;
}

async function askForAccess(pair) {
  const used = nonce;
  nonce = undefined;
  const headers = used ? { DPoP: await proof(pair, "POST", "/v1/session", used) } : {};
  const response = await fetch("/v1/session", {
    method: "POST",
    credentials: "same-origin",
    cache: "no-store",
    headers,
  });
  noteNonce(response);
  return response;
}

function keep({ access_token: token, expires_in: seconds }) {
  access = { token, until: Date.now() + Math.max(seconds * 1000 - EARLY, (seconds * 1000) / 2) };
}

async function proof(pair, htm, path, used) {
  const head = { typ: "dpop+jwt", alg: "ES256", jwk: await publicPart(pair) };
  const claims = { htm, htu: location.origin + path, iat: Math.floor(Date.now() / 1000), nonce: used };
  const signed = `${encoded(head)}.${encoded({ ...claims, jti: crypto.randomUUID() })}`;
  const signature = await crypto.subtle.sign(SIGNING, pair.privateKey, new TextEncoder().encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

async function publicPart({ publicKey }) {
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  return { kty, crv, x, y };
}

function encoded(value) {
  return base64url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Browsers sign only on pages that nobody on the way can change. */
function requireCrypto() {
  if (globalThis.crypto?.subtle) return;
  throw new Error("Signing in needs https, or the address http://localhost on the relay's own machine.");
}

/** What a request to the table of keys gives. */
async function withKeys(mode, use) {
  const database = await settled(opened());
  try {
    return await settled(use(database.transaction(TABLE, mode).objectStore(TABLE)));
  } finally {
    database.close();
  }
}

function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  return request;
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () =>
      reject(new Error(`This browser could not open its session: ${request.error?.message}`));
  });
}
