/** Tells when too much is queued on a socket of the device. Asking the runtime costs more than sending a small frame. */
import { queuedBytes } from "../socket.ts";

const LOOK_EVERY_BYTES = 1024 * 1024;

export class QueueGauge {
  #sinceLook = 0;

  sent(bytes: number): void {
    this.#sinceLook += bytes;
  }

  /** Whether more than this is queued, give or take what is sent between two looks. */
  isAbove(bytes: number, ws: WebSocket): boolean {
    if (this.#sinceLook <= LOOK_EVERY_BYTES) return false;
    if (queuedBytes(ws) > bytes) return true;
    this.#sinceLook = 0;
    return false;
  }
}
