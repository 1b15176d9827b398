/** Streams between callers and the agent: who may use which, how much may be on its way, and when they end. */
import { type BuiltInTool, effectOf, isPortTool, toolNameOf } from "@matrx/shared/effects.ts";
import { type ErrorShape, type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { refusalOf } from "@matrx/shared/policy.ts";
import {
  type ConnectionId,
  carriesData,
  costOf,
  creditOf,
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  type StreamAddress,
  type StreamFrame,
  writeConnection,
} from "@matrx/shared/streams/frame.ts";
import type { Opens, WantedOpens } from "@matrx/shared/streams/opens.ts";
import { errorShapeOf } from "../../problem.ts";
import { congestedError, type DeviceLink } from "../connection.ts";
import type { RecordStore } from "../store.ts";
import { CreditGate } from "./credit-gate.ts";
import { type CallerConnection, type KeptStream, RelayStream } from "./stream.ts";

/** A stream that takes less gets at most one of so many parts of the credit that is left. */
const PARTS_OF_ROOM = 4;

interface Parts {
  readonly link: Pick<DeviceLink, "sendStream" | "queuedForStream" | "isStreamFull">;
  readonly store: Pick<RecordStore, "record" | "policy">;
}

export class Streams {
  readonly #parts: Parts;
  readonly #open = new Map<ConnectionId, Map<number, RelayStream>>();
  /** Credit of the callers', on its way to the device, and of the device's. */
  readonly #fromCallers: CreditGate;
  readonly #fromDevice: CreditGate;

  constructor(parts: Parts) {
    const { link } = parts;
    this.#parts = parts;
    this.#fromCallers = new CreditGate({
      queuedFor: ({ caller }) => caller.queued,
      give: (open, bytes) => link.sendStream(creditFrame(open, bytes), open.isBulk),
    });
    this.#fromDevice = new CreditGate({
      queuedFor: ({ isBulk }) => link.queuedForStream(isBulk),
      give: (open, bytes) => open.caller.deliver(creditFrame(open, bytes)),
    });
  }

  /**
   * Opens a stream with a call of this tool, which has yet to pass the gate. Returns it with the credit that there is room for;
   * the caller is told if that is less. Throws MatrxError `CONFLICT` or `RATE_LIMITED`.
   */
  open(caller: CallerConnection, opens: WantedOpens, called: string): Opens {
    const streams = this.#open.get(caller.id);
    if (streams?.has(opens.stream)) throw numberTaken(opens.stream);
    if ((streams?.size ?? 0) >= LIMITS.byteStreamsPerConnection) throw tooManyStreams();
    const given = { stream: opens.stream, credit: this.#creditFor(caller, opens) };
    const tool = toolNameOf(called);
    const open = RelayStream.opened(caller, given, { tool, effect: effectOf(tool) });
    this.#add(open);
    if (given.credit < opens.credit) caller.deliver(windowFrame(open));
    caller.changed();
    return given;
  }

  /** A caller's connection after hibernation. */
  restore(caller: CallerConnection, kept: readonly KeptStream[]): void {
    for (const one of kept) this.#add(RelayStream.restored(caller, one));
  }

  /** What to keep of a connection's streams while the object hibernates. */
  keptOf(caller: ConnectionId): KeptStream[] {
    return [...(this.#open.get(caller)?.values() ?? [])].map(({ kept }) => kept);
  }

  /** The call that was to open a stream did not: nothing was opened at the device. */
  notOpened(caller: ConnectionId, stream: number): void {
    const open = this.#open.get(caller)?.get(stream);
    if (open) this.#drop(open);
  }

  /** The same, and the caller does not know yet. */
  refuse(caller: ConnectionId, stream: number, error: ErrorShape): void {
    const open = this.#open.get(caller)?.get(stream);
    if (open) this.#resetCaller(open, error);
  }

  /** A frame of a caller. One that breaks the rules resets its stream. Throws MatrxError if it can't be read. */
  fromCaller(caller: CallerConnection, data: Uint8Array<ArrayBuffer>): void {
    const frame = decodeStreamFrame(data);
    const open = this.#open.get(caller.id)?.get(frame.stream);
    if (!open) return this.#unknownToCaller(caller, frame);
    open.assumeBulk(frame.bulk);
    this.#following(open, () => {
      if (frame.kind === "window") throw notTheirs();
      if (frame.kind === "credit") {
        const bytes = creditOf(frame);
        open.toCaller.give(bytes);
        return this.#fromCallers.pass(open, bytes);
      }
      if (carriesData(frame.kind)) {
        open.requireUnended();
        this.#requireReading(open);
      } else if (frame.kind === "end") open.endCaller();
      open.toDevice.use(costOf(frame.kind, frame.payload.length));
      writeConnection(data, caller.id);
      this.#parts.link.sendStream(data, open.isBulk);
      if (frame.kind === "reset") this.#drop(open);
    });
  }

  /** A frame of a caller who may send none now: a stream with a hole in it would be worse than none. As `fromCaller`. */
  refuseFrame(caller: CallerConnection, data: Uint8Array<ArrayBuffer>, why: ErrorShape): void {
    const open = this.#open.get(caller.id)?.get(decodeStreamFrame(data).stream);
    if (open) this.#reset(open, why);
  }

  /** A frame of the agent's, from its main or its bulk connection. As `fromCaller`. */
  fromDevice(data: Uint8Array<ArrayBuffer>): void {
    const frame = decodeStreamFrame(data);
    const open = this.#open.get(frame.connection)?.get(frame.stream);
    if (!open) return this.#unknownToDevice(frame);
    open.noteBulk(frame.bulk);
    this.#following(open, () => {
      if (frame.kind === "window") throw notTheirs();
      if (frame.kind === "credit") {
        const bytes = creditOf(frame);
        open.toDevice.give(bytes);
        return this.#fromDevice.pass(open, bytes);
      }
      open.toCaller.use(costOf(frame.kind, frame.payload.length));
      open.caller.deliver(data);
      if (frame.kind === "end" || frame.kind === "reset") this.#drop(open);
    });
  }

  /** The agent's connection was lost or replaced: no stream survives that. */
  linkLost(): void {
    for (const open of this.#all()) this.#resetCaller(open, lostError("The device disconnected"));
  }

  /** The agent's bulk connection was lost. */
  bulkLost(): void {
    const error = lostError("The device's connection for streams was lost");
    for (const open of this.#all()) if (open.isBulk) this.#resetCaller(open, error);
  }

  /** The caller is gone. */
  callerClosed(caller: ConnectionId): void {
    const error = lostError("The caller disconnected");
    for (const open of this.#open.get(caller)?.values() ?? []) this.#resetDevice(open, error);
  }

  /** A grant was revoked or withdrawn, or a guest's session ended. */
  endGrant(grant: GrantId, why: ErrorShape): void {
    this.endFor(({ lease, visit }) => lease.scope.id === grant || visit === grant, why);
  }

  /** All streams of those whom a pause concerns. */
  endFor(isConcerned: (caller: CallerConnection) => boolean, why: ErrorShape): void {
    for (const open of this.#all()) if (isConcerned(open.caller)) this.#reset(open, why);
  }

  /** A grant or the policy has changed: streams that could not be opened any more end. */
  rightsChanged(): void {
    for (const open of this.#all()) {
      const refusal = this.#refusalOf(open);
      if (refusal) this.#reset(open, refusal);
    }
  }

  /** The policy allows other ports than before. Nobody here knows which port a stream is for, so all that may be for one end. */
  portsChanged(): void {
    for (const open of this.#all()) {
      const mayBePort = open.tool === undefined ? open.effect === PORT_EFFECT : isPortTool(open.tool);
      if (mayBePort) this.#reset(open, PORTS_CHANGED);
    }
  }

  /** After hibernation nobody knows the tool: then the effect decides, and a grant that is limited to tools is not enough. */
  #refusalOf({ tool, effect, caller }: RelayStream): ErrorShape | undefined {
    const { scope } = caller.lease;
    if (tool === undefined) return scope.effects.includes(effect) && !scope.tools ? undefined : CHANGED;
    const { store } = this.#parts;
    const confinesCommands = store.record?.identity.kind !== "bare";
    return refusalOf({ tool, grant: scope, policy: store.policy, confinesCommands }, "relay");
  }

  /**
   * Credit of all streams together bounds the memory that their data can take here. No grant can take the last share. Who takes
   * less gets a part of what is left, so that something is left for the next, and the least in any case: the number of
   * streams bounds that.
   */
  #creditFor({ lease }: CallerConnection, { credit, less = false }: WantedOpens): number {
    const own = { streams: 1, bytes: 0 };
    const all = { streams: 1, bytes: 0 };
    for (const { caller, window } of this.#all())
      for (const sum of caller.lease.scope.id === lease.scope.id ? [own, all] : [all]) {
        sum.streams++;
        sum.bytes += window;
      }
    const { byteStreamsPerGrant, byteStreamsPerDevice, grantWindowBytes, deviceWindowBytes } = LIMITS;
    const shares = own.streams > 1 ? 1 : 0;
    const isTooMany =
      own.streams > byteStreamsPerGrant || all.streams > byteStreamsPerDevice - shares * byteStreamsPerGrant;
    if (isTooMany) throw tooManyStreams();
    const room = Math.min(
      grantWindowBytes - own.bytes,
      deviceWindowBytes - shares * grantWindowBytes - all.bytes,
    );
    if (less)
      return Math.max(LIMITS.streamWindowMinBytes, Math.min(credit, Math.floor(room / PARTS_OF_ROOM)));
    if (credit > room) throw tooManyStreams();
    return credit;
  }

  /** Throws MatrxError `RATE_LIMITED` if the device gives credit, but does not read. */
  #requireReading({ isBulk }: RelayStream): void {
    if (this.#parts.link.isStreamFull(isBulk)) throw congestedError();
  }

  #add(open: RelayStream): void {
    const { caller, stream } = open;
    const streams = this.#open.get(caller.id) ?? new Map<number, RelayStream>();
    this.#open.set(caller.id, streams.set(stream, open));
  }

  #drop(open: RelayStream): void {
    const { caller, stream } = open;
    const streams = this.#open.get(caller.id);
    if (!streams?.delete(stream)) return;
    if (streams.size === 0) this.#open.delete(caller.id);
    this.#fromCallers.forget(open);
    this.#fromDevice.forget(open);
    caller.changed();
  }

  #all(): RelayStream[] {
    return [...this.#open.values()].flatMap((streams) => [...streams.values()]);
  }

  /** Handles a frame of an open stream; if it breaks the rules, both ends are told. */
  #following(open: RelayStream, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#reset(open, errorShapeOf(error));
    }
  }

  #reset(open: RelayStream, why: ErrorShape): void {
    this.#resetDevice(open, why);
    open.caller.deliver(resetFrame(addressOf(open), why));
  }

  #resetCaller(open: RelayStream, why: ErrorShape): void {
    this.#drop(open);
    open.caller.deliver(resetFrame(addressOf(open), why));
  }

  #resetDevice(open: RelayStream, why: ErrorShape): void {
    this.#drop(open);
    this.#parts.link.sendStream(resetFrame(addressOf(open), why), open.isBulk);
  }

  /** Whoever sends data to a stream that is gone is told so, if it reads what it is told. */
  #unknownToCaller(caller: CallerConnection, frame: StreamFrame): void {
    if (!carriesData(frame.kind) || caller.queued > LIMITS.callerQueueBytes) return;
    const { bulk, stream } = frame;
    caller.deliver(resetFrame({ connection: caller.id, stream, bulk }, unknownStream()));
  }

  /** Credit counts too: the device may wait for data on a stream that was lost with its connection before it was served. */
  #unknownToDevice(frame: StreamFrame): void {
    const { link } = this.#parts;
    const goesOn = frame.kind === "credit" || carriesData(frame.kind);
    if (goesOn && !link.isStreamFull(frame.bulk))
      link.sendStream(resetFrame(frame, unknownStream()), frame.bulk);
  }
}

