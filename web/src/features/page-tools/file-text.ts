/** The beginning of a file as text: never half a character, and nothing that is no text. */
import { PageToolError } from "./failure.ts";

export interface FileText {
  readonly content: string;
  readonly truncated: boolean;
}

/** Of the first bytes of a file. `hasMore`: they are not all. Throws PageToolError: it is no text in UTF-8. */
export function textOf(bytes: Uint8Array<ArrayBuffer>, hasMore: boolean): FileText {
  const whole = hasMore ? bytes.subarray(0, wholeCharacters(bytes)) : bytes;
  if (whole.includes(0)) throw notText();
  try {
    // A mark at its beginning is part of the file.
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
    return { content, truncated: hasMore };
  } catch {
    throw notText();
  }
}

/** How many bytes end with a whole character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    // Of a character of several bytes, the first one tells how many.
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return at + length > bytes.length ? at : bytes.length;
    }
  }
  return bytes.length;
}

function notText(): PageToolError {
  return new PageToolError("This file is no text in UTF-8", {
    code: "TOOL_EXECUTION_FAILED",
    hint: "Look at it with terminal_execute, such as file or xxd",
  });
}
