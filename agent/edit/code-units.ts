/**
 * A file's text as it lies there, undecoded: one unit for each byte, or for each pair of bytes in UTF-16. What is searched
 * and cut in units leaves every other byte as it was, also those that are no text.
 */
import { characterLengthOf, decode, encode, isUtf16, type TextEncoding } from "../text/encodings.ts";

export interface UnitText {
  readonly encoding: TextEncoding;
  /** The mark before the text, if there is one. */
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

/** The file's bytes with other units in it. */
export function bytesWith({ encoding, mark, rest }: UnitText, units: string): Buffer {
  return Buffer.concat([mark, bytesOf(units, encoding), rest]);
}

/** Units as text for people. */
export function shownText(units: string, encoding: TextEncoding): string {
  return decode(bytesOf(units, encoding), encoding);
}

/** Text as units; undefined: the encoding lacks one of its characters. */
export function unitsFor(text: string, encoding: TextEncoding): string | undefined {
  const bytes = encode(text, encoding);
  return bytes && unitsOf(bytes, encoding);
}

/** Tells of ascending places whether a character begins there. */
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
