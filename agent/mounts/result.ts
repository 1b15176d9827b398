/** What a mounted tool answered, as our own tools answer. */
import { type Content, contentSchema } from "@matrx/shared/content.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { isDeeper } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { ToolResult } from "../core/tool.ts";

/** More than this is not passed on. */
export const RESULT_BYTES = 10 * 1024 * 1024;
/** A larger picture is not sent twice, in the answer's `image` and among its parts. */
const TWICE_BYTES = 2 * 1024 * 1024;
const ERROR_CHARS = 32 * 1024;

/** The part of an MCP result that matters here. */
export interface ForeignResult {
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** Throws MatrxError if the tool failed, or its result cannot be passed on. */
export function toolResultOf(server: string, result: ForeignResult, parts = partsOf(result)): ToolResult {
  const text = textIn(parts);
  if (result.isError) throw failed(server, text);
  const { structuredContent: structured } = result;
  const bytes = requireSendable(server, parts, structured);
  const image = parts.find((part) => part.type === "image");
  const saysAll = parts.every((part) => part.type === "text" || part === image);
  const isSentOnce = image && (saysAll || bytes <= TWICE_BYTES);
  return {
    output: text || (structured === undefined ? "" : JSON.stringify(structured, undefined, 2)),
    ...(isSentOnce && { image: { media_type: image.mimeType, base64_data: image.data } }),
    ...(!saysAll && { content: parts }),
    ...(structured !== undefined && { structured }),
  };
}

/** Its content; what is none is left out. */
export function partsOf({ content = [] }: ForeignResult): Content[] {
  return content.flatMap((part) => contentSchema.safeParse(part).data ?? []);
}

/** Texts, also those of embedded resources. */
function textIn(parts: readonly Content[]): string {
  const texts = parts.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "resource" && "text" in part.resource ? [part.resource.text] : [];
  });
  return texts.join("\n");
}

/** Returns its size in bytes. */
function requireSendable(server: string, parts: readonly Content[], structured: unknown): number {
  let text: string;
  try {
    text = JSON.stringify({ parts, structured });
  } catch {
    throw unusable(server, "nests too deep");
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > RESULT_BYTES) throw tooLarge(server, bytes);
  if (isDeeper(text, LIMITS.depth - 4)) throw unusable(server, "nests too deep");
  return bytes;
}

function failed(server: string, text: string): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    text.slice(0, ERROR_CHARS) || "The tool failed, and did not say why",
    {
      details: { server },
    },
  );
}

function unusable(server: string, why: string): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `The tool ran, but its result ${why}`, { details: { server } });
}

function tooLarge(server: string, bytes: number): MatrxError {
  return toolError(
    "PAYLOAD_TOO_LARGE",
    `The tool ran, but its result has ${bytes} bytes; at most ${RESULT_BYTES} are passed on`,
    { hint: "Ask for less at once", details: { server, bytes, limit_bytes: RESULT_BYTES } },
  );
}
