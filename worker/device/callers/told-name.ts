/**
 * The body of the answer that tells a caller its call's name. The runtime finds out that a caller is gone only by writing to
 * it: so a space goes first, which may precede JSON, and then there is time for its connection to break.
 */
const BREAKS_WITHIN = 500;

const encoder = new TextEncoder();

/** `told` is called if the caller was still there. */
export function toldName(body: object, told: () => void): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  tell(writable.getWriter(), JSON.stringify(body)).then(told, () => undefined);
  return readable;
}

async function tell(writer: WritableStreamDefaultWriter<Uint8Array>, json: string): Promise<void> {
  await writer.write(encoder.encode(" "));
  await Promise.race([new Promise((resolve) => setTimeout(resolve, BREAKS_WITHIN)), writer.closed]);
  await writer.write(encoder.encode(json));
  await writer.close();
}
