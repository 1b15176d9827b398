/** A call has two shapes: `WantedCall`, as its caller wants it, and `PendingCall`, as this object runs it. Between them stands the gate. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import type { CallId, GrantId, SessionId } from "@matrx/shared/ids.ts";
import type { Holder } from "../leases.ts";
import type { CallState, Phase } from "./call-state.ts";
import type { InputPreview } from "./input-preview.ts";
import type { Recipient } from "./recipient.ts";

/** A call in flight, as this object runs it: the state that `next` in `call-state.ts` decides on, and its data. */
export interface PendingCall extends CallState {
  readonly call: CallId;
  /** Empty after hibernation, if the call has no row. */
  readonly tool: string;
  /** The caller's id; HTTP has none. */
  id?: string | undefined;
  readonly grant: GrantId;
  readonly created: number;
  /** Extended by the time that the answer waited for its readers. */
  deadline: number;
  /** The caller, then its followers (`follow`). Empty if all left; an effect's outcome is kept. */
  recipients: Recipient[];
  phase: Phase;
  recorded: boolean;
  isKept?: boolean;
  /** Absent after hibernation, after a policy change, or once sent if it is large. */
  frame?: string | undefined;
  /** What a person is, or was, asked about it. */
  approval?: CallApproval | undefined;
  /** When it was sent, if it waited for a person first; in milliseconds since 1970. */
  releasedAt?: number | undefined;
  /** Who holds its grant. Absent after hibernation, like `input`. */
  holder?: Holder | undefined;
  /** What those who watch are told of its input. */
  input?: InputPreview | undefined;
  /** The record knows that it began. */
  isTold?: boolean;
  /** It only fetches the outcome of an earlier call. */
  isReplay?: true;
  /** Frames of live output dropped since the last one passed on. */
  missed: number;
  /** State of the rate at which its progress is passed on. */
  progressed?: number;
}

/** What the gate found out about a call that it admitted. */
export interface Passed {
  /** The device's own name for the tool. */
  tool: string;
  /** The caller's name for it, if different. */
  called: string | undefined;
  effect: Effect;
  /** The tool's own time limit, in milliseconds. */
  toolTimeoutMs: number;
}

/** What a caller may repeat a call with: its idempotency key, or the name that it chose. `digest` covers tool and input. */
export interface Keyed {
  key: string | null;
  digest: string;
}

/** What our agent is told of a call besides tool, input and rights. As JSON, it waits with a call that a person must allow. */
export interface FrameParts {
  readonly called: string | undefined;
  readonly id: string | undefined;
  readonly session: SessionId | undefined;
  /** What the caller asked for, in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly stream: boolean | undefined;
  readonly opens: ExecuteOpens | undefined;
  readonly keyed: Keyed | undefined;
}
