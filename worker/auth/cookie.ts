/** The cookie of a browser's session. Alone it opens nothing (`session-proof.ts`). */
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";

export function readCookie(env: AddressEnv, request: Request): string | undefined {
  const header = request.headers.get("Cookie");
  if (!header) return undefined;
  const wanted = nameFor(ownOrigin(env, request));
  for (const part of header.split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === wanted && value) return value;
  }
  return undefined;
}

export function setCookie(env: AddressEnv, request: Request, token: string): string {
  return cookie(env, request, token, LIFETIME.web);
}

export function clearCookie(env: AddressEnv, request: Request): string {
  return cookie(env, request, "", 0);
}

/** `Secure` on loopback without TLS would lock Safari out of the embedded relay. */
function cookie(env: AddressEnv, request: Request, value: string, seconds: number): string {
  const origin = ownOrigin(env, request);
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return `${nameFor(origin)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}

/**
 * Cookies know no ports, so relays on other ports of this host would overwrite each other's. With the prefix, browsers keep
 * it from being set by other hosts of the same domain, and without TLS (RFC 6265bis, section 4.1.3.2).
 */
function nameFor(origin: string): string {
  const { protocol, port } = new URL(origin);
  return `${protocol === "https:" ? "__Host-" : ""}matrx_session${port && `_${port}`}`;
}
