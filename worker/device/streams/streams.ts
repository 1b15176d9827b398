/** Streams between callers and the agent: who may use which, how much may be on its way, and when they end. */
import { effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import { type ErrorShape, MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { refusalOf } from "@matrx/shared/policy.ts";
import {
  costOf,
  creditOf,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  type LineId,
  type Opens,
  type StreamAddress,
  type StreamFrame,
  writeLine,
} from "@matrx/shared/streams/frame.ts";
import type { DeviceLink } from "../connection.ts";
import type { RecordStore } from "../store.ts";
import { type KeptStream, type Line, RelayStream } from "./stream.ts";

interface Parts {
  readonly link: DeviceLink;
  readonly store: RecordStore;
}

/** A credit frame that waits until its caller has read more. */
interface Withheld {
  readonly stream: RelayStream;
  readonly frame: Uint8Array<ArrayBuffer>;
}

/** How often withheld credit is looked at, in milliseconds: the platform does not say when a queue has drained. */
const LOOK_EVERY = 25;

export class Streams {
  readonly #parts: Parts;
  readonly #lines = new Map<LineId, Map<number, RelayStream>>();
  #open = 0;
  #withheld: Withheld[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open;
  }

  /** Opens a stream with a call of this tool, which has yet to pass the gate. Throws MatrxError `CONFLICT` or `RATE_LIMITED`. */
  open(line: Line, opens: Opens, called: string): void {
    const streams = this.#lines.get(line.id);
    if (streams?.has(opens.stream)) throw numberTaken(opens.stream);
    if ((streams?.size ?? 0) >= LIMITS.streamsPerLine || this.#open >= LIMITS.streamsPerDevice)
      throw tooManyStreams();
    this.#requireRoom(line, opens.credit);
    const tool = toolNameOf(called);
    this.#add(RelayStream.opened(line, opens, { tool, effect: effectOf(tool) }));
    line.changed();
  }

  /** A caller's line after hibernation. */
  restore(line: Line, kept: readonly KeptStream[]): void {
    for (const one of kept) this.#add(RelayStream.restored(line, one));
  }

  /** What to keep of a line's streams while the object hibernates. */
  keptOf(line: LineId): KeptStream[] {
    return [...(this.#lines.get(line)?.values() ?? [])].map(({ kept }) => kept);
  }

  /** The call that was to open a stream did not: nothing was opened at the device. */
  notOpened(line: LineId, stream: number): void {
    const open = this.#lines.get(line)?.get(stream);
    if (open) this.#drop(open);
  }

  /** The same, and the caller does not know yet. */
  refuse(line: LineId, stream: number, error: ErrorShape): void {
    const open = this.#lines.get(line)?.get(stream);
    if (open) this.#resetCaller(open, error);
  }

  /** A frame of a caller. One that breaks the rules resets its stream. Throws MatrxError if it can't be read. */
  fromCaller(line: Line, data: Uint8Array<ArrayBuffer>): void {
    const frame = decodeStreamFrame(data);
    const open = this.#lines.get(line.id)?.get(frame.stream);
    if (!open) return this.#unknownToCaller(line, frame);
    this.#following(open, () => {
      if (frame.kind === "credit") open.toCaller.give(creditOf(frame));
      open.toDevice.use(costOf(frame.kind, frame.payload.length));
      writeLine(data, line.id);
      if (frame.kind === "credit" && line.queued > LIMITS.streamQueuedBytes) this.#withhold(open, data);
      else this.#parts.link.sendStream(data, open.isBulk);
      if (frame.kind === "reset") this.#drop(open);
    });
  }

  /** A frame of the agent's, from its main or its bulk connection. As `fromCaller`. */
  fromDevice(data: Uint8Array<ArrayBuffer>): void {
    const frame = decodeStreamFrame(data);
    const open = this.#lines.get(frame.line)?.get(frame.stream);
    if (!open) return this.#unknownToDevice(frame);
    open.isBulk = frame.bulk;
    this.#following(open, () => {
      if (frame.kind === "credit") open.toDevice.give(creditOf(frame));
      open.toCaller.use(costOf(frame.kind, frame.payload.length));
      open.line.deliver(data);
      if (frame.kind === "end" || frame.kind === "reset") this.#drop(open);
    });
  }

  /** The agent's connection was lost or replaced: no stream survives that. */
  linkLost(): void {
    this.#resetCallers(() => true, lostError("The device disconnected"));
  }

  /** The agent's bulk connection was lost. */
  bulkLost(): void {
    this.#resetCallers(({ isBulk }) => isBulk, lostError("The device's connection for streams was lost"));
  }

  /** The caller is gone. */
  lineClosed(line: LineId): void {
    const error = lostError("The caller disconnected");
    for (const open of this.#lines.get(line)?.values() ?? []) this.#resetDevice(open, error);
  }

  /** A grant was revoked or withdrawn, or a guest's session ended. */
  endGrant(grant: GrantId, why: ErrorShape): void {
    this.#resetBoth(({ line }) => line.lease.scope.id === grant || line.visit === grant, why);
  }

  /** All streams of those whom a pause concerns. */
  endFor(isConcerned: (line: Line) => boolean, why: ErrorShape): void {
    this.#resetBoth(({ line }) => isConcerned(line), why);
  }

  /** A grant or the policy has changed: streams that could not be opened any more end. */
  rightsChanged(): void {
    for (const open of this.#all()) {
      const refusal = this.#refusalOf(open);
      if (refusal) this.#resetBoth((one) => one === open, refusal);
    }
  }

  /** After hibernation nobody knows the tool: then the effect decides, and a grant that is limited to tools is not enough. */
  #refusalOf({ tool, effect, line }: RelayStream): ErrorShape | undefined {
    const { scope } = line.lease;
    if (tool === undefined) return scope.effects.includes(effect) && !scope.tools ? undefined : CHANGED;
    const { store } = this.#parts;
    const confinesCommands = store.record?.identity.kind !== "bare";
    return refusalOf({ tool, grant: scope, policy: store.policy, confinesCommands }, "relay");
  }

  /** Credit of all streams together bounds the memory that their data can take here. */
  #requireRoom({ lease }: Line, credit: number): void {
    let own = credit;
    let all = credit;
    for (const { line, window } of this.#all()) {
      all += window;
      if (line.lease.scope.id === lease.scope.id) own += window;
    }
    const { grantWindowBytes, deviceWindowBytes } = LIMITS;
    const isFirst = own === credit;
    if (own > grantWindowBytes || all > deviceWindowBytes - (isFirst ? 0 : grantWindowBytes))
      throw tooManyStreams();
  }

  #add(open: RelayStream): void {
    const { line, stream } = open;
    const streams = this.#lines.get(line.id) ?? new Map<number, RelayStream>();
    this.#lines.set(line.id, streams.set(stream, open));
    this.#open++;
  }

  #drop(open: RelayStream): void {
    const { line, stream } = open;
    const streams = this.#lines.get(line.id);
    if (!streams?.delete(stream)) return;
    if (streams.size === 0) this.#lines.delete(line.id);
    this.#open--;
    this.#withheld = this.#withheld.filter((one) => one.stream !== open);
    line.changed();
  }

  *#all(): Generator<RelayStream> {
    for (const streams of this.#lines.values()) yield* streams.values();
  }

  /** Handles a frame of an open stream; if it breaks the rules, both ends are told. */
  #following(open: RelayStream, act: () => void): void {
    try {
      act();
    } catch (error) {
      const shape = error instanceof MatrxError ? error.shape() : lostError("The relay could not pass it on");
      this.#resetBoth((one) => one === open, shape);
    }
  }

  #resetBoth(isMeant: (open: RelayStream) => boolean, why: ErrorShape): void {
    for (const open of [...this.#all()].filter(isMeant)) {
      this.#resetDevice(open, why);
      open.line.deliver(resetFrame(addressOf(open), why));
    }
  }

  #resetCallers(isMeant: (open: RelayStream) => boolean, why: ErrorShape): void {
    for (const open of [...this.#all()].filter(isMeant)) this.#resetCaller(open, why);
  }

  #resetCaller(open: RelayStream, why: ErrorShape): void {
    this.#drop(open);
    open.line.deliver(resetFrame(addressOf(open), why));
  }

  #resetDevice(open: RelayStream, why: ErrorShape): void {
    this.#drop(open);
    this.#parts.link.sendStream(resetFrame(addressOf(open), why), open.isBulk);
  }

  /** A caller whose stream is gone is told so, unless it says itself that it is over. */
  #unknownToCaller(line: Line, { kind, stream }: StreamFrame): void {
    if (kind === "data" || kind === "message")
      line.deliver(resetFrame({ line: line.id, stream }, unknownStream()));
  }

  #unknownToDevice(frame: StreamFrame): void {
    if (frame.kind === "data" || frame.kind === "message")
      this.#parts.link.sendStream(resetFrame(frame, unknownStream()), frame.bulk);
  }

  #withhold(stream: RelayStream, frame: Uint8Array<ArrayBuffer>): void {
    this.#withheld.push({ stream, frame });
    this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY);
  }

  /** Passes on the credit of callers that have read enough. */
  #look(): void {
    this.#timer = undefined;
    const withheld = this.#withheld;
    this.#withheld = [];
    for (const one of withheld) {
      const { line, isBulk } = one.stream;
      if (line.queued > LIMITS.streamQueuedBytes) this.#withhold(one.stream, one.frame);
      else this.#parts.link.sendStream(one.frame, isBulk);
    }
  }
}

