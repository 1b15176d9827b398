/** Errors of calls that did not come to an answer. */
import { errorAnswer } from "@matrx/shared/caller/error-answer.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { callerError, type ErrorCode, MatrxError } from "@matrx/shared/errors.ts";
import { retryAfterMsOf } from "@matrx/shared/retry.ts";

/** The error that an answer is; undefined: it is none. */
export function errorIn({ type, code, output, hint, hop, metadata }: Answer): MatrxError | undefined {
  if (type !== "error") return undefined;
  return new MatrxError({
    code: code ?? "TOOL_EXECUTION_FAILED",
    message: output,
    hint,
    hop: hop ?? "device",
    details: metadata,
  });
}

/** The answer that an error over HTTP is: what WebSockets say of the same call. */
export function answerOfProblem(error: MatrxError): Answer {
  const { details: { output: _, call, device, metadata, ...facts } = {}, ...shape } = error.shape();
  const details = (metadata ?? facts) as Record<string, unknown>;
  return errorAnswer(
    { ...shape, ...(Object.keys(details).length > 0 && { details }) },
    {
      ...(typeof call === "string" && { call }),
      ...(typeof device === "string" && { device }),
    },
  );
}

/** Refusals that are not about the call: with these, no connection to the device would open. */
const NOT_REACHED: readonly ErrorCode[] = ["UNAUTHENTICATED", "UNKNOWN_DEVICE", "UNAVAILABLE"];

/** What a refused call was answered. Throws the error if the device is not reached at all. */
export function answerOfRefusal(error: unknown): Answer {
  if (!(error instanceof MatrxError) || error.hop === "caller" || NOT_REACHED.includes(error.code))
    throw error;
  return answerOfProblem(error);
}

/** After how many milliseconds the relay takes what it refused for its rate, and so did not run; undefined: it is no such refusal. */
export function rateWaitOf({ code, hop, details }: MatrxError): number | undefined {
  return code === "RATE_LIMITED" && hop === "relay" ? retryAfterMsOf(details) : undefined;
}

export function cancelled(): MatrxError {
  return callerError("CANCELLED", "Cancelled");
}

/** What connections lead to unless they say otherwise, in words. */
export const RELAY = "the relay";

/** A connection that was lost, or could not be made; `why` in words. */
export class ConnectionLost extends MatrxError {
  readonly why: string;

  constructor(why: string, host: string, cause?: unknown) {
    const hint = "Check the address and your network, and try again";
    super(
      { code: "UNAVAILABLE", message: `Lost the connection to ${host}: ${why}`, hint, hop: "caller" },
      cause,
    );
    this.why = why;
  }
}

/** The transport has no streams, events or records. */
export function unsupported(what: string, hint = "Connect by WebSocket"): MatrxError {
  return callerError("INVALID_PARAMETERS", `This connection has no ${what}`, { hint });
}

/** Nothing reached the device. */
export function notSent(why: string, host: string, isStopped: boolean, cause?: unknown): MatrxError {
  if (isStopped) return callerError("CANCELLED", "Cancelled before the call was sent: nothing ran");
  return callerError("UNAVAILABLE", `Can't reach ${host}, so nothing ran: ${why}`, {
    hint: "Check the address and your network",
    cause,
  });
}

/** What is known of a call that was sent, and whose answer did not come. */
export interface Unanswered {
  readonly why: string;
  /** What the connection led to, in words. */
  readonly host: string;
  readonly isStopped: boolean;
  /** It may be made again without harm. */
  readonly isRead: boolean;
  readonly idempotencyKey: string | undefined;
  /** Its name at the relay. */
  readonly call: string | undefined;
  readonly cause?: unknown;
}

export function unanswered(call: Unanswered): MatrxError {
  const { why, host, isStopped, isRead, idempotencyKey, cause } = call;
  const facts = {
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
    ...(call.call !== undefined && { call: call.call }),
  };
  const hint = isRead
    ? "It only reads, so just run it again"
    : idempotencyKey !== undefined
      ? `To get its outcome, repeat the call with the idempotency key ${idempotencyKey}`
      : "Check what it changed before you run it again";
  const besides = { hint, details: facts, cause };
  if (isStopped)
    return callerError("CANCELLED", "Cancelled without an answer; the call may still be running", besides);
  const message = `Lost the connection to ${host} before the answer arrived: ${why}`;
  return callerError(isRead ? "UNAVAILABLE" : "OUTCOME_UNKNOWN", message, besides);
}
