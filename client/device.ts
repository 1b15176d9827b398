/** One device for one caller, over any transport. */
import type { EventView } from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { callerError, MatrxError } from "@matrx/shared/errors.ts";
import { type CallEnd, followedCall, makeCall } from "./call.ts";
import { errorIn, unsupported } from "./errors.ts";
import { pause } from "./pause.ts";
import type { CallEvent, CallListener, Input, Opened, Transport, Trouble } from "./transport.ts";
import { whenTaken } from "./when-taken.ts";

/** What may be said of a call while it runs, and to it. */
export interface FollowOptions {
  /** Told of live output and progress, and of questions to a person. */
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  /** Told the call's name at the relay, again by each connection. */
  readonly onName?: ((call: string) => void) | undefined;
  /** Told what stands in the way of its answer, while that is tried again. */
  readonly onTrouble?: ((trouble: Trouble) => void) | undefined;
  /** Stops the call: the device is asked to. */
  readonly signal?: AbortSignal | undefined;
  /** Hears no more of the call, which goes on if it changes something. */
  readonly leave?: AbortSignal | undefined;
}

export interface CallOptions extends FollowOptions {
  /** The deadline of the whole call, in milliseconds; absent: the tool's own. */
  readonly timeoutMs?: number | undefined;
  /**
   * The same key is the same call, and runs once. Absent: one is made for calls that change something. Null: none, so
   * that such a call whose connection breaks is not made again.
   */
  readonly idempotencyKey?: string | null | undefined;
  /** Whether the call changes nothing, for tools that are not built in. */
  readonly isRead?: boolean | undefined;
  /** Whether the call stops when the connection ends, though it changes something. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** The longest that it waits for the relay's rate, in milliseconds. */
  readonly rateWaitMs?: number | undefined;
  /** How often it is sent at most if the connection breaks; by default, three times. */
  readonly tries?: number | undefined;
  /**
   * Whether a call that changes something is not sent again once its name is known: its record is asked until the relay is
   * back. Without a key, that is so by itself.
   */
  readonly followsByName?: boolean | undefined;
}

export interface DeviceOptions {
  /** A person is asked about a call, or has allowed it. */
  readonly onApproval?: ((event: ApprovalEvent) => void) | undefined;
}

export type ApprovalEvent = Extract<CallEvent, { type: "approval" }>;

export interface OpenOptions {
  /** What the device may send before it is taken, in bytes, 32 KiB to 4 MiB. Absent: 1 MiB. */
  readonly credit?: number | undefined;
  /** Cancels the call, or resets the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
}

export interface WatchOptions {
  /** Id of the last known event: those after it are told first. Absent: from now on. */
  readonly after?: string | undefined;
  readonly onEvent: (event: EventView) => void;
  /** Called whenever events are told again. */
  readonly onConnect?: (() => void) | undefined;
  /** Called once when the connection breaks, before it is made again. */
  readonly onBreak?: (() => void) | undefined;
  /** Ends the watching. */
  readonly signal: AbortSignal;
}

const CREDIT = 1024 * 1024;
const RATE_WAIT_MS = 60_000;
const TRIES = 3;
/** In milliseconds. */
const WATCH_AGAIN_AFTER = 2000;

export class Device {
  readonly #transport: Transport;
  readonly #options: DeviceOptions;
  readonly #closed = new AbortController();

  constructor(transport: Transport, options: DeviceOptions = {}) {
    this.#transport = transport;
    this.#options = options;
  }

  /** Connects already, to learn early what is wrong; over HTTP there is nothing to connect. Throws MatrxError. */
  async connect(): Promise<void> {
    this.#requireOpen();
    await this.#transport.connect?.();
  }

  /** The session that calls are made in, if it is known. */
  get session(): string | undefined {
    return this.#transport.session;
  }

  /**
   * Makes a call of a tool, and waits for its answer: through connections that break, while a person is asked, and for the
   * relay's rate. Throws MatrxError: the call's error, or why there is no answer.
   */
  async call(tool: string, input: Input = {}, options: CallOptions = {}): Promise<Answer> {
    return answerOf(await this.make(tool, input, options));
  }

