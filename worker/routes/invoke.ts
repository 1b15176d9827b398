/** A REST call on its way to the device, and its answer on the way back. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import {
  type CallId,
  callTime,
  isCallId,
  isSessionId,
  makeCallId,
  makeSessionId,
  type SessionId,
} from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import type { Caller } from "../auth/caller.ts";
import type { RestCall } from "../device/callers/rest.ts";
import type { Device } from "../objects/device.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { brokenCall } from "./broken-call.ts";

export interface Invocation<Given> {
  answer: Given;
  headers: Record<string, string>;
}

/** What a caller says of a call. */
export type Wanted = Pick<RestCall, "tool" | "input" | "timeoutMs" | "key">;

/** Name and session of the call that a request makes. Throws MatrxError. */
export function newCall(request: Request): Pick<RestCall, "call" | "chosen" | "session"> {
  const now = Date.now();
  const chosen = chosenCallOf(request, now);
  return { call: chosen ?? makeCallId(now), chosen: chosen !== undefined, session: sessionOf(request) };
}

/** The name that a caller chose for its call; its time must be about now, for records are kept by it. Throws MatrxError. */
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

/** Sends a call to its device by `send`; the headers name call and session. Throws MatrxError. */
export async function invoke<Given extends { call: CallId }>(
  device: DurableObjectStub<Device>,
  caller: Caller,
  request: Request,
  wanted: Wanted,
  send: Send<Given>,
): Promise<Invocation<Given | Refused>> {
  const call = newCall(request);
  const { session } = call;
  const answer = await sent(device, caller, { ...wanted, ...call }, send);
  const headers: Record<string, string> = { [CALL_HEADER]: answer.call, "Cache-Control": "no-store" };
  if (session) headers[SESSION_HEADER] = session;
  return { answer, headers };
}

type Send<Given> = (call: RestCall) => Promise<Outcome<Given>>;

/** A call that did not get through, or of which no more is known. */
interface Refused {
  kind: "refused";
  call: CallId;
  error: ErrorShape;
}

async function sent<Given>(
  device: DurableObjectStub<Device>,
  caller: Caller,
  call: RestCall,
  send: Send<Given>,
): Promise<Given | Refused> {
  let outcome: Outcome<Given>;
  try {
    outcome = await send(call);
  } catch (error) {
    return { kind: "refused", call: call.call, error: await brokenCall(device, caller, call, error) };
  }
  return unwrap(outcome);
}

/** 202: the call goes on; its outcome will be at this URL. */
export function pendingResponse(device: string, call: string, headers: Record<string, string>): Response {
  const url = `/v1/devices/${device}/calls/${call}`;
  headers.Location = url;
  headers["Content-Type"] = "application/json";
  return new Response(JSON.stringify({ call, state: "accepted", url }), { status: 202, headers });
}

/** A session only where one was asked for: REST calls are each on their own (guide, REST Protocol). */
function sessionOf(request: Request): SessionId | undefined {
  const wanted = request.headers.get(SESSION_HEADER);
  if (wanted === null) return undefined;
  if (wanted === "new") return makeSessionId();
  if (isSessionId(wanted)) return wanted;
  throw wrongFieldError(SESSION_HEADER, "must be `new`, or the 16 hexadecimal digits of a session");
}

/** `Idempotency-Key` of a request. Throws MatrxError. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get("Idempotency-Key");
  if (key === null) return undefined;
  if (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars) return key;
  throw wrongFieldError("Idempotency-Key", `must have 1 to ${LIMITS.idempotencyKeyChars} characters`);
}

/** An error that names a header, or a parameter of the address. */
export function wrongFieldError(field: string, message: string): MatrxError {
  const shape: ErrorShape = {
    code: "INVALID_PARAMETERS",
    message: `${field}: ${message}`,
    hop: "relay",
    details: { field },
  };
  return new MatrxError(shape);
}
