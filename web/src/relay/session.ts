/**
 * This browser's session. Its key never leaves the browser, which keeps it for this origin alone, port included. The relay
 * trades the session's cookie and a proof of the key (RFC 9449) for an access token, which is kept in memory.
 */
import { unreadableError } from "./api-error.ts";
import { get, put, remove } from "./key-store.ts";
import { patientFetch, patientText } from "./patient-fetch.ts";

/** An access token is renewed this long before it ends, in milliseconds. */
const EARLY = 60_000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };

interface Access {
  readonly access_token: string;
  readonly expires_in: number;
}

/** Posts to a route that asks for no access token. Throws what refuses it. */
export type PostOpenly = (
  path: string,
  body: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Access>;

let access: { token: string; until: number } | undefined;
let nonce: string | undefined;
let renewing: Promise<string | undefined> | undefined;
/** How often somebody signed in or out in this browser, as far as this page knows. */
let turn = 0;

/** The other pages of this browser have the same session. */
const others = new BroadcastChannel("session");

/** Calls back after another page signed in, or somebody signed out there. Returns what ends that. */
export function onOtherSession(changed: (isSignedOut: boolean) => void): () => void {
  const take = ({ data }: MessageEvent) => {
    leaveSession();
    changed(data === "signed out");
  };
  others.addEventListener("message", take);
  return () => others.removeEventListener("message", take);
}

/** Signs in by `POST path`. Resolves to what the relay answered; the session is this browser's from then on. */
export async function signIn(path: string, body: object, post: PostOpenly): Promise<Access> {
  requireCrypto();
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const answer = await post(path, { ...body, key: await publicPart(pair) });
  await put("session", pair);
  leaveSession();
  keep(answer);
  others.postMessage("signed in");
  return answer;
}

/** The key of a sign-in that leads away from this page, where it waits. */
export async function beginSignIn(): Promise<JsonWebKey> {
  requireCrypto();
  const waiting = await get("sign-in");
  const pair = waiting ?? (await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]));
  await put("sign-in", pair);
  return publicPart(pair);
}

/** Ends it, with a proof of the key that waited. The session is this browser's from then on. */
export async function finishSignIn(
  path: string,
  body: object,
  used: string,
  post: PostOpenly,
): Promise<void> {
  requireCrypto();
  const pair = await get("sign-in");
  if (!pair) throw new Error("This sign-in was not begun in this browser. Start it here.");
  const answer = await post(path, body, { DPoP: await proof(pair, { method: "POST", path, nonce: used }) });
  await remove("sign-in");
  await put("session", pair);
  leaveSession();
  keep(answer);
  others.postMessage("signed in");
}

/** A bearer token that is good for a while; undefined: nobody is signed in here. Throws a Response that refuses it, or ApiError. */
export async function accessToken(): Promise<string | undefined> {
  if (access && Date.now() < access.until) return access.token;
  renewing ??= renew().finally(() => {
    renewing = undefined;
  });
  return renewing;
}

/** Another number once another session is this browser's: what was asked for before is not for whoever has it. */
export function sessionTurn(): number {
  return turn;
}

/** The relay refused the token that it gave: the next one is a new one. */
export function dropAccess(): void {
  access = undefined;
}

/** Nobody is signed in here any more. */
export async function forget(): Promise<void> {
  leaveSession();
  await remove("session");
  others.postMessage("signed out");
}

/** The nonce for the first proof: without one, the relay refuses a request to tell it. */
export function startWithNonce(first: string): void {
  nonce ??= first;
}

/** What the relay answered, if it said more about the next proof. */
export function noteNonce(response: Response): void {
  nonce = response.headers.get("DPoP-Nonce") ?? nonce;
}

function leaveSession(): void {
  turn += 1;
  dropAccess();
}

async function renew(): Promise<string | undefined> {
  requireCrypto();
  const mine = turn;
  const pair = await get("session");
  if (!pair) return undefined;
  const hadNonce = nonce !== undefined;
  let response = await askForAccess(pair);
  // Another page of this browser may have used the nonce, and an old one has expired.
  if (response.status === 401 && (hadNonce || nonce)) response = await askForAccess(pair);
  const given = response.ok ? accessIn(await patientText(response)) : undefined;
  if (mine !== turn) return access?.token ?? renew();
  if (given) return keep(given);
  if (response.status === 401 && isOfRelay(response)) return undefined;
  throw response;
}

/** A proxy or a network's own page may refuse a request too: that ends no session. */
function isOfRelay({ headers }: Response): boolean {
  return headers.get("Content-Type")?.includes("problem+json") === true;
}

/** Throws ApiError when something else answered in the relay's place. */
function accessIn(text: string): Access {
  try {
    const { access_token: token, expires_in: seconds } = JSON.parse(text);
    if (typeof token === "string" && typeof seconds === "number")
      return { access_token: token, expires_in: seconds };
  } catch {
    // Told like an answer that lacks the token.
  }
  throw unreadableError(200);
}

async function askForAccess(pair: CryptoKeyPair): Promise<Response> {
  const used = nonce;
  nonce = undefined;
  const path = "/v1/session";
  const response = await patientFetch(path, {
    method: "POST",
    headers: used ? { DPoP: await proof(pair, { method: "POST", path, nonce: used }) } : {},
  });
  noteNonce(response);
  return response;
}

function keep({ access_token: token, expires_in: seconds }: Access): string {
  access = { token, until: Date.now() + Math.max(seconds * 1000 - EARLY, (seconds * 1000) / 2) };
  return token;
}

interface Proven {
  readonly method: string;
  readonly path: string;
  readonly nonce: string;
}

async function proof(pair: CryptoKeyPair, { method: htm, path, nonce: used }: Proven): Promise<string> {
  const head = { typ: "dpop+jwt", alg: "ES256", jwk: await publicPart(pair) };
  const claims = { htm, htu: location.origin + path, iat: Math.floor(Date.now() / 1000), nonce: used };
  const signed = `${encoded(head)}.${encoded({ ...claims, jti: crypto.randomUUID() })}`;
  const signature = await crypto.subtle.sign(SIGNING, pair.privateKey, new TextEncoder().encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

async function publicPart({ publicKey }: CryptoKeyPair): Promise<JsonWebKey> {
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  return { kty, crv, x, y } as JsonWebKey;
}

function encoded(value: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Browsers sign only on pages that nobody on the way can change. */
function requireCrypto(): void {
  if (globalThis.crypto?.subtle) return;
  throw new Error("Signing in needs https, or the address http://localhost on the relay's own machine.");
}
