/** Why the relay gave no answer, in words that an AI client can act on. */
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { errorInProblem } from "@matrx/shared/problem.ts";
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { STREAM_ENDED } from "../mounts/http-client.ts";
import { lostBecause } from "../relay/close-reasons.ts";

/** The error to tell; what the relay's own MCP server said stays as it is. */
export function proxyError(error: unknown, relay: string): MatrxError | ProtocolError {
  if (error instanceof MatrxError) return error;
  if (error instanceof ProtocolError) return error.code === STREAM_ENDED ? cutOff(relay) : error;
  if (error instanceof UnauthorizedError) return refused();
  if (error instanceof SdkHttpError) return httpError(error, relay);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return cutOff(relay);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return cutOff(relay);
  const isUnsent = "code" in cause && UNSENT.has(String(cause.code));
  return isUnsent ? unreachable(relay, lostBecause(cause)) : cutOff(relay);
}

/** No connection was made, so nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"],
  "UND_ERR_CONNECT_TIMEOUT",
  "EPROXY",
]);

function httpError(error: SdkHttpError, relay: string): MatrxError {
  if (error.status === 401) return refused();
  const said = errorInProblem(jsonIn(error.data.text));
  if (said) return said;
  // Whoever answers for a relay that is away may have passed the call on before.
  return error.status >= 500 ? cutOff(relay) : unreachable(relay, `it answered ${error.status}`);
}

function refused(): MatrxError {
  return callerError("UNAUTHENTICATED", "The relay doesn't accept the token: it ended, or was revoked", {
    hint: "Ask the user for a new token; then this server must be started again",
  });
}

function unreachable(relay: string, why: string): MatrxError {
  return callerError("UNAVAILABLE", `Can't reach the relay at ${relay}: ${why}`, {
    hint: "Nothing was done. Try again in a while: it connects again by itself",
  });
}

function cutOff(relay: string): MatrxError {
  return callerError("OUTCOME_UNKNOWN", `The connection to the relay at ${relay} ended before the answer`, {
    hint: "The call may have run. Check what it changed before you call again",
  });
}

function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
