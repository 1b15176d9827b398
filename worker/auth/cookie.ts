/** The cookie of a signed-in browser. */
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";

const NAME = "matrx_session";

export function readCookie(request: Request): string | undefined {
  const header = request.headers.get("Cookie");
  if (!header) return undefined;
  for (const part of header.split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === NAME && value) return value;
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
  const secure = ownOrigin(env, request).startsWith("https:") ? "; Secure" : "";
  return `${NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}
