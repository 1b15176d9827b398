/**
 * Gives a large buffer's memory back at once. Left to the garbage collector it may stay for good: a buffer that is in use
 * while young garbage is collected counts as old, and workerd collects old garbage for the sake of the JavaScript heap
 * alone, which buffers are no part of (github.com/cloudflare/workerd/issues/6894).
 */
export function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
