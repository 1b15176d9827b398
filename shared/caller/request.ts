/** What a request's headers and URL say about its call. Each function throws MatrxError naming the field. */
import { type MatrxError, relayError } from "../errors.ts";
import { familiesSchema } from "../family-schemas.ts";
import {
  type CallId,
  callTime,
  isCallId,
  isSessionId,
  makeCallId,
  makeSessionId,
  type SessionId,
} from "../ids.ts";
import { LIMITS, TIMES } from "../limits.ts";
import { CALL_HEADER, SESSION_HEADER } from "../tokens.ts";
import type { Family } from "../tool-families.ts";
import { TOOL_FORMATS, type ToolFormat, toolFormatSchema } from "../tool-formats.ts";
import type { WantedCall } from "./port.ts";

export const EVENT_STREAM = "text/event-stream";

/** Whether the caller wants server-sent events. */
export function acceptsEventStream(request: Request): boolean {
  return (
    request.method !== "HEAD" && (request.headers.get("Accept") ?? "").toLowerCase().includes(EVENT_STREAM)
  );
}

/** Name and session of a request's call. */
export function newCall(request: Request): Pick<WantedCall, "call" | "chosen" | "session"> {
  const now = Date.now();
  const chosen = chosenCallOf(request, now);
  return { call: chosen ?? makeCallId(now), chosen: chosen !== undefined, session: sessionOf(request) };
}

/** The name that a caller chose for its call; its timestamp must be about now, because records are kept by it. */
function chosenCallOf(request: Request, now: number): CallId | undefined {
  const chosen = request.headers.get(CALL_HEADER);
  if (chosen === null) return undefined;
  if (!isCallId(chosen)) throw wrongFieldError(CALL_HEADER, "must be a UUID of version 7 in lower case");
  if (Math.abs(callTime(chosen) - now) <= TIMES.callTimeSkew) return chosen;
  const here = new Date(now).toISOString();
  throw wrongFieldError(
    CALL_HEADER,
    `must be of the current time, which is ${here} here: make a new one for each call`,
  );
}

/** A session only if requested: REST calls are independent of each other (guide, REST Protocol). */
function sessionOf(request: Request): SessionId | undefined {
  const wanted = request.headers.get(SESSION_HEADER);
  if (wanted === null) return undefined;
  if (wanted === "new") return makeSessionId();
  if (isSessionId(wanted)) return wanted;
  throw wrongFieldError(SESSION_HEADER, "must be `new`, or the 16 hexadecimal digits of a session");
}

/** `Idempotency-Key` of a request. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get("Idempotency-Key");
  if (key === null) return undefined;
  if (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars) return key;
  throw wrongFieldError("Idempotency-Key", `must have 1 to ${LIMITS.idempotencyKeyChars} characters`);
}

/** `?timeout_ms=` of a request. */
export function timeoutOf(request: Request): number | undefined {
  const text = parameterOf(request, "timeout_ms");
  if (text === undefined) return undefined;
  const timeout = Number(text);
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= TIMES.callMax) return timeout;
  throw wrongFieldError("timeout_ms", `must be a whole number from 1 to ${TIMES.callMax}`);
}

/** Seconds in `Prefer: wait=` of a request (RFC 7240), as milliseconds; undefined if it prefers nothing that is possible. */
export function waitOf(request: Request): number | undefined {
  const wanted = /(?:^|[,;\s])wait=(\d{1,4})(?=$|[,;\s])/i.exec(request.headers.get("Prefer") ?? "")?.[1];
  if (wanted === undefined || Number(wanted) === 0) return undefined;
  return Math.min(Number(wanted) * 1000, acceptsEventStream(request) ? TIMES.streamWaitMax : TIMES.restHold);
}

/** `?cancel_on_disconnect=` of a request. */
export function cancelOnDisconnectOf(request: Request): boolean {
  const text = parameterOf(request, "cancel_on_disconnect") ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw wrongFieldError("cancel_on_disconnect", "must be `true` or `false`");
}

/** `?format=` of a list of tools. */
export function formatOf(request: Request): ToolFormat | undefined {
  const text = parameterOf(request, "format");
  if (text === undefined) return undefined;
  const { data } = toolFormatSchema.safeParse(text);
  if (data) return data;
  throw wrongFieldError("format", `must be one of ${TOOL_FORMATS.join(", ")}`);
}

/** `?tools=` of a request, which may come more than once: families by name, or `all`. */
export function familiesOf(request: Request): readonly Family[] | undefined {
  if (!request.url.includes("?")) return undefined;
  const given = new URL(request.url).searchParams.getAll("tools");
  if (given.length === 0) return undefined;
  const { data, error } = familiesSchema.safeParse(given.join());
  if (data) return data;
  throw wrongFieldError("tools", error.issues[0]?.message ?? "");
}

function parameterOf(request: Request, name: string): string | undefined {
  if (!request.url.includes("?")) return undefined;
  return new URL(request.url).searchParams.get(name) ?? undefined;
}

/** An error that names a header or a query parameter. */
function wrongFieldError(field: string, message: string): MatrxError {
  return relayError("INVALID_PARAMETERS", `${field}: ${message}`, { details: { field } });
}
