/**
 * Clients whose id is an address, where they describe themselves (Client ID Metadata Documents). A document is fetched only
 * when a browser goes to the page of a request to sign in, or for a signed-in person, and kept like a registration: asking for
 * tokens fetches nothing, and neither does a picture that some site shows from that address. No redirect
 * is followed, or whoever finds one on a host could pass for it. On Cloudflare nothing but the internet can be reached
 * (`global_fetch_strictly_public`), and in the embedded relay the service `internet` sees to it.
 */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { AccountId } from "@matrx/shared/ids.ts";
import { shownText } from "@matrx/shared/plain-names.ts";
import * as z from "zod";
import { requireAnonymousRate, requirePersonRate } from "../access/anonymous-rate-limit.ts";
import type { Env } from "../env.ts";
import { PREFIX } from "../objects/oauth-store.ts";
import { OAuthKv } from "./kv.ts";
import { CLIENT_KEPT } from "./server.ts";

const ID_CHARS = 512;
const DOCUMENT_BYTES = 5 * 1024;
/** In milliseconds. */
const ANSWERS_WITHIN = 8_000;
/** A document is looked at again after this long, in seconds. */
const FRESH = 10 * 60;

const list = z.array(z.string().max(64)).max(32);

const documentSchema = z.object({
  client_id: z.string(),
  client_name: shownText.trim().min(1).max(200),
  redirect_uris: z.array(z.string().max(1024)).min(1).max(32),
  token_endpoint_auth_method: z.string().max(64).optional(),
  token_endpoint_auth_methods_supported: list.optional(),
  client_secret: z.undefined().optional(),
});
type Document = z.infer<typeof documentSchema>;

/** Both in seconds since 1970. */
interface Known {
  registrationDate: number;
  registrationExpiresAt: number;
}

/** Whether a client's id is the address of a document. */
export function isDocumentAddress(id: string): boolean {
  return /^https:\/\//i.test(id);
}

/** The host that vouches for a client; null: it only registered, with any name it liked. */
export function hostOf(id: string): string | null {
  return isDocumentAddress(id) ? new URL(id).host : null;
}

/** Who may have a document fetched, within a rate. Throws MatrxError `RATE_LIMITED`; undefined: nobody who may asks. */
export type FetchRate = (() => Promise<void>) | undefined;

/** Whoever has a browser show them the page. A browser tells what it wants an address for; old ones do so by what they accept. */
export function visitorRate(env: Env, request: Request): FetchRate {
  const { headers } = request;
  const mode = headers.get("Sec-Fetch-Mode");
  const isNavigation =
    mode === null
      ? headers.get("Accept")?.includes("text/html") === true
      : mode === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
  return isNavigation ? () => requireAnonymousRate(env, request, "client document") : undefined;
}

export function personRate(env: Env, account: AccountId): FetchRate {
  return () => requirePersonRate(env, account, "client document");
}

/** Fetches the document of a client, unless it is known from just now, and keeps it. Throws MatrxError. */
export async function learnClient(env: Env, id: string, countFetch: FetchRate): Promise<void> {
  requireAddress(id);
  const kv = new OAuthKv(env);
  const now = Math.floor(Date.now() / 1000);
  const known = (await kv.get(PREFIX.client + id, { type: "json" })) as Known | null;
  if (known && now - known.registrationDate < FRESH) return;
  if (!countFetch) throw notVisitedError();
  await countFetch();
  const { client_name: clientName, redirect_uris: redirectUris } = await fetchDocument(id);
  const client = {
    clientId: id,
    clientName,
    redirectUris,
    grantTypes: ["authorization_code", "refresh_token"],
    responseTypes: ["code"],
    tokenEndpointAuthMethod: "none",
    authMethodExplicit: true,
    registrationDate: now,
    registrationExpiresAt: known?.registrationExpiresAt ?? now + CLIENT_KEPT,
  };
  // That a stranger's browser comes again is no use of the client.
  const options = { expirationTtl: CLIENT_KEPT, keepsExpiry: true };
  await kv.put(PREFIX.client + id, JSON.stringify(client), options);
}

/** An https address of a named host, with a path, spelled in its one way. Throws MatrxError. */
function requireAddress(id: string): void {
  if (id.length > ID_CHARS || !URL.canParse(id)) throw badAddressError();
  const { href, username, password, hash, pathname, hostname } = new URL(id);
  const isNamed = /\.[a-z][a-z0-9-]*$/i.test(hostname);
  if (href !== id || username || password || hash || pathname === "/" || !isNamed) throw badAddressError();
}

async function fetchDocument(id: string): Promise<Document> {
  let document: Document;
  try {
    document = documentSchema.parse(JSON.parse(await textAt(id)));
  } catch (cause) {
    const why = cause instanceof DocumentError ? cause.message : "it is no such document";
    throw unreadableError(id, why);
  }
  if (document.client_id !== id) throw unreadableError(id, "it describes another client");
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: some } = document;
  if (!(some?.includes("none") ?? (one ?? "none") === "none"))
    throw unreadableError(id, "the client wants to prove itself in a way that this relay doesn't know");
  return document;
}

class DocumentError extends Error {}

async function textAt(address: string): Promise<string> {
  const response = await fetch(address, {
    redirect: "manual",
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout(ANSWERS_WITHIN),
  }).catch(() => {
    throw new DocumentError("nobody answers there");
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new DocumentError(`the answer there is ${response.status}`);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text = "";
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > DOCUMENT_BYTES) throw new DocumentError(`it has more than ${DOCUMENT_BYTES} bytes`);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

function badAddressError(): MatrxError {
  return relayError("INVALID_PARAMETERS", "client_id is not the address of a client's description", {
    hint: "It must be an https address of a public host, with a path",
  });
}

function notVisitedError(): MatrxError {
  return relayError("INVALID_PARAMETERS", "This address is for a browser to go to", {
    hint: "Open it in a browser's window",
  });
}

function unreadableError(id: string, why: string): MatrxError {
  return relayError("INVALID_PARAMETERS", `${new URL(id).host} doesn't describe this client: ${why}`, {
    hint: "Try again later, or add the relay to the client anew",
  });
}
