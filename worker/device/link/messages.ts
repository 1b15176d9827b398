/** Handles what a registered device sends (device document, and our agent's additions). */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import {
  type CreditRequest,
  type FromDevice,
  fromDeviceSchema,
  type ToDevice,
  type ToolPrepared,
  type ToolProgress,
  type ToolResult,
  toDeviceSchema,
} from "@matrx/shared/device-frames.ts";
import { type ErrorCode, type ErrorShape, type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { DeviceEvent } from "@matrx/shared/events.ts";
import { free } from "@matrx/shared/free-buffer.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { check, isLongerThan, parseJsonObject } from "@matrx/shared/json-input.ts";
import { LIMITS, RATES, TIMES } from "@matrx/shared/limits.ts";
import { decodeAgentFrame, type ResultHeader } from "@matrx/shared/result-frame.ts";
import { retryIn } from "@matrx/shared/retry.ts";
import { isStreamFrame } from "@matrx/shared/streams/frame.ts";
import { type Manifest, manifestSchema } from "@matrx/shared/tool.ts";
import { errorShapeOf } from "../../problem.ts";
import { Tally } from "../../tally.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { AnswerCredit } from "../calls/answer-credit.ts";
import type { Calls } from "../calls/calls.ts";
import { type DeviceAnswer, isDeviceCode, isRecord } from "../calls/device-answer.ts";
import type { Recovery } from "../calls/recovery.ts";
import type { DeviceSocket } from "../connection.ts";
import type { DeviceContext } from "../context.ts";

const encoder = new TextEncoder();

/** The parts that handle a device's messages. */
interface Handlers {
  readonly calls: Calls;
  readonly credit: AnswerCredit;
  readonly recovery: Recovery;
  readonly approvals: Approvals;
  /** Stores an event and tells its subscribers. Throws MatrxError. */
  readonly event: (event: DeviceEvent, now: number) => void;
}

/** A client that sends every ten seconds may arrive early because of jitter. */
const HEARTBEAT_SLACK = 1000;
const REPORT_CHARS = 200;
const NO_ASSISTANT = "No assistant is set up on this relay yet.";

export class DeviceMessages {
  /** Errors that the device reported about itself. */
  readonly reports: Tally;
  readonly #context: DeviceContext;
  readonly #handlers: Handlers;
  #lastReport = "";
  /** The last `device_heartbeat` of each connection, in milliseconds since 1970. */
  readonly #lastHeartbeat = new WeakMap<WebSocket, number>();

  constructor(context: DeviceContext, handlers: Handlers) {
    this.#context = context;
    this.#handlers = handlers;
    this.reports = new Tally(
      (count) => {
        const others = count > 1 ? ` (and ${count - 1} before it)` : "";
        return `device ${context.device} reports ${this.#lastReport}${others}`;
      },
      (at) => context.timer.by(at),
    );
  }

  /** Handles one message of the registered device. Never throws. */
  message(socket: DeviceSocket, data: string | ArrayBuffer, now: number): void {
    socket.attachment.lastAt = now;
    try {
      if (typeof data === "string") this.#text(socket, data, now);
      else this.#binary(data, now);
    } catch (error) {
      this.#context.link.reply(errorFrame(errorShapeOf(error), now));
    }
  }

  /** Handles one message of our agent's second connection, which is for streams only. Never throws. */
  bulkMessage(data: string | ArrayBuffer, now: number): void {
    try {
      if (typeof data === "string") throw onlyStreams();
      this.#context.streams.fromDevice(new Uint8Array(data));
    } catch (error) {
      this.#context.link.reply(errorFrame(errorShapeOf(error), now));
    }
  }

  #binary(data: ArrayBuffer, now: number): void {
    const bytes = new Uint8Array(data);
    if (isStreamFrame(bytes)) return this.#context.streams.fromDevice(bytes);
    if (data.byteLength > LIMITS.resultFrameBytes) throw tooLarge("result", LIMITS.resultFrameBytes);
    const frame = decodeAgentFrame(data);
    if (frame.kind === "output") {
      if (data.byteLength > LIMITS.outputFrameBytes) throw tooLarge("output", LIMITS.outputFrameBytes);
      return this.#handlers.calls.output(frame.header, frame.body);
    }
    this.#handlers.calls.result(frame.header, frame.body, now);
    if (data.byteLength > LIMITS.largeAnswerBytes) free(data);
    if (this.#handlers.calls.hasAcks) this.#context.timer.by(now + TIMES.ackWithin);
  }

  #text(socket: DeviceSocket, data: string, now: number): void {
    const { ours } = socket.attachment;
    const frame = readFrame(data, ours ? LIMITS.preparedFrameBytes : LIMITS.resultFrameBytes);
    if (frame.type === "tool_result") return this.#bareResult(frame, now);
    // Bounded by the calls in flight, as results are.
    if (frame.type === "credit_request") return this.#handlers.credit.ask(frame, now);
    // Each call has its own rate.
    if (frame.type === "tool_progress") return this.#handlers.calls.progress(frame, now);
    if (frame.type !== "tool_prepared" && isLongerThan(data, LIMITS.deviceFrameBytes))
      throw tooLarge("text", LIMITS.deviceFrameBytes);
    // Bounded by the calls that wait.
    if (frame.type === "tool_prepared")
      return ours ? this.#handlers.approvals.prepared(frame, now) : undefined;
    const limits = ours ? RATES.owner : RATES.bare;
    const wait = this.#context.rates.takeMessage("device", limits, now);
    if (wait > 0) throw tooFast(limits.messages_per_second, wait);
    this.#known(socket, frame, now);
  }

  #known(
    socket: DeviceSocket,
    frame: Exclude<FromDevice, ToolResult | CreditRequest | ToolPrepared | ToolProgress>,
    now: number,
  ): void {
    switch (frame.type) {
      case "device_heartbeat":
        return this.#heartbeat(socket, now);
      case "device_register":
      case "device_bulk":
        throw relayError("CONFLICT", "This connection is already registered");
      case "manifest":
        return this.#manifest(socket, manifestSchema.parse(frame));
      case "call_status":
        return this.#handlers.recovery.status(frame.calls, now);
      case "user_query":
        this.#context.link.reply({ type: "assistant_response", response: NO_ASSISTANT, timestamp: iso(now) });
        return;
      case "error":
        this.#lastReport = `${frame.error_code}: ${frame.message.slice(0, REPORT_CHARS)}`;
        this.reports.add(now);
        return;
      case "event":
        return this.#handlers.event(frame, now);
      case "device_status":
        return this.#context.link.notePaused(socket, frame.paused);
      case "approval_decided":
        if (socket.attachment.ours) this.#handlers.approvals.decidedAtMachine(frame, now);
        return;
      case "llm_response_chunk":
        return;
    }
  }

  #manifest({ ws, attachment }: DeviceSocket, manifest: Manifest): void {
    this.#context.store.setManifest(manifest);
    if (attachment.manifestDue) {
      delete attachment.manifestDue;
      ws.serializeAttachment(attachment);
    }
    this.#context.onToolsChanged();
  }

  /** Stored in the attachment: it is a bare device's only sign of life, and must survive hibernation. */
  #heartbeat(socket: DeviceSocket, now: number): void {
    const last = this.#lastHeartbeat.get(socket.ws) ?? 0;
    const wait = last + RATES.heartbeatEvery - HEARTBEAT_SLACK - now;
    if (wait > 0) throw heartbeatTooOften(wait);
    this.#lastHeartbeat.set(socket.ws, now);
    socket.ws.serializeAttachment(socket.attachment);
    this.#context.link.reply({ type: "heartbeat_ack", timestamp: iso(now) });
  }

  #bareResult(result: ToolResult, now: number): void {
    const { calls } = this.#handlers;
    const pending = calls.pendingCalls.get(result.tool_call_id);
    const { header, body } = answerOfBare(
      result,
      pending?.id,
      this.#context.device,
      pending ? now - (pending.releasedAt ?? pending.created) : 0,
    );
    calls.result(header, body, now);
    // A bare device keeps no journal: unwritten outcomes exist only here.
    calls.flushAcks();
  }
}

