/** Which pages may do what: our own with the cookie, others with a token, and strangers' none of what needs no credential. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";

/** A request that a cookie speaks for must come from our own page. Throws MatrxError. */
export function requireOwnOrigin(env: AddressEnv, request: Request): void {
  const origin = request.headers.get("Origin");
  if (origin === ownOrigin(env, request)) return;
  throw new MatrxError({
    code: "PERMISSION_DENIED",
    message: origin ? `Pages from ${origin} may not use this sign-in` : "The request has no Origin header",
    hint: "Programs use an Authorization header instead of the cookie",
    hop: "relay",
  });
}

/** For what needs no credential yet: a browser names the page, and only our own may. Programs name none. Throws MatrxError. */
export function refuseForeignPage(env: AddressEnv, request: Request): void {
  const origin = request.headers.get("Origin");
  if (origin === null || origin === ownOrigin(env, request)) return;
  throw new MatrxError({
    code: "PERMISSION_DENIED",
    message: `Pages from ${origin} may not do this`,
    hint: "Use the relay's own page; a program sends no Origin header",
    hop: "relay",
  });
}