type FrameAddress = StreamAddress & { readonly bulk: boolean };

function addressOf({ caller, stream, isBulk }: RelayStream): FrameAddress {
  return { connection: caller.id, stream, bulk: isBulk };
}

function creditFrame(open: RelayStream, bytes: number): Uint8Array<ArrayBuffer> {
  return encodeStreamFrame(addressOf(open), "credit", creditPayload(bytes));
}

function windowFrame(open: RelayStream): Uint8Array<ArrayBuffer> {
  return encodeStreamFrame(addressOf(open), "window", creditPayload(open.window));
}

function resetFrame({ connection, stream, bulk }: FrameAddress, why: ErrorShape): Uint8Array<ArrayBuffer> {
  return encodeStreamFrame({ connection, stream, bulk }, "reset", errorPayload(why));
}

function lostError(message: string): ErrorShape {
  return { code: "UNAVAILABLE", message, hint: "Open the stream again where it broke off", hop: "relay" };
}

const PORT_EFFECT = effectOf("ConnectPort" satisfies BuiltInTool);

const PORTS_CHANGED: ErrorShape = {
  code: "PERMISSION_DENIED",
  message: "The device's policy allows other ports now",
  hint: "Open it again",
  hop: "relay",
};

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

function notTheirs(): MatrxError {
  return relayError("INVALID_MESSAGE", "Only the relay says how large a window is", {
    hint: "Stream frames are described in docs/protocol.md",
  });
}

function tooManyStreams(): MatrxError {
  return relayError("RATE_LIMITED", "Too many streams are open, or they have too much credit together", {
    hint: "End some, or open this one with less credit, or with `less`",
    details: { streams: LIMITS.byteStreamsPerConnection, credit_bytes: LIMITS.grantWindowBytes },
  });
}
