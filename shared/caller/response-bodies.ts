/** What is on its way to the HTTP readers of a device, by grant. */
import type { GrantId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { ResponseBody } from "./response-body.ts";

export class ResponseBodies {
  /** Is told when a reader took the last of a body, or went. */
  onClosed: () => void = () => undefined;
  readonly #open = new Map<GrantId, Set<ResponseBody>>();

  /** `closed` is told once nothing of the body is left. */
  open(grant: GrantId, keepAlive?: Uint8Array, closed: () => void = () => undefined): ResponseBody {
    const bodies = this.#open.get(grant) ?? new Set();
    this.#open.set(grant, bodies);
    const forget = (body: ResponseBody) => {
      this.#forget(body, grant);
      closed();
    };
    const body = new ResponseBody(forget, keepAlive);
    bodies.add(body);
    return body;
  }

  /** Bytes that the readers of a grant do not have yet. */
  queuedOf(grant: GrantId): number {
    let bytes = 0;
    for (const { queued } of this.#open.get(grant) ?? []) bytes += queued;
    return bytes;
  }

  /** Whether so many bytes more may wait for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.queuedOf(grant) + bytes <= LIMITS.callerQueueMaxBytes;
  }

  /** Bytes that nobody has read yet, of all grants. */
  get queued(): number {
    let bytes = 0;
    for (const grant of this.#open.keys()) bytes += this.queuedOf(grant);
    return bytes;
  }

  #forget(body: ResponseBody, grant: GrantId): void {
    const bodies = this.#open.get(grant);
    if (!bodies?.delete(body)) return;
    if (bodies.size === 0) this.#open.delete(grant);
    this.onClosed();
  }
}
