/** What to tell of a sign-in at an issuer that failed. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Issuer } from "@matrx/shared/oidc-issuers.ts";
import { oneLine } from "@matrx/shared/one-line.ts";
import { logWarning } from "../../log.ts";
import { unauthenticated } from "../keys.ts";

const REASON_CHARS = 200;

/** The issuer said nothing of use: it is down, or something else is at its address. */
const UNUSABLE = new Set(
  ["RESPONSE_IS_NOT_CONFORM", "RESPONSE_IS_NOT_JSON", "PARSE_ERROR", "MISSING_SERVER_METADATA"].map(
    (what) => `OAUTH_${what}`,
  ),
);

/** The issuer refused the relay, not the person. */
const OUR_FAULT = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type"]);

/** What the library adds to its errors; those of the network have no such code. */
interface OAuthFailure {
  code?: unknown;
  error?: string;
  error_description?: string;
}

/** The error to answer with when an issuer does not say what it is. The log says more. */
export function unreachableError({ id, name }: Issuer, cause: unknown): MatrxError {
  logWarning(`the issuer ${id} gives no usable answer: ${cause}`);
  return relayError("UNAVAILABLE", `${name} can't be reached, or gives no usable answer`, {
    hint: "Try again later, or sign in another way; the relay's log says more",
    cause,
  });
}

/** The error to answer with when the end of a sign-in failed. The log says more. */
export function refusedError(issuer: Issuer, cause: unknown): MatrxError {
  const { id, name } = issuer;
  const { code, error: said, error_description: why } = cause as OAuthFailure;
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR")
    return relayError("PERMISSION_DENIED", `${name} did not sign you in: ${reason(said, why)}`, {
      hint: "Start again, or sign in another way",
    });
  if (typeof code !== "string" || UNUSABLE.has(code)) return unreachableError(issuer, cause);
  logWarning(`a sign-in by the issuer ${id} failed: ${said ? reason(said, why) : cause}`);
  if (said && OUR_FAULT.has(said))
    return relayError("UNAVAILABLE", `${name} does not accept this relay: ${reason(said, why)}`, {
      hint: "The relay's owner can check client_id and client_secret",
      cause,
    });
  const message = said
    ? `${name} did not accept the sign-in: ${reason(said, why)}`
    : `The answer of ${name} can't be trusted: ${reason(String((cause as Error).message))}`;
  return new MatrxError(unauthenticated(message, "Start again, or sign in another way"), cause);
}

function reason(said = "no reason given", why = ""): string {
  return oneLine(why ? `${said} (${why})` : said, REASON_CHARS);
}
