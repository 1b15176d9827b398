/** The response bodies in transit to a device's HTTP readers, by grant. */
import type { GrantId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { ResponseBody } from "./response-body.ts";

export class ResponseBodies {
  /** Called when a reader has taken the last of a body, or left. */
  onClosed: () => void = () => undefined;
  readonly #open = new Map<GrantId, Set<ResponseBody>>();

  /** `closed` is called once nothing is left of the body. */
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

  /** Bytes that a grant's readers have not taken yet. */
  queuedOf(grant: GrantId): number {
    let bytes = 0;
    for (const { queued } of this.#open.get(grant) ?? []) bytes += queued;
    return bytes;
  }

  /** Whether this many more bytes may queue up for a grant's readers. */
  hasRoomFor(bytes: number, grant: GrantId): boolean {
    return this.queuedOf(grant) + bytes <= LIMITS.callerQueueMaxBytes;
  }

  /** Bytes that have not been read yet, over all grants. */
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
