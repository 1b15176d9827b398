/** The rate of strangers, by where they come from. */
import { relayError } from "@matrx/shared/errors.ts";
import type { Env } from "../env.ts";
import { publicAddress } from "./address.ts";

/** Throws MatrxError `RATE_LIMITED` when too many requests without a credential came from this address. */
export async function requireAnonymousRate(env: Env, request: Request): Promise<void> {
  const wait = await env.ANONYMOUS_RATE_LIMIT.getByName(prefixOf(env, request)).pass();
  if (wait === undefined) return;
  throw relayError("RATE_LIMITED", "Too many pairings were started from this address", {
    hint: `Try again in ${Math.ceil(wait / 60_000)} minutes`,
  });
}

/**
 * Where a request comes from. The embedded relay is spoken to by this machine alone: by its own programs at `localhost`,
 * and by the proxy at the public address, which tells whom it speaks for. So strangers outside use up nothing of what
 * the machine itself, or another address, may do.
 */
export function prefixOf(env: Env, request: Request): string {
  if (!env.EMBEDDED) return networkOf(request.headers.get("CF-Connecting-IP") ?? "here");
  if (new URL(request.url).host !== publicAddress(env)?.host) return "here";
  const forwarded = request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
  return forwarded ? networkOf(forwarded.slice(0, ADDRESS_CHARS)) : "proxy";
}

const ADDRESS_CHARS = 64;

/** As servers that listen on IPv6 tell of IPv4. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** An IPv4 address, or the first 64 bits of an IPv6 one, spelt as it came; `::` stands for what is left out. */
function networkOf(address: string): string {
  const told = address.replace(MAPPED, "");
  if (!told.includes(":")) return told;
  const [head = ""] = told.toLowerCase().split("::");
  return head.split(":").slice(0, 4).join(":");
}
