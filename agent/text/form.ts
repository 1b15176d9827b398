/** How a text file is written, besides its text: encoding, byte order mark, line ends. */
import { isUtf16, type TextEncoding } from "./encodings.ts";

export interface TextForm {
  readonly encoding: TextEncoding;
  readonly eol: "lf" | "crlf" | "mixed" | "none";
}

/** Such as "in utf-16le with CRLF line ends"; undefined for UTF-8 with plain line ends, as nearly all files are. */
export function formInWords({ encoding, eol }: TextForm): string | undefined {
  const name = encoding === "utf-8-bom" ? "utf-8 with a byte order mark" : encoding;
  const ends = eol === "crlf" ? "CRLF line ends" : eol === "mixed" ? "mixed line ends" : undefined;
  if (encoding === "utf-8") return ends && `with ${ends}`;
  return `in ${name}${ends ? `${encoding === "utf-8-bom" ? " and" : " with"} ${ends}` : ""}`;
}

/** Whether the encoding is told by nothing in the file, so that it may be another one. */
export function isGuess(encoding: TextEncoding): boolean {
  return encoding !== "utf-8" && encoding !== "utf-8-bom" && !isUtf16(encoding);
}