/** A bare device's result as its caller gets it. `id` is the caller's; REST has none. */
function answerOfBare(
  result: ToolResult,
  id: string | undefined,
  device: DeviceId,
  ms: number,
): DeviceAnswer {
  const code = result.success ? undefined : codeOf(result.error?.code);
  const answer: Answer = {
    ...(id !== undefined && { id }),
    type: result.success ? "success" : "error",
    output: result.success ? outputOf(result.result) : (result.error?.message ?? "The tool failed"),
    call: result.tool_call_id,
    device,
    ...(id === undefined && { image: null }),
    ...metadataOf(result.result),
    ...(code && { code, hop: "device" as const }),
  };
  const status = result.success ? "success" : code === "CANCELLED" ? "cancelled" : "error";
  const header: ResultHeader = { call: result.tool_call_id, status, ms, ...(code && { code }) };
  return { header, body: encoder.encode(JSON.stringify(answer)) };
}

/** Keeps a code of ours that a device may give; any other is specific to the tool. */
function codeOf(code: string | undefined): ErrorCode {
  return isDeviceCode(code) ? code : "TOOL_EXECUTION_FAILED";
}

function outputOf(result: unknown): string {
  if (typeof result === "string") return result;
  if (isRecord(result) && typeof result.message === "string") return result.message;
  return result === undefined ? "" : JSON.stringify(result);
}

