/**
 * Checks a device's answer: it may say how its own call ended, but nothing in the relay's name. In a success the long text
 * is only scanned for its end and the rest is parsed, so duplicate keys behave as in JSON.parse and invalid JSON is
 * refused. Errors are small and parsed whole.
 */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { Content } from "@matrx/shared/content.ts";
import { type ErrorCode, type Hop, isErrorCode } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import { isDeeper } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { endOfText, outlineOf, startsWith } from "../json-bytes.ts";

export interface DeviceAnswer {
  readonly header: ResultHeader;
  /** JSON of an `Answer`. */
  readonly body: Uint8Array;
}

/** The call that a device answers. */
interface Answered {
  /** The caller's id; undefined if it has none, or it is not known here and is written into the answer later. */
  readonly id: string | undefined;
  readonly device: DeviceId;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Codes that only the relay may give. */
const RELAYS_OWN: ReadonlySet<ErrorCode> = new Set(["UNAUTHENTICATED", "UNKNOWN_DEVICE", "DEVICE_OFFLINE"]);
const DEVICES_OWN: ReadonlySet<Hop> = new Set(["device", "agent", "tool"]);

/** Whether a device may give this code. */
export function isDeviceCode(code: unknown): code is ErrorCode {
  return isErrorCode(code) && !RELAYS_OWN.has(code);
}

/** The answer unchanged if it is well-formed; else one rebuilt from its fields, or an `INVALID_ANSWER`. */
export function checkedAnswer(answer: DeviceAnswer, answered: Answered): DeviceAnswer {
  const { header, body } = answer;
  if (header.status === "success") {
    if (isSuccessOf(answer, answered)) return answer;
    const read = parse(body);
    if (read?.type !== "success" || !hasId(read, answered.id)) return invalid(header, answered);
    const { code: _code, hint: _hint, hop: _hop, ...success } = read;
    return { header, body: encoded({ ...success, call: header.call, device: answered.device }) };
  }
  const read = parse(body);
  const { code = "TOOL_EXECUTION_FAILED" } = header;
  if (read?.type !== "error" || !hasId(read, answered.id) || !isDeviceCode(code))
    return invalid(header, answered);
  if (isOwn(read, answer, answered)) return answer;
  return { header: { ...header, code }, body: encoded(inOwnName(read, { ...header, code }, answered)) };
}

/** Whether a frame of live output belongs to this call. */
export function isOutputOf(body: Uint8Array, id: string | undefined): boolean {
  const rest = restOf(body, id, "output");
  return rest !== undefined && hasOnly(rest, OUTPUT_NAMES);
}

/** Parses an answer as the device wrote it. */
export function readAnswer(body: Uint8Array | ArrayBuffer): Answer {
  return parse(body) ?? UNREADABLE;
}

const UNREADABLE = {
  type: "error",
  output: "The device's answer cannot be read",
  code: "INVALID_ANSWER",
  hint: "See the device's log. If the call had an effect, check what it changed",
  hop: "device",
} as const satisfies Answer;

/** The keys that may follow the text that bodies begin with. */
const SUCCESS_NAMES: ReadonlySet<string> = new Set([
  ...["call", "device", "image", "metadata", "content", "structured"],
]);
const OUTPUT_NAMES: ReadonlySet<string> = new Set(["offset", "data"]);

function isSuccessOf({ header, body }: DeviceAnswer, { id, device }: Answered): boolean {
  const rest = restOf(body, id, "success");
  if (rest === undefined || !hasOnly(rest, SUCCESS_NAMES)) return false;
  return (rest.call ?? header.call) === header.call && (rest.device ?? device) === device;
}

function hasOnly(rest: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): boolean {
  return Object.keys(rest).every((name) => name === "" || names.has(name));
}

/**
 * Bodies begin with id, type and a text, in this order and without whitespace, so they can be recognised without decoding
 * them. What follows the text is parsed, except for long strings. Undefined if the order differs, or it is not JSON.
 */
function restOf(
  body: Uint8Array,
  id: string | undefined,
  type: "success" | "output",
): Record<string, unknown> | undefined {
  const known = id === undefined ? undefined : `{"id":${JSON.stringify(id)},`;
  const start = known === undefined ? endOfAnyId(body) : startsWith(body, known, 0);
  const next = type === "success" ? '"type":"success","output":"' : '"type":"output","channel":"';
  const text = start > 0 ? startsWith(body, next, start) : 0;
  const end = text > 0 ? endOfText(body, text) : 0;
  if (end === 0) return undefined;
  const outline = outlineOf(body, end);
  const rest = outline === undefined ? undefined : jsonOf(`{"":""${outline}`);
  return isRecord(rest) ? rest : undefined;
}

/** The offset of the type, after an id or without one. */
function endOfAnyId(body: Uint8Array): number {
  const first = startsWith(body, '{"id":"', 0);
  if (first === 0) return startsWith(body, "{", 0);
  const end = endOfText(body, first);
  return end > 0 ? startsWith(body, ",", end) : 0;
}

/** The known fields of an answer, in order. Undefined if it is not an answer. */
function parse(body: Uint8Array | ArrayBuffer): Answer | undefined {
  const value = jsonOf(decoder.decode(body));
  if (!isRecord(value)) return undefined;
  const { id, type, output, call, device, image, metadata, content, structured, code, hint, hop } = value;
  if ((type !== "success" && type !== "error") || typeof output !== "string") return undefined;
  return {
    ...(typeof id === "string" && { id }),
    type,
    output,
    ...(typeof call === "string" && { call }),
    ...(typeof device === "string" && { device }),
    ...((image === null || isImage(image)) && { image }),
    ...(isRecord(metadata) && { metadata }),
    ...(isContent(content) && { content }),
    ...(structured !== undefined && { structured }),
    ...(isErrorCode(code) && { code }),
    ...(typeof hint === "string" && { hint }),
    ...(DEVICES_OWN.has(hop as Hop) && { hop: hop as Hop }),
  };
}

/** Undefined if it is not JSON, or nested so deeply that parsing it would take seconds. */
function jsonOf(text: string): unknown {
  if (isDeeper(text, LIMITS.depth)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isImage(value: unknown): value is NonNullable<Answer["image"]> {
  return isRecord(value) && typeof value.media_type === "string" && typeof value.base64_data === "string";
}

/** Whoever uses a part reads it with `contentSchema`. */
function isContent(content: unknown): content is Content[] {
  return Array.isArray(content) && content.every((part) => isRecord(part) && typeof part.type === "string");
}

function hasId(answer: Answer, id: string | undefined): boolean {
  return id === undefined || answer.id === id;
}

/** Whether an error can be passed on unchanged: its bytes hold exactly the known fields, which agree with the header. */
function isOwn(read: Answer, { header, body }: DeviceAnswer, { device }: Answered): boolean {
  if (read.code !== header.code || read.hop === undefined) return false;
  if (read.call !== header.call || read.device !== device) return false;
  return decoder.decode(body) === JSON.stringify(read);
}

function inOwnName(read: Answer, { call, code }: ResultHeader, { device }: Answered): Answer {
  return { ...read, call, device, ...(code && { code }), hop: read.hop ?? "device" };
}

function invalid({ call, tool, ms }: ResultHeader, { id, device }: Answered): DeviceAnswer {
  const answer: Answer = { ...(id !== undefined && { id }), ...UNREADABLE, call, device };
  const header: ResultHeader = {
    call,
    ...(tool !== undefined && { tool }),
    status: "error",
    code: UNREADABLE.code,
    ms,
  };
  return { header, body: encoded(id === undefined ? { ...answer, image: null } : answer) };
}

function encoded(answer: Answer): Uint8Array {
  return encoder.encode(JSON.stringify(answer));
}
