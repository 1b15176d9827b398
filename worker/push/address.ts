/**
 * Where push services may be. What a browser gives as its endpoint is an address that the relay then posts to: so only named
 * public hosts, on https's own port. On Cloudflare nothing but the internet can be reached (`global_fetch_strictly_public`),
 * and in the embedded relay the service `internet` sees to it, whatever a name resolves to.
 */
import { relayError } from "@matrx/shared/errors.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function requirePushAddress(endpoint: string): void {
  const address = URL.parse(endpoint);
  if (address && isPublic(address)) return;
  throw relayError("INVALID_PARAMETERS", "endpoint: is not the address of a push service", {
    hint: "It must be an https address of a named public host, as the browser's PushSubscription says it",
    details: { field: "endpoint" },
  });
}

/** An address in numbers has no such end, nor has a name of the local network without a dot. */
function isPublic({ protocol, hostname, port, username, password, hash }: URL): boolean {
  const isNamed =
    /\.[a-z][a-z0-9-]*$/i.test(hostname) && !/\.(?:localhost|local|internal|home|lan)$/i.test(hostname);
  return protocol === "https:" && isNamed && !port && !username && !password && !hash;
}
