/**
 * Binary frames of our agent: a routing header, and a body that the relay passes on without reading it.
 *
 *     byte 0      kind: 1 result, 2 output
 *     bytes 1..2  length of the header, big endian
 *     header      JSON, UTF-8
 *     body        the frame that the caller gets, JSON, UTF-8
 */
import * as z from "zod";
import { ERROR_CODES, type MatrxError, relayError } from "./errors.ts";
import { strictTextOf } from "./utf8.ts";

const FRAME_KIND = { result: 1, output: 2 } as const;

const CALL_CHARS = 64;
const TOOL_CHARS = 128;

/** Everything that relay, ledger and feed know about a result. */
export const resultHeaderSchema = z.object({
  call: z.string().max(CALL_CHARS),
  tool: z.string().max(TOOL_CHARS).optional(),
  status: z.enum(["success", "error", "cancelled"]),
  code: z.enum(ERROR_CODES).optional(),
  /** False: the call is known not to have run. Absent: it may have; effect calls only. */
  ran: z.boolean().optional(),
  /** Exit code of a command. */
  exit: z.int().optional(),
  /** How long the tool ran, in milliseconds. */
  ms: z.number(),
  /** SHA-256 of the body in hex; effect calls only. */
  sha256: z.string().max(64).optional(),
  /** The first characters of the output, redacted; effect calls only. */
  preview: z.string().max(600).optional(),
});
export type ResultHeader = z.infer<typeof resultHeaderSchema>;

export const outputHeaderSchema = z.object({ call: z.string().max(CALL_CHARS) });
export type OutputHeader = z.infer<typeof outputHeaderSchema>;

export type AgentFrame =
  | { kind: "result"; header: ResultHeader; body: Uint8Array }
  | { kind: "output"; header: OutputHeader; body: Uint8Array };

const encoder = new TextEncoder();

export function encodeResultFrame(header: ResultHeader, body: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(FRAME_KIND.result, header, body);
}

export function encodeOutputFrame(header: OutputHeader, body: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(FRAME_KIND.output, header, body);
}

function encode(
  kind: number,
  header: ResultHeader | OutputHeader,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(JSON.stringify(header));
  const frame = new Uint8Array(3 + head.length + body.length);
  frame[0] = kind;
  frame[1] = head.length >> 8;
  frame[2] = head.length & 0xff;
  frame.set(head, 3);
  frame.set(body, 3 + head.length);
  return frame;
}

/** Reads a frame's header; the body stays a view. Throws MatrxError `INVALID_MESSAGE`. */
export function decodeAgentFrame(frame: ArrayBuffer): AgentFrame {
  const bytes = new Uint8Array(frame);
  const length = ((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0);
  const bodyStart = 3 + length;
  if (bytes.length < 3 || bytes.length < bodyStart) throw invalid("is cut short");
  const header = parseHeader(bytes.subarray(3, bodyStart));
  const body = bytes.subarray(bodyStart);
  if (bytes[0] === FRAME_KIND.result) {
    return { kind: "result", header: usualHeader(header) ?? read(resultHeaderSchema, header), body };
  }
  if (bytes[0] === FRAME_KIND.output)
    return { kind: "output", header: read(outputHeaderSchema, header), body };
  throw invalid(`has the unknown kind ${bytes[0]}`);
}

function parseHeader(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(strictTextOf(bytes));
  } catch {
    throw invalid("has a header that is not JSON");
  }
}

/** Recognises the usual header of a read's result without the schema; see `usualCall` in `caller/from-caller.ts`. */
function usualHeader(header: unknown): ResultHeader | undefined {
  if (typeof header !== "object" || header === null) return undefined;
  const { call, tool, status, ms } = header as Record<string, unknown>;
  if (typeof call !== "string" || call.length > CALL_CHARS) return undefined;
  if (typeof tool !== "string" || tool.length > TOOL_CHARS) return undefined;
  if (status !== "success" || typeof ms !== "number") return undefined;
  for (const key in header) if (!USUAL_KEYS.has(key)) return undefined;
  return { call, tool, status, ms };
}

const USUAL_KEYS: ReadonlySet<string> = new Set(["call", "tool", "status", "ms"]);

function read<Schema extends z.ZodType>(schema: Schema, header: unknown): z.infer<Schema> {
  const result = schema.safeParse(header);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw invalid(`has a wrong header: ${issue?.path.join(".")}: ${issue?.message}`);
}

function invalid(what: string): MatrxError {
  return relayError("INVALID_MESSAGE", `The binary frame ${what}`, {
    hint: "Result frames are described in docs/protocol.md",
  });
}
