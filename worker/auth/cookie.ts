/** The cookie of a signed-in browser. */
import { LIFETIME } from "@matrx/shared/tokens.ts";

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

export function setCookie(request: Request, token: string): string {
  return cookie(request, token, LIFETIME.web);
}

export function clearCookie(request: Request): string {
  return cookie(request, "", 0);
}

/** `Secure` on loopback without TLS would lock Safari out of the embedded relay. */
function cookie(request: Request, value: string, seconds: number): string {
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  return `${NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}
