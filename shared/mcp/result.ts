/** What a call gave, as the result of `tools/call`. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CallApproval } from "../approval.ts";
import type { Answer } from "../caller/to-caller.ts";
import type { Content } from "../content.ts";
import { effectOfCall, modelNameOf } from "../effects.ts";
import type { ErrorShape } from "../errors.ts";
import type { McpDevice } from "./device.ts";
import type { Arguments } from "./host.ts";
import { WAIT_CALL } from "./wait-call.ts";

/** Text of a result beyond which a client gets a preview, in characters. */
const TEXT_MAX = 256 * 1024;
/** How much of each text it then gets. */
const PREVIEW_CHARS = 16 * 1024;
/** The largest picture that a client gets, in characters of base64: model APIs refuse a request with a larger one. */
const PICTURE_MAX = 5_000_000;
/** The same of sounds and files. */
const DATA_MAX = 7 * 1024 * 1024;

/** The key of our own facts in `_meta`. */
export const META = "io.github.matrx-relay/call";

/** Whose result it is. */
export interface ResultOf {
  readonly tool: string;
  readonly input: Arguments;
  readonly device: McpDevice;
  /** What `wait_call` needs besides the call's name. */
  readonly naming: Arguments;
}

export function answerResult(answer: Answer, of: ResultOf): CallToolResult {
  if (answer.type === "error") {
    const { output: message, code = "TOOL_EXECUTION_FAILED", hint, hop = "device" } = answer;
    return errorResult({ code, message, hint, hop, details: answer.metadata }, answer.call);
  }
  const parts = partsOf(answer);
  const { structured } = answer;
  return {
    content: isTooLarge(parts) ? shortened(parts, answer.call, of) : (parts as CallToolResult["content"]),
    ...(structured !== undefined && { structuredContent: structured as Record<string, unknown> }),
    _meta: { [META]: { call: answer.call, device: answer.device } },
  };
}

/** An error in words for a model: code, message, and what to do. */
export function errorResult({ code, message, hint }: ErrorShape, call?: string): CallToolResult {
  const text = `${code}: ${message}${hint ? `\nHint: ${hint}` : ""}`;
  return { content: [{ type: "text", text }], isError: true, ...(call && { _meta: { [META]: { call } } }) };
}

/**
 * A call that goes on. Nothing of it has failed, but a tool with an output schema may give nothing else as a success, and
 * tools that are not built in may have one.
 */
export function pendingResult(
  call: string,
  approval: CallApproval | undefined,
  { tool, device, naming }: ResultOf,
): CallToolResult {
  const isAsked = approval?.state === "pending";
  const where = isAsked && device.approvalsUrl ? ` at ${device.approvalsUrl}` : "";
  const state = isAsked
    ? `A person must allow this first${where}: ${approval.summary}`
    : "The call is still running.";
  const text = `${state}\nDon't call again. Get its result with ${WAIT_CALL} ${JSON.stringify({ ...naming, call })}.`;
  return {
    content: [{ type: "text", text }],
    ...(modelNameOf(tool) === undefined && { isError: true }),
    _meta: { [META]: { call, device: device.device, state: isAsked ? "awaiting_approval" : "accepted" } },
  };
}

/**
 * Some clients (SmolAgents) show a model the first part alone: a picture is worth more than the words about it. Parts of a
 * mounted server's answer stay in its order, which may tell what belongs together.
 */
function partsOf({ output, image, content }: Answer): Content[] {
  if (content) return content;
  if (!image) return [{ type: "text", text: output }];
  const picture: Content = { type: "image", data: image.base64_data, mimeType: image.media_type };
  return output === "" ? [picture] : [picture, { type: "text", text: output }];
}

function isTooLarge(parts: readonly Content[]): boolean {
  let chars = 0;
  for (const part of parts) {
    if (isDataTooLarge(part)) return true;
    chars += textOf(part).length;
  }
  return chars > TEXT_MAX;
}

/** A preview of each part, and where the whole is. */
function shortened(
  parts: readonly Content[],
  call: string | undefined,
  of: ResultOf,
): CallToolResult["content"] {
  const short = parts.map((part): Content => {
    if (isDataTooLarge(part)) return { type: "text", text: leftOut(part) };
    const text = textOf(part);
    if (text.length <= PREVIEW_CHARS) return part;
    const left = text.length - PREVIEW_CHARS;
    return {
      type: "text",
      text: `${text.slice(0, PREVIEW_CHARS).toWellFormed()}\n[${left} more characters]`,
    };
  });
  const isRead = effectOfCall(of.tool, () => of.input) === "read";
  const url = call === undefined || isRead ? undefined : of.device.recordUrl(call);
  const whole: Content = url
    ? { type: "resource_link", uri: url, name: "Whole result", mimeType: "application/json" }
    : { type: "text", text: parts.some(isDataTooLarge) ? LESS_DATA : LESS_TEXT };
  return [...short, whole] as CallToolResult["content"];
}

const LESS_TEXT = "[The result was too large: ask for less at once, such as a range or a filter]";
const LESS_DATA = "[The result was too large: make a smaller copy on the device, and ask for that]";

function isDataTooLarge(part: Content): boolean {
  return dataOf(part).length > (part.type === "image" ? PICTURE_MAX : DATA_MAX);
}

function leftOut(part: Content): string {
  const most = part.type === "image" ? `, more than models take` : "";
  return `[left out: ${part.type}, ${dataOf(part).length} characters of base64${most}]`;
}

function textOf(part: Content): string {
  if (part.type === "text") return part.text;
  return part.type === "resource" && "text" in part.resource ? part.resource.text : "";
}

function dataOf(part: Content): string {
  if (part.type === "image" || part.type === "audio") return part.data;
  return part.type === "resource" && "blob" in part.resource ? part.resource.blob : "";
}
