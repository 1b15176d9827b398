/** Which pages may do what: our own with the cookie or without a credential, others only with a token. */
import { relayError } from "@matrx/shared/errors.ts";
import { type AddressEnv, ownOrigin } from "./address.ts";

/** A request authenticated by the cookie must come from our own page. Throws MatrxError. */
export function requireOwnOrigin(env: AddressEnv, request: Request): void {
  const origin = request.headers.get("Origin");
  if (origin === ownOrigin(env, request)) return;
  throw relayError(
    "PERMISSION_DENIED",
    origin ? `Pages from ${origin} may not use this sign-in` : "The request has no Origin header",
    { hint: "Programs use an Authorization header instead of the cookie" },
  );
}

/** For routes that need no credential: an Origin, which only browsers send, must be our own page. Throws MatrxError. */
export function refuseForeignPage(env: AddressEnv, request: Request): void {
  const origin = request.headers.get("Origin");
  if (origin === null || origin === ownOrigin(env, request)) return;
  throw relayError("PERMISSION_DENIED", `Pages from ${origin} may not do this`, {
    hint: "Use the relay's own page; a program sends no Origin header",
  });
}
