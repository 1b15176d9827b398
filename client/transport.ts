/** What a connection to a device is to the calls that go over it. */
import type {
  approvalEventSchema,
  EventView,
  gapEventSchema,
  outputEventSchema,
  progressEventSchema,
} from "@matrx/shared/api.ts";
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import type * as z from "zod";

export type Input = Readonly<Record<string, unknown>>;

/** What is told of a call before its answer. */
export type CallEvent =
  | z.infer<typeof outputEventSchema>
  | z.infer<typeof gapEventSchema>
  | z.infer<typeof progressEventSchema>
  | z.infer<typeof approvalEventSchema>;

export interface CallRequest {
  readonly tool: string;
  readonly input: Input;
  /** It changes nothing, so it may be made again without harm. */
  readonly isRead: boolean;
  /** The deadline of the whole call, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  /** It stops when the connection ends, though it changes something. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** Live output and progress are wanted. */
  readonly live: boolean;
}

/** The connection of a call broke, or could not be made, and that is tried again. */
export interface Trouble {
  /** In words. */
  readonly why: string;
  /** `send`: it is sent again; `ask`: its record is asked for the outcome. */
  readonly next: "send" | "ask";
}

/** Who made a call, while it runs. */
export interface CallListener {
  readonly onEvent: (event: CallEvent) => void;
  /** The relay's name of the call, by which it can be followed and stopped later; told again by each connection. */
  readonly onName: (call: string) => void;
  readonly onTrouble: (trouble: Trouble) => void;
  /** Aborted to stop the call: the device is asked to. */
  readonly stop: AbortSignal;
  /** Aborted to hear no more of it: one that only reads is stopped, others go on. */
  readonly leave: AbortSignal;
}

/** What came of sending a call once. */
export type Attempt =
  | { readonly kind: "answer"; readonly answer: Answer }
  /** It goes on, and its record will have the outcome. */
  | { readonly kind: "pending"; readonly call: string }
  /** The connection ended before the answer; `sent`: the device may have the call. */
  | { readonly kind: "lost"; readonly why: string; readonly sent: boolean; readonly cause?: unknown };

export interface StreamOptions {
  /** What the device may send at most before it is taken, in bytes, 32 KiB to 4 MiB; bounds the memory that a stream takes here. */
  readonly credit: number;
  /** Cancels the call, or resets the stream that it opened. */
  readonly signal?: AbortSignal | undefined;
}

export interface Opened {
  readonly answer: Answer;
  readonly stream: StreamEnd;
}

export interface WatchOptions {
  /** Id of the last known event; undefined: from now on. */
  readonly after: string | undefined;
  readonly onEvent: (event: EventView) => void;
  /** Events are told from now on. */
  readonly onConnect: () => void;
  readonly signal: AbortSignal;
}

/** One device for one caller, over one kind of connection. */
export interface Transport {
  /** What it connects to, in words, for messages. Absent: "the relay". */
  readonly host?: string | undefined;
  /** The session that calls are made in; undefined: none, or not known yet. */
  readonly session: string | undefined;
  /** Connects already, to learn early what is wrong. Throws MatrxError. */
  connect?(): Promise<void>;
  /** Makes a call once. What is said of the call is its answer, an error too. Throws MatrxError: the device is not reached so. */
  attempt(request: CallRequest, listener: CallListener): Promise<Attempt>;
  /** Waits for the end of a call that was made before. Absent: no records are kept. Throws MatrxError: there is no such call. */
  readonly follow?: ((call: string, listener: CallListener) => Promise<Attempt>) | undefined;
  /** Makes a call that opens a stream. Absent: there are none. Throws MatrxError: the call's error, too. */
  open?(
    tool: string,
    input: Input,
    options: StreamOptions,
    onEvent: (event: CallEvent) => void,
  ): Promise<Opened>;
  /** Tells the device's events until the connection ends, or the signal is aborted. Throws MatrxError: that is refused. */
  watch?(options: WatchOptions): Promise<void>;
  /** Closes its connections, and with them their streams. */
  close(): void;
}
