/** What waits in the process for a peer that reads slowly: the platform has no back-pressure of its own. */

/** Bytes queued on a socket. Older builds of the runtime do not count; there a socket is taken to keep up. */
export function queuedBytes(ws: WebSocket): number {
  return (ws as { bufferedAmount?: number }).bufferedAmount ?? 0;
}
