/**
 * Frees a large buffer's memory at once. Left to the garbage collector it may never be freed: a buffer that survives a
 * minor collection becomes old, and workerd triggers major collections only by the size of the JavaScript heap, to which
 * buffers do not count (github.com/cloudflare/workerd/issues/6894).
 */
export function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
