/** A file's bytes as text that can be edited; refuses what is none. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { toolName } from "../core/tool-names.ts";
import { counted } from "../text/counted.ts";
import type { TextEncoding } from "../text/encodings.ts";
import { encodingOf, headOf, sniff, textIn } from "../text/sniff.ts";
import { type UnitText, unitTextOf } from "./code-units.ts";

/** The largest file that is edited, in bytes. */
export const EDIT_MAX_BYTES = 16 * 1024 * 1024;

/** `declared`: the encoding that the caller says it is in. Throws MatrxError. */
export function editableText(bytes: Buffer, declared: TextEncoding | undefined, shown: string): UnitText {
  const content = declared ? textIn(declared, bytes) : sniff(headOf(bytes));
  if (content.kind !== "text") throw notText(shown, content.mediaType, bytes.length);
  const isGuessed = !declared && content.bomBytes === 0;
  return unitTextOf(bytes, isGuessed ? encodingOf(bytes) : content.encoding, content.bomBytes);
}

/** Throws MatrxError when a file is too large to be edited. */
export function checkEditSize(size: bigint, shown: string): void {
  if (size <= EDIT_MAX_BYTES) return;
  throw new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `${shown} has ${size} bytes; only files up to ${EDIT_MAX_BYTES} can be edited`,
    hint: `Use ${toolName("Bash")} with sed or perl for a file of this size`,
    hop: "tool",
    details: { path: shown, size: Number(size), limit_bytes: EDIT_MAX_BYTES },
  });
}

function notText(shown: string, mediaType: string, size: number): MatrxError {
  return new MatrxError({
    code: "TOOL_EXECUTION_FAILED",
    message: `${shown} is not text (${mediaType}, ${counted(size, "byte")}), so it can't be edited`,
    hint: `If it is text, use ${toolName("Edit")} with its encoding, such as utf-8 or utf-16le; otherwise use ${toolName("Bash")} with a program for such files`,
    hop: "tool",
    details: { path: shown, reason: "binary", media_type: mediaType, size },
  });
}
