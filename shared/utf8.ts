/** UTF-8 to text. */

/** Up to here, in bytes, text is put together in JavaScript: a call into the runtime's decoder costs more. */
const SHORT = 512;

const lenient = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; what is none becomes U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return shortAscii(bytes) ?? lenient.decode(bytes);
}

/** Decodes UTF-8. Throws TypeError on bytes that are none. */
export function strictTextOf(bytes: Uint8Array): string {
  return shortAscii(bytes) ?? strict.decode(bytes);
}

function shortAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length > SHORT) return undefined;
  for (let index = 0; index < bytes.length; index++) if ((bytes[index] ?? 0) > 0x7f) return undefined;
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}
