/** The rate limit of anonymous requests: by what is asked for, and by who asks from where. */
import { relayError } from "@matrx/shared/errors.ts";
import type { AccountId } from "@matrx/shared/ids.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import { ownOrigin, publicAddress } from "../auth/address.ts";
import type { Env } from "../env.ts";

/** What may be asked for without a credential. Each has a rate of its own: none uses up another's. */
export type AnonymousUse = "pairing" | "login" | "sign-in" | "registration" | "client document";

/** Throws MatrxError `RATE_LIMITED` when too many requests for this came from there without a credential. */
export async function requireAnonymousRate(env: Env, request: Request, use: AnonymousUse): Promise<void> {
  await requireRate(env, `${use} ${sourceOf(env, request)}`);
}

/** The same for what a signed-in person has the relay do, wherever they are. Throws MatrxError `RATE_LIMITED`. */
export async function requirePersonRate(env: Env, account: AccountId, use: AnonymousUse): Promise<void> {
  await requireRate(env, `${use} of ${account}`);
}

async function requireRate(env: Env, name: string): Promise<void> {
  const wait = await env.ANONYMOUS_RATE_LIMIT.getByName(name).pass();
  if (wait === undefined) return;
  throw relayError("RATE_LIMITED", "Too many requests of this kind came from here", retryIn(wait));
}

/** From where a request comes, and whether another site's page has a browser send it: any page that is open there can. */
export function sourceOf(env: Env, request: Request): string {
  const isOthers = isOfOtherSite(env, request);
  return `${isOthers ? "page at" : "at"} ${prefixOf(env, request)}`;
}

function isOfOtherSite(env: Env, request: Request): boolean {
  const { headers } = request;
  const origin = headers.get("Origin");
  if (origin !== null) return origin !== ownOrigin(env, request);
  const site = headers.get("Sec-Fetch-Site");
  return site !== null && site !== "none" && site !== "same-origin";
}

/**
 * Where a request comes from. Only this machine talks to the embedded relay: its own programs at `localhost`, and the
 * proxy at the public address, which forwards the client's address. So strangers outside cannot use up the rate of the
 * machine itself, or of another address.
 */
export function prefixOf(env: Env, request: Request): string {
  if (!env.EMBEDDED) return networkOf(request.headers.get("CF-Connecting-IP") ?? "here");
  if (new URL(request.url).host !== publicAddress(env)?.host) return "here";
  const forwarded = request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
  return forwarded ? networkOf(forwarded.slice(0, ADDRESS_CHARS)) : "proxy";
}

const ADDRESS_CHARS = 64;

/** An IPv4 address as servers that listen on IPv6 report it. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** An IPv4 address, or the first 64 bits of an IPv6 address, as spelt; a `::` within them ends the text. */
function networkOf(address: string): string {
  const told = address.replace(MAPPED, "");
  if (!told.includes(":")) return told;
  const [head = ""] = told.toLowerCase().split("::");
  return head.split(":").slice(0, 4).join(":");
}
