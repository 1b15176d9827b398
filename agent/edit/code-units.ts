/**
 * A file's text, undecoded: one unit per byte, or per pair of bytes in UTF-16. Searching and replacing units leaves all
 * other bytes as they are, even those that are not valid text.
 */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { counted } from "../text/counted.ts";
import { characterLengthOf, decode, encode, isUtf16, type TextEncoding } from "../text/encodings.ts";
import { encodingOf, headOf, sniff, textIn } from "../text/sniff.ts";
import { toolName } from "../text/tool-names.ts";

/** The largest file that can be edited, in bytes. */
export const EDIT_MAX_BYTES = 16 * 1024 * 1024;

/** `declared` is the encoding that the caller gave. Throws MatrxError. */
export function editableText(bytes: Buffer, declared: TextEncoding | undefined, shown: string): UnitText {
  const content = declared ? textIn(declared, bytes) : sniff(headOf(bytes));
  if (content.kind !== "text") throw notText(shown, content.mediaType, bytes.length);
  const isGuessed = !declared && content.bomBytes === 0;
  return unitTextOf(bytes, isGuessed ? encodingOf(bytes) : content.encoding, content.bomBytes);
}

/** Undefined if the bytes are no text. */
export function textOfBytes(bytes: Buffer): UnitText | undefined {
  const content = sniff(headOf(bytes));
  if (content.kind !== "text") return undefined;
  const { encoding, bomBytes } = content;
  return unitTextOf(bytes, bomBytes === 0 ? encodingOf(bytes) : encoding, bomBytes);
}

/** Throws MatrxError if a file is too large to be edited. */
export function checkEditSize(size: bigint, shown: string): void {
  if (size <= EDIT_MAX_BYTES) return;
  throw toolError(
    "PAYLOAD_TOO_LARGE",
    `${shown} has ${size} bytes; only files up to ${EDIT_MAX_BYTES} can be edited`,
    {
      hint: `Use ${toolName("Bash")} with sed or perl for a file of this size`,
      details: { path: shown, size: Number(size), limit_bytes: EDIT_MAX_BYTES },
    },
  );
}

function notText(shown: string, mediaType: string, size: number): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `${shown} is not text (${mediaType}, ${counted(size, "byte")}), so it can't be edited`,
    {
      hint: `If it is text, use ${toolName("Edit")} with its encoding, such as utf-8 or utf-16le; otherwise use ${toolName("Bash")} with a program for such files`,
      details: { path: shown, reason: "binary", media_type: mediaType, size },
    },
  );
}

export interface UnitText {
  readonly encoding: TextEncoding;
  /** The byte order mark; empty if there is none. */
  readonly mark: Buffer;
  readonly units: string;
  /** Half a unit at the end of UTF-16. */
  readonly rest: Buffer;
}

export function unitTextOf(bytes: Buffer, encoding: TextEncoding, bomBytes: number): UnitText {
  const mark = bytes.subarray(0, bomBytes);
  const odd = isUtf16(encoding) ? (bytes.length - bomBytes) % 2 : 0;
  const end = bytes.length - odd;
  return {
    encoding,
    mark,
    units: unitsOf(bytes.subarray(bomBytes, end), encoding),
    rest: bytes.subarray(end),
  };
}

/** The file's bytes with its text replaced. */
export function bytesWith({ encoding, mark, rest }: UnitText, units: string): Buffer {
  return Buffer.concat([mark, bytesOf(units, encoding), rest]);
}

/** Units as readable text. */
export function shownText(units: string, encoding: TextEncoding): string {
  return decode(bytesOf(units, encoding), encoding);
}

/** Text as units; undefined if the encoding lacks one of its characters. */
export function unitsFor(text: string, encoding: TextEncoding): string | undefined {
  const bytes = encode(text, encoding);
  return bytes && unitsOf(bytes, encoding);
}

/** Whether a character begins at a position. Must be called with ascending positions. */
export function characterStarts({ encoding, units }: UnitText): (place: number) => boolean {
  const lengthOf = characterLengthOf(encoding);
  if (!lengthOf) return () => true;
  let at = 0;
  return (place) => {
    while (at < place) at += lengthOf(units.charCodeAt(at), units.charCodeAt(at + 1));
    return at === place;
  };
}

function unitsOf(bytes: Buffer, encoding: TextEncoding): string {
  return isUtf16(encoding) ? decode(bytes, encoding) : bytes.toString("latin1");
}

function bytesOf(units: string, encoding: TextEncoding): Buffer {
  if (encoding === "utf-16le") return Buffer.from(units, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(units, "utf16le").swap16();
  return Buffer.from(units, "latin1");
}
