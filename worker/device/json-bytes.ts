/** Scans JSON as bytes, so that results of many megabytes need not be decoded. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

const QUOTE = 34;
const BACKSLASH = 92;
const LOWER_U = 117;
const SPACE = 32;
/** Lookup tables by byte: what may follow a backslash, and hexadecimal digits. */
const ESCAPED = tableOf('"\\/bfnrt');
const HEX = tableOf("0123456789abcdefABCDEF");

function tableOf(chars: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of chars) table[char.charCodeAt(0)] = 1;
  return table;
}

/** How many bytes of a string are checked to be valid JSON; beyond that only its end is searched for, which is faster. */
const CHECKED_BYTES = 16 * 1024;

/** The offset after a JSON string's closing quote; 0 if it does not end, or is not valid. */
export function endOfText(body: Uint8Array, from: number): number {
  const checked = Math.min(body.length, from + CHECKED_BYTES);
  let index = from;
  while (index < checked) {
    const byte = body[index] as number;
    if (byte === QUOTE) return index + 1;
    const step = byte === BACKSLASH ? escapeLength(body, index + 1) : 1;
    if (byte < SPACE || step === 0) return 0;
    index += step;
  }
  return endOfRest(body, index);
}

/** The same, starting between two characters: searches for an unescaped quote. */
function endOfRest(body: Uint8Array, from: number): number {
  for (let quote = body.indexOf(QUOTE, from); quote !== -1; quote = body.indexOf(QUOTE, quote + 1)) {
    let backslash = quote;
    while (backslash > from && body[backslash - 1] === BACKSLASH) backslash--;
    if ((quote - backslash) % 2 === 0) return quote + 1;
  }
  return 0;
}

/** The length of an escape, whose backslash is just before `at`; 0 if JSON has no such escape. */
function escapeLength(body: Uint8Array, at: number): number {
  const byte = body[at] ?? 0;
  if (byte !== LOWER_U) return 2 * (ESCAPED[byte] as number);
  for (let digit = at + 1; digit < at + 5; digit++) if (HEX[body[digit] ?? 0] !== 1) return 0;
  return 6;
}

/** The offset after `text` if it starts at `from`, else 0. */
export function startsWith(body: Uint8Array, text: string, from: number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return startsWithBytes(body, encoder.encode(text), from);
    if (body[from + index] !== code) return 0;
  }
  return from + text.length;
}

function startsWithBytes(body: Uint8Array, text: Uint8Array, from: number): number {
  return text.every((byte, index) => body[from + index] === byte) ? from + text.length : 0;
}

/** Longer strings are left out of the outline, in bytes. */
const LONG_TEXT = 256;

/**
 * The JSON from an offset to the end, with `""` for each long string, such as a picture, which would take several times
 * its size when decoded. Undefined if a string does not end or is not valid.
 */
export function outlineOf(body: Uint8Array, from: number): string | undefined {
  let outline = "";
  let taken = from;
  for (let open = body.indexOf(QUOTE, from); open !== -1; ) {
    const end = endOfText(body, open + 1);
    if (end === 0) return undefined;
    if (end - open > LONG_TEXT) {
      outline += `${decoder.decode(body.subarray(taken, open))}""`;
      taken = end;
    }
    open = body.indexOf(QUOTE, end);
  }
  return outline + decoder.decode(body.subarray(taken));
}
