/** Decodes and encodes text in the supported encodings. Stateful ones (ISO-2022, UTF-7) are not supported. */
import iconv from "iconv-lite";

/** Encodings that a caller may name. */
export const TEXT_ENCODINGS = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "latin1",
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "iso-8859-2",
  "iso-8859-5",
  "iso-8859-15",
  "koi8-r",
  "koi8-u",
  "cp437",
  "cp850",
  "cp866",
  "macintosh",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "big5",
  "euc-kr",
] as const;

export type TextEncoding = "utf-8-bom" | (typeof TEXT_ENCODINGS)[number];

function isUtf8Family(encoding: TextEncoding): boolean {
  return encoding === "utf-8" || encoding === "utf-8-bom";
}

export function isUtf16(encoding: TextEncoding): boolean {
  return encoding === "utf-16le" || encoding === "utf-16be";
}

/** Bytes that are not valid in the encoding become U+FFFD; a lone surrogate of UTF-16 stays as it is. */
export function decode(bytes: Buffer, encoding: TextEncoding): string {
  if (isUtf8Family(encoding)) return bytes.toString("utf8");
  if (encoding === "latin1") return bytes.toString("latin1");
  if (encoding === "utf-16le") return bytes.toString("utf16le");
  if (encoding === "utf-16be") return Buffer.from(bytes).swap16().toString("utf16le");
  return iconv.decode(bytes, encoding);
}

/** The bytes of well-formed text, without a byte order mark; undefined if the encoding lacks one of its characters. */
export function encode(text: string, encoding: TextEncoding): Buffer | undefined {
  if (isUtf8Family(encoding)) return Buffer.from(text, "utf8");
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(text, "utf16le").swap16();
  const bytes = encoding === "latin1" ? Buffer.from(text, "latin1") : iconv.encode(text, encoding);
  return decode(bytes, encoding) === text ? bytes : undefined;
}

/** The first character of a text that an encoding lacks. */
export function lackingCharacter(text: string, encoding: TextEncoding): string | undefined {
  for (const character of text) if (!encode(character, encoding)) return character;
  return undefined;
}

/** Length in bytes of the character that begins with `lead`. */
type CharacterLength = (lead: number, second: number) => number;

/** Encodings in which a byte inside a character may look like a character of its own. */
const CHARACTER_LENGTHS: Partial<Record<TextEncoding, CharacterLength>> = {
  shift_jis: (lead) => ((lead >= 0x81 && lead <= 0x9f) || (lead >= 0xe0 && lead <= 0xfc) ? 2 : 1),
  "euc-jp": (lead) => (lead === 0x8f ? 3 : lead === 0x8e || isHigh(lead) ? 2 : 1),
  gb18030: (lead, second) => (!isHigh(lead) ? 1 : second >= 0x30 && second <= 0x39 ? 4 : 2),
  big5: (lead) => (isHigh(lead) ? 2 : 1),
  "euc-kr": (lead) => (isHigh(lead) ? 2 : 1),
};

function isHigh(byte: number): boolean {
  return byte >= 0x81 && byte <= 0xfe;
}

/** Undefined for encodings in which a match of whole characters always begins at a character. */
export function characterLengthOf(encoding: TextEncoding): CharacterLength | undefined {
  return CHARACTER_LENGTHS[encoding];
}
