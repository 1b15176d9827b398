/**
 * Recognizes texts in encodings from before UTF-8 that don't look like Western ones: of Japan, China, Korea, and Cyrillic
 * ones. Rather none than a wrong one: words too few or too odd to be sure have none.
 */
import { analyse } from "chardet";
import { decode, type TextEncoding } from "./encodings.ts";

/** How much of a text is looked at, in bytes, from its first byte that is not ASCII. */
const SCANNED_BYTES = 64 * 1024;
/** How much of its words is analysed, in bytes. */
const SAMPLE_BYTES = 16 * 1024;
/** Fewer bytes that are not ASCII tell nothing. */
const LEAST_BYTES = 12;

interface Family {
  readonly encoding: TextEncoding;
  /** How sure the library must be, in percent. */
  readonly least: number;
  /** Characters that its texts consist of, besides ASCII. */
  readonly usual: RegExp;
}

const CHINESE = /[\u2010-\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/;
const JAPANESE = /[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]/;
const KOREAN = /[\u3000-\u303f\uac00-\ud7a3]/;

/** By the library's names: those whose characters take several bytes. */
const WIDE: Readonly<Record<string, Family>> = {
  Shift_JIS: { encoding: "shift_jis", least: 80, usual: JAPANESE },
  "EUC-JP": { encoding: "euc-jp", least: 80, usual: JAPANESE },
  GB18030: { encoding: "gb18030", least: 80, usual: CHINESE },
  Big5: { encoding: "big5", least: 80, usual: CHINESE },
  "EUC-KR": { encoding: "euc-kr", least: 80, usual: KOREAN },
};
const CYRILLIC: Readonly<Record<string, Family>> = {
  "windows-1251": { encoding: "windows-1251", least: 15, usual: /[\u0400-\u045f\u0490\u0491«»–—№]/ },
  "KOI8-R": { encoding: "koi8-r", least: 15, usual: /[\u0400-\u045f]/ },
};
/** How much surer the library must be of one wide encoding than of the next, in percent. */
const AHEAD = 20;

/** For bytes that are not UTF-8. */
export function olderEncodingOf(bytes: Buffer): TextEncoding | undefined {
  const start = bytes.findIndex((byte) => byte >= 0x80);
  if (start === -1) return undefined;
  const scanned = bytes.subarray(start, start + SCANNED_BYTES);
  if (scanned.some(isControl)) return undefined;
  const sample = foreignWords(scanned);
  const high = sample.filter((byte) => byte >= 0x80).length;
  // In Western texts most letters are ASCII.
  if (high < LEAST_BYTES || high < sample.filter(isLetter).length) return undefined;
  const matches = analyse(sample);
  const sure = (families: Readonly<Record<string, Family>>) =>
    matches.filter(({ name, confidence }) => confidence >= (families[name]?.least ?? 101));
  const [wide, next] = sure(WIDE).filter(({ name }) => isUsual(sample, WIDE[name]));
  if (wide) return next && wide.confidence - next.confidence < AHEAD ? undefined : WIDE[wide.name]?.encoding;
  const [first] = matches.filter(({ name }) => name in WIDE || name in CYRILLIC);
  const [cyrillic] = sure(CYRILLIC);
  if (!cyrillic || cyrillic !== first) return undefined;
  const family = CYRILLIC[cyrillic.name];
  return isUsual(sample, family) && hasCyrillicWords(sample, family) ? family?.encoding : undefined;
}

/** Controls that no text has: all but blanks, line ends, backspace and escape. */
function isControl(byte: number): boolean {
  return (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27) || byte === 127;
}

function isLetter(byte: number): boolean {
  return (byte | 32) >= 97 && (byte | 32) <= 122;
}

/** The words with bytes that are not ASCII: commands, names and English around them say nothing about the encoding. */
function foreignWords(bytes: Buffer): Buffer {
  const words: Buffer[] = [];
  let length = 0;
  for (let from = 0; from < bytes.length && length < SAMPLE_BYTES; ) {
    const blank = bytes.subarray(from).findIndex((byte) => byte <= 32);
    const to = blank === -1 ? bytes.length : from + blank;
    const word = bytes.subarray(from, Math.min(to, from + SAMPLE_BYTES));
    if (word.some((byte) => byte >= 0x80)) {
      words.push(word, BLANK);
      length += word.length;
    }
    from = to + 1;
  }
  return Buffer.concat(words);
}

const BLANK = Buffer.from(" ");

/** Whether nearly all characters are usual ones, and none but the last, which may be cut, is damaged. */
function isUsual(sample: Buffer, family: Family | undefined): family is Family {
  if (!family) return false;
  const text = decode(sample, family.encoding)
    .trimEnd()
    .replace(/\ufffd$/, "");
  const foreign = [...text].filter((character) => character > "\x7f");
  const usual = foreign.filter((character) => family.usual.test(character));
  return !text.includes("\ufffd") && usual.length >= 0.95 * foreign.length;
}

/** Whether most is words, in small letters, or in capitals, or with a capital first. */
function hasCyrillicWords(sample: Buffer, { encoding }: Family): boolean {
  const text = decode(sample, encoding);
  const words = text.match(/[\u0400-\u045f\u0490\u0491]{2,}/g) ?? [];
  const odd = words.filter((word) => !/^(?:.[\u0430-\u045f\u0491]*|[\u0400-\u042f\u0490]+)$/.test(word));
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const foreign = [...text].filter((character) => character > "\x7f").length;
  return letters >= 0.6 * foreign && odd.length <= 0.1 * words.length;
}
