/** The address of this relay: `MATRX_URL` if the owner set it, else what each request names. Forwarding headers are ignored. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { publicOrigin } from "@matrx/shared/public-url.ts";

export interface AddressEnv {
  /** The one public address, such as `https://relay.example`. */
  MATRX_URL?: string | null;
  /** Set in the embedded relay: Host headers that mean this machine, separated by commas. */
  HOSTS?: string;
}

interface PublicAddress {
  origin: string;
  host: string;
}

const known = new Map<string, PublicAddress>();

/** The address that the owner set. Throws MatrxError `UNAVAILABLE` if it is not an address. */
export function publicAddress({ MATRX_URL: text }: AddressEnv): PublicAddress | undefined {
  if (!text) return undefined;
  const parsed = known.get(text);
  if (parsed) return parsed;
  const origin = publicOrigin(text);
  if (!origin) throw notAnAddress();
  const address = { origin, host: new URL(origin).host };
  known.set(text, address);
  return address;
}

/** The origin of this relay's page, as the requesting browser sees it. */
export function ownOrigin(env: AddressEnv, request: Request): string {
  const { host, origin } = new URL(request.url);
  const address = publicAddress(env);
  return address?.host === host ? address.origin : origin;
}

/** The origin that links point to. */
export function linkOrigin(env: AddressEnv, request: Request): string {
  return publicAddress(env)?.origin ?? new URL(request.url).origin;
}

/** Refuses a Host header that is not ours, which defeats DNS rebinding. Throws MatrxError. */
export function requireHost(env: AddressEnv, request: Request): void {
  const address = publicAddress(env);
  const local = env.HOSTS ? env.HOSTS.split(",") : [];
  // Cloudflare already routes by host.
  if (!address && local.length === 0) return;
  const host = request.headers.get("Host") ?? new URL(request.url).host;
  if (host === address?.host || local.includes(host)) return;
  throw relayError("PERMISSION_DENIED", `This relay doesn't serve the host ${host}`, {
    hint: address
      ? `Use ${address.origin}; a proxy in front must pass on the Host header`
      : `Use one of: ${local.join(", ")}. Behind a proxy, set MATRX_URL to its address`,
  });
}

function notAnAddress(): MatrxError {
  return relayError("UNAVAILABLE", "MATRX_URL is not the address of a relay", {
    hint: "Set it to scheme and host only, such as https://relay.example",
  });
}
