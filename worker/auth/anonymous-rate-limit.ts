/** The rate limit of anonymous requests, by source address. */
import { relayError } from "@matrx/shared/errors.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import type { Env } from "../env.ts";
import { publicAddress } from "./address.ts";

/** Throws MatrxError `RATE_LIMITED` when too many requests without a credential came from this address. */
export async function requireAnonymousRate(env: Env, request: Request): Promise<void> {
  const wait = await env.ANONYMOUS_RATE_LIMIT.getByName(prefixOf(env, request)).pass();
  if (wait === undefined) return;
  throw relayError("RATE_LIMITED", "Too many pairings and sign-ins came from this address", retryIn(wait));
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
