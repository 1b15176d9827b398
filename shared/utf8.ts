/** UTF-8 to text. */

/** Up to this many bytes, text is decoded in JavaScript, which is cheaper than a call into the runtime's decoder. */
const SHORT = 512;

const lenient = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return shortAscii(bytes) ?? lenient.decode(bytes);
}

/** Decodes UTF-8. Throws TypeError on invalid bytes. */
export function strictTextOf(bytes: Uint8Array): string {
  return shortAscii(bytes) ?? strict.decode(bytes);
}

function shortAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length > SHORT) return undefined;
  for (let index = 0; index < bytes.length; index++) if ((bytes[index] ?? 0) > 0x7f) return undefined;
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}
