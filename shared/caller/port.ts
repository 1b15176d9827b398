/** What the caller API needs of the host that serves a device: the Worker's Device object, or this machine's dispatcher. */
import type { CallList, CallQuery, CallView, EventList, EventQuery } from "../api.ts";
import type { CallApproval } from "../approval.ts";
import type { ErrorShape, Hop } from "../errors.ts";
import type { CallId, SessionId } from "../ids.ts";
import type { OfferedTools, WantedView } from "../model-view.ts";
import type { ResultHeader } from "../result-frame.ts";
import type { Machine } from "../system-prompt.ts";
import type { ToolDescription } from "../tool.ts";
import type { BodyRules } from "./body.ts";

/** The tools that a device's policy leaves available. */
export interface DeviceTools {
  hash: string | null;
  tools: ToolDescription[];
}

/** What one caller may call. */
export interface OpenTools extends OfferedTools {
  machine: Machine;
  hash: string | null;
}

/** A call as its caller wants it: what the caller API hands to the host. */
export interface WantedCall {
  call: CallId;
  /** Its caller chose the name, so it may be taken. */
  chosen?: boolean | undefined;
  tool: string;
  /** JSON of the input. */
  input: string;
  session?: SessionId | undefined;
  timeoutMs?: number | undefined;
  key?: string | undefined;
  /** Milliseconds after which a call that still runs is answered with its name; absent: 60 seconds, a stream never. */
  waitMs?: number | undefined;
  /** Without live output. */
  quiet?: boolean | undefined;
  /** Its caller is a model, which repeats a call rather than to ask for it by name. */
  repeats?: boolean | undefined;
  /** The reader keeps the call's name to itself, until the stream ends before the call. */
  isNameless?: boolean | undefined;
  /** Also stop a call with an effect when its reader leaves. */
  cancelOnDisconnect?: boolean | undefined;
}

/** How a REST call ended. Large answers are streamed: values are copied into the Worker, and the copies stay in memory for long. */
export type Ending<Bytes = Uint8Array | ReadableStream<Uint8Array>> =
  | {
      kind: "answer";
      call: CallId;
      status: ResultHeader["status"];
      code?: ResultHeader["code"];
      body: Bytes;
    }
  | { kind: "refused"; call: CallId; error: ErrorShape };

export type RestAnswer =
  | Ending
  /** Not finished after 60 seconds: its outcome will be in the call's record. */
  | {
      kind: "pending";
      call: CallId;
      approval?: CallApproval | undefined;
      /** The answer as JSON, from a host that wants to know whether it arrives. */
      body?: ReadableStream<Uint8Array>;
    };

export type GuideAnswer =
  | Ending
  /** Not finished yet: the body is whitespace, then the answer in the guide's shape. */
  | { kind: "begun"; call: CallId; body: ReadableStream<Uint8Array> };

export interface OpenStream {
  call: CallId;
  body: ReadableStream<Uint8Array>;
}

/** A call whose tool sends bytes: the answer, and the bytes if the call succeeded. */
export interface BytesAnswer {
  answer: RestAnswer;
  bytes?: ReadableStream<Uint8Array>;
}

/** A call whose tool takes bytes: the answer; if it succeeded, what the device said at their end, or why they did not all arrive. */
export interface SentBytes {
  answer: RestAnswer;
  end?: { trailer: Readonly<Record<string, unknown>> } | { error: ErrorShape };
}

/** One device for one caller. If a method rejects with MatrxError, nothing was sent. */
export interface CallerPort {
  readonly device: string;
  /** The hop that errors are attributed to. */
  readonly hop: Hop;
  readonly body: BodyRules;
  toolNames(): Promise<string[]>;
  tools(): Promise<DeviceTools>;
  openTools(view?: WantedView): Promise<OpenTools>;
  call(wanted: WantedCall): Promise<RestAnswer>;
  /** The same on the guide's route, which waits for the end of the call. */
  callByGuide(wanted: WantedCall): Promise<GuideAnswer>;
  /** A call that streams its progress to the caller. */
  streamCall(wanted: WantedCall): Promise<OpenStream>;
  /** Asks a call to stop. */
  cancelCall(call: CallId): Promise<void>;
  events(query: EventQuery): Promise<EventList>;
}

/** A host that sends and takes files. */
export interface FilePort extends CallerPort {
  /** A call of a tool that sends bytes, such as Download; refused at once if the device's tool has no parameter `needs`. */
  callForBytes(wanted: WantedCall, needs?: string): Promise<BytesAnswer>;
  /** A call of a tool that takes bytes, such as Upload. */
  callWithBytes(wanted: WantedCall, bytes: ReadableStream<Uint8Array> | undefined): Promise<SentBytes>;
  /** The same bytes as a body whose length the host announces. */
  sized(bytes: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array>;
}

/** A host that keeps records of calls. */
export interface RecordingPort extends FilePort {
  listCalls(query: CallQuery): Promise<CallList>;
  readCall(call: CallId): Promise<CallView>;
  /** Streams the progress of an earlier call, for this many milliseconds at most. */
  attach(call: CallId, waitMs?: number): Promise<OpenStream>;
}
