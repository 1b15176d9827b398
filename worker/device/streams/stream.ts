/** A stream as the relay sees it, and the connection of the caller who opened it. */
import type { Effect } from "@matrx/shared/effects.ts";
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { ConnectionId } from "@matrx/shared/streams/frame.ts";
import type { Opens } from "@matrx/shared/streams/opens.ts";
import type { Lease } from "../leases.ts";

/** A caller's connection, as far as streams are concerned: a socket, or one HTTP request. */
export interface CallerConnection {
  readonly id: ConnectionId;
  /** The lease under which its streams go on. */
  readonly lease: Lease;
  /** A guest's own session, which may end before the share. */
  readonly visit?: string | undefined;
  /** Bytes queued towards the caller. */
  readonly queued: number;
  /** Hands a frame on to the caller. The frame's memory is not used afterwards. */
  deliver(frame: Uint8Array<ArrayBuffer>): void;
  /** Its streams have changed. */
  changed(): void;
}

/** What the relay keeps of a stream while the object hibernates. */
export type KeptStream = [stream: number, window: number, effect: Effect];

/** Credit in one direction: what was given, and how much may be given at a time. */
class Window {
  /** Set by the first credit if it is not known before. */
  #most: number | undefined;
  #left: number;
  /** What was used before the object slept is not known: then credit may seem to be more than can have been used. */
  readonly #isRestored: boolean;

  private constructor(most: number | undefined, isRestored: boolean) {
    this.#most = most;
    this.#left = most ?? 0;
    this.#isRestored = isRestored;
  }

  static opened(most?: number): Window {
    return new Window(most, false);
  }

  static restored(most: number): Window {
    return new Window(most, true);
  }

  /** Throws MatrxError if the receiver gives more than it can have taken. */
  give(bytes: number): void {
    this.#most ??= bytes;
    this.#left += bytes;
    if (this.#left <= this.#most) return;
    if (!this.#isRestored) throw tooMuchCredit();
    this.#left = this.#most;
  }

  /** Throws MatrxError if the sender had no credit for this. */
  use(bytes: number): void {
    if (bytes > this.#left) throw noCredit();
    this.#left -= bytes;
  }
}

export class RelayStream {
  readonly caller: CallerConnection;
  readonly stream: number;
  /** The device's name for the tool whose call opened it; unknown after hibernation. */
  readonly tool: string | undefined;
  readonly effect: Effect;
  /** Credit that counts against the limits of grant and device, in bytes. */
  readonly window: number;
  readonly toCaller: Window;
  readonly toDevice: Window;
  /** Whether the caller has said that it sends no more, as far as is known since hibernation. */
  #isEnded = false;
  /** Whether its frames go over the agent's bulk connection; unknown until one of them says so. */
  #isBulk: boolean | undefined;

  private constructor(
    caller: CallerConnection,
    [stream, window, effect]: KeptStream,
    rest: { tool?: string; toCaller: Window; toDevice: Window },
  ) {
    this.caller = caller;
    this.stream = stream;
    this.window = window;
    this.effect = effect;
    this.tool = rest.tool;
    this.toCaller = rest.toCaller;
    this.toDevice = rest.toDevice;
  }

  static opened(
    caller: CallerConnection,
    { stream, credit }: Opens,
    { tool, effect }: { tool: string; effect: Effect },
  ) {
    const windows = { toCaller: Window.opened(credit), toDevice: Window.opened() };
    return new RelayStream(caller, [stream, credit, effect], { tool, ...windows });
  }

  /** After hibernation. The device's window is not kept: it is at most this. */
  static restored(caller: CallerConnection, kept: KeptStream) {
    const toDevice = Window.restored(LIMITS.streamWindowBytes);
    return new RelayStream(caller, kept, { toCaller: Window.restored(kept[1]), toDevice });
  }

  get isBulk(): boolean {
    return this.#isBulk ?? false;
  }

  /** A frame of the device's says which connection it uses. */
  noteBulk(bulk: boolean): void {
    this.#isBulk = bulk;
  }

  /** A frame of the caller's repeats what the device said: it counts only while nothing else is known. */
  assumeBulk(bulk: boolean): void {
    this.#isBulk ??= bulk;
  }

  /** The caller ends its direction: an `end` costs no credit, so there is only one. Throws MatrxError. */
  endCaller(): void {
    this.requireUnended();
    this.#isEnded = true;
  }

  /** Throws MatrxError if the caller has said that it sends no more. */
  requireUnended(): void {
    if (this.#isEnded) throw hasEnded();
  }

  get kept(): KeptStream {
    return [this.stream, this.window, this.effect];
  }
}

function tooMuchCredit(): MatrxError {
  return relayError("INVALID_MESSAGE", "More credit was given than can have been used", {
    hint: "Give back what was taken, and no more",
  });
}

function hasEnded(): MatrxError {
  return relayError("INVALID_MESSAGE", "The caller has ended the stream, and sends more", {
    hint: "Send `end` after everything else, and once",
  });
}

function noCredit(): MatrxError {
  return relayError("INVALID_MESSAGE", "More data was sent than there was credit for", {
    hint: "Wait for credit frames",
  });
}
