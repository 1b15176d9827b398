/** The rate of strangers, by where they come from. */
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Env } from "../env.ts";

/** Throws MatrxError `RATE_LIMITED` when too many requests without a credential came from this address. */
export async function requireDoor(env: Env, request: Request): Promise<void> {
  const wait = await env.DOOR.getByName(prefixOf(env, request)).pass();
  if (wait === undefined) return;
  throw new MatrxError({
    code: "RATE_LIMITED",
    message: "Too many pairings were started from this address",
    hint: `Try again in ${Math.ceil(wait / 60_000)} minutes`,
    hop: "relay",
  });
}

/** The address on Cloudflare, the network's part of an IPv6 one. The embedded relay is not told it, and has one door. */
function prefixOf(env: Env, request: Request): string {
  const address = request.headers.get("CF-Connecting-IP");
  if (env.EMBEDDED || !address) return "here";
  return address.includes(":") ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address, spelt as it came; `::` stands for what is left out. */
function networkOf(address: string): string {
  const [head = ""] = address.toLowerCase().split("::");
  return head.split(":").slice(0, 4).join(":");
}