function metadataOf(result: unknown): { metadata?: Record<string, unknown> } {
  return isRecord(result) ? { metadata: result } : {};
}

const FROM_DEVICE = typesOf(fromDeviceSchema);
const TO_DEVICE = typesOf(toDeviceSchema);

function typesOf(union: { options: readonly { shape: { type: { value: string } } }[] }): ReadonlySet<string> {
  return new Set(union.options.map(({ shape }) => shape.type.value));
}

/** Knows every type of the device document, even those that only the relay sends. Throws MatrxError. */
function readFrame(data: string, maxBytes: number): FromDevice {
  const value = parseJsonObject(data, maxBytes);
  const type = String(value.type);
  if (FROM_DEVICE.has(type)) return check(fromDeviceSchema, value);
  const known = TO_DEVICE.has(type);
  throw relayError(
    known ? "INVALID_PARAMETERS" : "INVALID_MESSAGE",
    known
      ? `type: ${type} is sent by the relay, not by devices`
      : `Unknown message type "${type.slice(0, 64)}"`,
    { hint: `A device sends: ${[...FROM_DEVICE].join(", ")}`, details: { field: "type" } },
  );
}

/** Sends an error to a socket that is not registered. */
export function sendError(ws: WebSocket, error: ErrorShape, now: number): void {
  if (ws.readyState === WebSocket.OPEN) ws.send(JSON.stringify(errorFrame(error, now)));
}

/** Device document, Error Responses. */
function errorFrame(error: ErrorShape, now: number): ToDevice {
  const details = { ...error.details, ...(error.hint && { hint: error.hint }), hop: error.hop };
  const { code: error_code, message } = error;
  return { type: "error", error_code, message, details, timestamp: iso(now) };
}

function iso(now: number): string {
  return new Date(now).toISOString();
}

function onlyStreams(): MatrxError {
  return relayError("INVALID_MESSAGE", "This connection is for streams only", {
    hint: "Send everything else on the device's first connection",
  });
}

function tooLarge(what: string, limit: number): MatrxError {
  return relayError("PAYLOAD_TOO_LARGE", `The ${what} frame is larger than ${limit} bytes`, {
    hint: "Shorten the answer, and say how to read the rest",
    details: { limit_bytes: limit },
  });
}

function tooFast(limit: number, waitMs: number): MatrxError {
  return relayError("RATE_LIMITED", `More than ${limit} messages per second`, retryIn(waitMs, "send fewer"));
}

function heartbeatTooOften(waitMs: number): MatrxError {
  const message = "Heartbeats arrive more often than every ten seconds";
  return relayError("RATE_LIMITED", message, retryIn(waitMs, "every 30 seconds is enough"));
}
