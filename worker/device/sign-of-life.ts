/** Probes our agent when it has been silent: a link may look open long after it is dead. */
import { CLOSE } from "@matrx/shared/close-codes.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { congestedError, type DeviceLink, type DeviceSocket, offlineError } from "./connection.ts";

/** Any agent answers this, and it has no side effects. */
const QUESTION = '{"type":"call_status","tool_call_ids":[]}';

/** `replaced`: the device is back on another link, where recovery sends what was in flight. */
export type Sign = "alive" | "silent" | "replaced";

interface Waiting {
  readonly chars: number;
  readonly told: (sign: Sign, now: number) => void;
}

export class SignOfLife {
  readonly #link: DeviceLink;
  /** When the link was probed, in milliseconds since 1970; undefined once it has answered. */
  #askedAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #waiting: Waiting[] = [];

  constructor(link: DeviceLink) {
    this.#link = link;
  }

  /** The socket for a call. Throws MatrxError `DEVICE_OFFLINE`, also if the link was probed in vain. */
  requireLive(now: number): DeviceSocket {
    const socket = this.#link.requireLive(now);
    if (!this.#isAskedInVain(now)) return socket;
    if (this.#link.isSilent(now)) socket.ws.close(CLOSE.silent, "No sign of life");
    throw silent();
  }

  /** Whether to probe before sending. Usually not: something arrived within the last 25 seconds. */
  isDue(now: number): boolean {
    const { current } = this.#link;
    if (!current?.attachment.ours || now - current.attachment.lastAt < TIMES.askAfter) return false;
    if (now - this.#link.signOf(current) >= TIMES.askAfter) return true;
    // The runtime answered a ping without waking this object.
    this.heard(now);
    return false;
  }

  /** Whether the link was probed in vain and has been silent for long. */
  isDead(now: number): boolean {
    return this.#link.isSilent(now) && (!this.#link.current?.attachment.ours || this.#isAskedInVain(now));
  }

  /** Probes the link, unless a probe is already out. */
  ask(now: number): void {
    if (this.#askedAt !== undefined) return;
    this.#askedAt = now;
    this.#timer = setTimeout(() => this.#overdue(Date.now()), TIMES.signWithin);
    this.#link.send(QUESTION);
  }

  /**
   * Probes, and reports the result once: `silent` after 5 seconds, or when the link closed. `chars` is what the waiting
   * call keeps in memory. Throws MatrxError `RATE_LIMITED` if that is too much in total.
   */
  wait(chars: number, told: Waiting["told"], now: number): void {
    const kept = this.#waiting.reduce((sum, waiting) => sum + waiting.chars, chars);
    if (kept > LIMITS.deviceQueueMaxBytes) throw congestedError();
    this.#waiting.push({ chars, told });
    this.ask(now);
  }

  /** The device was probed and has not been heard since. */
  get isAsked(): boolean {
    return this.#askedAt !== undefined;
  }

  /** Notes a sign of life. */
  heard(now: number): void {
    if (this.#askedAt !== undefined) this.#end("alive", now);
  }

  /** The link closed, or another took over. */
  ended(how: Exclude<Sign, "alive">, now: number): void {
    this.#end(how, now);
  }

  #overdue(now: number): void {
    const sign = this.#link.lastSign();
    if (sign !== undefined && sign >= (this.#askedAt ?? 0)) this.#end("alive", now);
    else this.#tell("silent", now);
  }

  #isAskedInVain(now: number): boolean {
    const askedAt = this.#askedAt;
    if (askedAt === undefined || now - askedAt < TIMES.signWithin) return false;
    return (this.#link.lastSign() ?? 0) < askedAt;
  }

  #end(sign: Sign, now: number): void {
    clearTimeout(this.#timer);
    this.#askedAt = undefined;
    this.#tell(sign, now);
  }

  #tell(sign: Sign, now: number): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { told } of waiting) told(sign, now);
  }
}

/** The error for a link that gave no sign of life: nothing was sent on it. */
export function silent() {
  return offlineError("The device is connected, but gives no sign of life");
}
