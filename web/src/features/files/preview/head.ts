/** The first bytes of a file, and what they tell of it. */
import type { Piece, PlacedFile } from "../../../relay/file-bytes.ts";

export type Head = Piece;

/** A file whose first bytes have been read. */
export interface Shown {
  readonly file: PlacedFile;
  readonly name: string;
  readonly head: Head;
  /** Reads it anew: it has changed. */
  readonly again: () => void;
}

/** Encodings that a machine recognizes by the words in them, besides that of the West. */
export const OLDER = ["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "windows-1251", "koi8-r"] as const;

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | (typeof OLDER)[number];

/** In which encoding it is text, where the bytes tell; `windows-1252`: in that, or in one of `OLDER`. Undefined: it is none. */
export function encodingOf({ bytes, size }: Head): Encoding | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (bytes.includes(0)) return undefined;
  try {
    // The last character may be cut off.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytes.length < size });
    return "utf-8";
  } catch {
    return bytes.some(isControl) ? undefined : "windows-1252";
  }
}

/** As older texts have none of, but for tabs, line ends, form feeds and escapes. */
function isControl(byte: number): boolean {
  return byte < 32 && !(byte >= 9 && byte <= 13) && byte !== 27;
}