function addressOf({ line, stream, isBulk }: RelayStream): StreamAddress & { bulk: boolean } {
  return { line: line.id, stream, bulk: isBulk };
}

function resetFrame(address: StreamAddress & { bulk?: boolean }, why: ErrorShape): Uint8Array<ArrayBuffer> {
  return encodeStreamFrame({ bulk: false, ...address }, "reset", errorPayload(why));
}

function lostError(message: string): ErrorShape {
  return { code: "UNAVAILABLE", message, hint: "Open the stream again where it broke off", hop: "relay" };
}

const CHANGED: ErrorShape = {
  code: "PERMISSION_DENIED",
  message: "The grant has changed, and may no longer allow this stream",
  hint: "Open it again",
  hop: "relay",
};

function unknownStream(): ErrorShape {
  return {
    code: "NOT_FOUND",
    message: "There is no such stream",
    hint: "Open one with a call",
    hop: "relay",
  };
}

function numberTaken(stream: number): MatrxError {
  return relayError("CONFLICT", `opens.stream: this connection already has a stream ${stream}`, {
    hint: "Give each stream its own number",
  });
}

function tooManyStreams(): MatrxError {
  return relayError("RATE_LIMITED", "Too many streams are open, or they have too much credit together", {
    hint: "End some, or open this one with less credit",
    details: { streams: LIMITS.streamsPerLine, credit_bytes: LIMITS.grantWindowBytes },
  });
}
