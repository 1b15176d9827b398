/** Looks at JSON in bytes: a result of megabytes is known without making a string of it. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export const QUOTE = 34;
export const BACKSLASH = 92;
export const COMMA = 44;
const LOWER_U = 117;
const SPACE = 32;
/** By byte: what may follow a backslash, and hexadecimal digits. */
const ESCAPED = tableOf('"\\/bfnrt');
const HEX = tableOf("0123456789abcdefABCDEF");

function tableOf(chars: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of chars) table[char.charCodeAt(0)] = 1;
  return table;
}

/** So many bytes of a text are checked to be what JSON allows; then the platform looks for the end alone, which is faster. */
const CHECKED_BYTES = 16 * 1024;

/** Behind the quote that ends a text of JSON. 0: it does not end, or JSON has no such text. */
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

/** The same from a place between two characters, for a quote that no backslash escapes. */
function endOfRest(body: Uint8Array, from: number): number {
  for (let quote = body.indexOf(QUOTE, from); quote !== -1; quote = body.indexOf(QUOTE, quote + 1)) {
    let backslash = quote;
    while (backslash > from && body[backslash - 1] === BACKSLASH) backslash--;
    if ((quote - backslash) % 2 === 0) return quote + 1;
  }
  return 0;
}

/** Of an escape, of which `at` is behind its backslash. 0: JSON knows none such. */
function escapeLength(body: Uint8Array, at: number): number {
  const byte = body[at] ?? 0;
  if (byte !== LOWER_U) return 2 * (ESCAPED[byte] as number);
  for (let digit = at + 1; digit < at + 5; digit++) if (HEX[body[digit] ?? 0] !== 1) return 0;
  return 6;
}

/** Where a text ends that stands at a place; 0: another one stands there. */
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

/** A longer text is left out of an outline, in bytes. */
const LONG_TEXT = 256;

/**
 * The JSON from a place to the end, with `""` for each long text, such as a picture's: as strings they would take several
 * times their size. Undefined: a text does not end, or JSON has no such text.
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
