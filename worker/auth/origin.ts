/** Where a request may come from: the Host that is answered, and the Origin of pages that hold our cookie. */
import { MatrxError } from "@matrx/shared/errors.ts";

/** Refuses a Host header that is not ours: a page that rebinds its name to this address gets nothing. */
export function requireHost(env: { HOSTS?: string }, request: Request): void {
  if (!env.HOSTS) return;
  const host = request.headers.get("Host") ?? new URL(request.url).host;
  if (env.HOSTS.split(",").includes(host)) return;
  throw new MatrxError({
    code: "PERMISSION_DENIED",
    message: `This relay doesn't serve the host ${host}`,
    hint: `Use one of: ${env.HOSTS.replaceAll(",", ", ")}`,
    hop: "relay",
  });
}

/** A request that a cookie speaks for must come from our own page. */
export function requireOwnOrigin(request: Request): void {
  const origin = request.headers.get("Origin");
  if (origin && isOwnOrigin(origin, new URL(request.url))) return;
  throw new MatrxError({
    code: "PERMISSION_DENIED",
    message: origin ? `Pages from ${origin} may not use this sign-in` : "The request has no Origin header",
    hint: "Programs use an Authorization header instead of the cookie",
    hop: "relay",
  });
}

/** Same host and port; `https` where a proxy in front ends TLS. */
function isOwnOrigin(origin: string, url: URL): boolean {
  return origin === url.origin || origin === `https://${url.host}`;
}