  /** The same, where an error of the call is an answer too, and a call may be left. Throws MatrxError: why there is no answer. */
  async make(tool: string, input: Input, options: CallOptions = {}): Promise<CallEnd> {
    this.#requireOpen();
    const { timeoutMs, idempotencyKey, cancelOnDisconnect, onEvent } = options;
    const { rateWaitMs = RATE_WAIT_MS, tries = TRIES, followsByName = false } = options;
    const isRead = options.isRead ?? effectOfCall(toolNameOf(tool), () => ({ ...input })) === "read";
    const key = idempotencyKey === undefined && !isRead ? crypto.randomUUID() : (idempotencyKey ?? undefined);
    const facts = { isRead, timeoutMs, cancelOnDisconnect, idempotencyKey: key };
    const request = { tool, input, ...facts, live: onEvent !== undefined };
    return await makeCall(this.#transport, request, this.#listenerOf(options), {
      ...{ rateWaitMs, tries, followsByName },
    });
  }

  /** Waits for the end of a call that was made before, by its name. Throws MatrxError. */
  async follow(call: string, options: FollowOptions = {}): Promise<Answer> {
    this.#requireOpen();
    return answerOf(await followedCall(this.#transport, call, this.#listenerOf(options)));
  }

  /** Makes a call that opens a stream of bytes, such as Download and Upload. Throws MatrxError: the call's error, or why there is no answer. */
  async open(tool: string, input: Input, options: OpenOptions = {}): Promise<Opened> {
    this.#requireOpen();
    const { credit = CREDIT } = options;
    const signal = ofOneCall(options.signal, this.#closed.signal);
    const send = async () => {
      if (!this.#transport.open) throw unsupported("streams");
      return await this.#transport.open(tool, input, { credit, signal }, (event) => this.#tell(event));
    };
    return await whenTaken(send, { signal, waitMs: RATE_WAIT_MS });
  }

  /** Tells what the device reports, and goes on where it was after a connection breaks, until `signal` or `close`. Throws MatrxError. */
  async watch(options: WatchOptions): Promise<void> {
    this.#requireOpen();
    const { onBreak } = options;
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    if (!this.#transport.watch) throw unsupported("events of the device");
    let { after } = options;
    let isKnownBroken = false;
    while (!signal.aborted) {
      try {
        await this.#transport.watch({
          ...{ after, signal },
          onEvent: (event) => {
            after = event.id;
            told(options.onEvent, event);
          },
          onConnect: () => {
            isKnownBroken = false;
            told(options.onConnect, undefined);
          },
        });
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
      if (signal.aborted) return;
      if (!isKnownBroken) told(onBreak, undefined);
      isKnownBroken = true;
      await pause(WATCH_AGAIN_AFTER, signal);
    }
  }

  /** Closes its connections: calls are left, as by `leave`, streams are reset, and events end. It can't be used again. */
  close(): void {
    this.#closed.abort();
    this.#transport.close();
  }

  #requireOpen(): void {
    if (this.#closed.signal.aborted)
      throw callerError("INVALID_PARAMETERS", "The device was closed here", { hint: "Connect it again" });
  }

  #listenerOf({ onEvent, onName, onTrouble, signal, leave }: FollowOptions): CallListener {
    return {
      onEvent: (event) => {
        this.#tell(event);
        told(onEvent, event);
      },
      onName: (call) => told(onName, call),
      onTrouble: (trouble) => told(onTrouble, trouble),
      stop: ofOneCall(signal),
      leave: ofOneCall(leave, this.#closed.signal),
    };
  }

  #tell(event: CallEvent): void {
    if (event.type === "approval") told(this.#options.onApproval, event);
  }
}

/** What a program's own listener throws is an uncaught error of the program, and breaks no call. */
function told<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Many calls may share a signal, and platforms warn where many listen to one. */
function ofOneCall(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

function answerOf(end: CallEnd): Answer {
  if (end.kind === "left") throw left(end.call);
  const error = errorIn(end.answer);
  if (error) throw error;
  return end.answer;
}

/** The connection could not be made, which may pass. */
function isOutage(error: unknown): boolean {
  return error instanceof MatrxError && error.code === "UNAVAILABLE" && error.hop === "caller";
}

function left(call: string | undefined): MatrxError {
  return callerError("CANCELLED", "Stopped waiting; the call may still be running", {
    ...(call !== undefined && { details: { call } }),
  });
}
