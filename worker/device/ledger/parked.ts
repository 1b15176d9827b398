/** A call that waits until it may be sent, as memory and table hold it. Its input is in the table only. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import { type CallId, type GrantId, randomBase32 } from "@matrx/shared/ids.ts";
import type { Stage } from "./approval-state.ts";
import type { FrameParts } from "./call.ts";

/** What its frame will say, and who waits; kept as JSON. */
export interface ParkedParts extends FrameParts {
  /** Its caller was not told the call's name, and gave it neither name nor key: once gone, it can't ask what became of it. */
  readonly isNameless?: boolean;
  /** Since when nobody has waited for a nameless call. */
  readonly leftAt?: number | undefined;
}

export interface Parked {
  readonly id: string;
  readonly call: CallId;
  readonly grant: GrantId;
  readonly tool: string;
  readonly effect: Effect;
  stage: Stage;
  /** Milliseconds since 1970, like all times here. */
  readonly created: number;
  expires: number;
  wanted: ParkedParts;
  /** Absent until the device said what a decision is about, and if nobody is asked. */
  binding?: string | undefined;
  /** The approval that the frame names: its own, or an earlier one of the same call. */
  approval: string;
  at?: "machine" | undefined;
  /** Absent: nobody was asked. */
  summary?: string | undefined;
  edited: boolean;
  /** When the device must have said whether to ask. Absent: it was not asked yet. */
  preparedBy?: number | undefined;
  /** The account is being asked whether the grant still stands. */
  isChecking: boolean;
}

export function parkedCall(
  named: Pick<Parked, "call" | "grant" | "tool" | "effect">,
  wanted: ParkedParts,
  now: number,
): Parked {
  const id = `approval_${randomBase32(16)}`;
  return {
    ...{ ...named, id, approval: id, wanted, stage: "preparing", created: now, expires: now },
    ...{ edited: false, isChecking: false },
  };
}

/** What the caller sees of it; undefined while nobody is asked. */
export function callApproval({
  id,
  stage,
  expires,
  summary,
  edited,
}: Pick<Parked, "id" | "stage" | "expires" | "edited"> & { summary?: string | null | undefined }):
  | CallApproval
  | undefined {
  if (summary === undefined || summary === null) return undefined;
  return { id, state: stateOf(stage), expires: new Date(expires).toISOString(), summary, edited };
}

/** Whether a question was withdrawn because its caller was gone. */
export function isDeserted({ stage, wanted }: { stage: string; wanted: string }): boolean {
  return stage === "cancelled" && (JSON.parse(wanted) as ParkedParts).leftAt !== undefined;
}

/** The state that others see. */
export function stateOf(stage: Stage): CallApproval["state"] {
  if (stage === "sent") return "allowed";
  return stage === "preparing" ? "pending" : stage;
}
