/** What a caller sends (guide, WebSocket Protocol). */
import * as z from "zod";
import type { Hop } from "../errors.ts";
import { check, parseJsonObject } from "../json-input.ts";
import { LIMITS, TIMES } from "../limits.ts";
import { wantedOpensSchema } from "../streams/opens.ts";

export const TOOL_NAME_CHARS = 128;
const callerId = z.string().min(1).max(LIMITS.callerIdChars);

/** A call; also the body of `POST .../tools/invoke`. Unknown keys are ignored: newer clients may send more. */
export const callSchema = z.object({
  id: callerId.optional().describe("The caller's own name for the call; if absent, answers use its CallId"),
  tool: z.string().min(1).max(TOOL_NAME_CHARS),
  input: z.record(z.string(), z.unknown()).default({}),
  timeout_ms: z
    .int()
    .min(1)
    .max(TIMES.callMax)
    .optional()
    .describe("Milliseconds; the tool's own time-out is a parameter of the tool"),
  idempotency_key: z.string().min(1).max(LIMITS.idempotencyKeyChars).optional(),
  stream: z.boolean().optional().describe("Opt in to live output"),
  opens: wantedOpensSchema
    .optional()
    .describe("Open a stream of bytes with the call: its number, and the device's first credit"),
  cancel_on_disconnect: z
    .boolean()
    .optional()
    .describe("Also stop a call that changes something when this connection closes"),
  queue_for: z.never("waiting for an offline device is not available yet").optional(),
});
export type Call = z.infer<typeof callSchema>;

/** A call as REST takes it; `queue_for` is reserved, and refused; a stream needs a WebSocket. */
export const callBodySchema = callSchema.omit({ queue_for: true, opens: true });

export const actionSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("cancel"), id: callerId }),
  z.object({ action: z.literal("cancel_all") }),
  z.object({ action: z.literal("ping") }),
  z.object({ action: z.literal("auth"), token: z.string().min(1).max(8192) }),
  /** Subscribes to the device's events, from now on or after `after`. Subprotocol `matrx.v1`. */
  z.object({ action: z.literal("events"), after: z.uuid().optional() }),
]);
export type Action = z.infer<typeof actionSchema>;

type CallerMessage = { kind: "call"; call: Call } | { kind: "action"; action: Action };

const CALL_HINT = 'Send one JSON object, such as {"id":"1","tool":"SystemInfo","input":{}}';

/**
 * Parses one frame from a caller. Throws MatrxError: `PAYLOAD_TOO_LARGE` or `INVALID_MESSAGE` (nothing in the frame can
 * be trusted), or `INVALID_PARAMETERS` (`details.id` names the call to answer, if it could be read).
 */
export function parseCallerFrame(text: string, hop: Hop = "relay"): CallerMessage {
  const value = parseJsonObject(text, LIMITS.callFrameBytes, CALL_HINT, hop);
  if ("action" in value) return { kind: "action", action: check(actionSchema, value, hop) };
  return { kind: "call", call: readCall(value, hop) };
}

/** Reads a call from a frame or a body. Throws MatrxError `INVALID_PARAMETERS` naming the field. */
export function readCall(value: Record<string, unknown>, hop: Hop = "relay"): Call {
  return usualCall(value) ?? check(callSchema, value, hop);
}

/**
 * Recognises the usual call without the schema, which is four times slower here (the Workers runtime does not let zod
 * compile). Anything else, valid or not, is left to the schema.
 */
function usualCall(value: Record<string, unknown>): Call | undefined {
  const { id, tool, input } = value;
  if (id !== undefined && !isCallerId(id)) return undefined;
  if (typeof tool !== "string" || tool.length === 0 || tool.length > TOOL_NAME_CHARS) return undefined;
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  for (const key in value) if (key !== "id" && key !== "tool" && key !== "input") return undefined;
  return { ...(id !== undefined && { id }), tool, input: input as Record<string, unknown> };
}

function isCallerId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= LIMITS.callerIdChars;
}
