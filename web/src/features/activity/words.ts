/** States, outcomes and effects of calls in words, each with its tone. */

import type { ListedCall } from "@matrx/shared/api.ts";
import type { Tone } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import type { CallOutcome, Maker } from "./calls.ts";

export interface InWords {
  readonly tone: Tone;
  readonly text: string;
}

const OUTCOMES: Readonly<Record<CallOutcome, InWords>> = {
  success: { tone: "ok", text: "Done" },
  error: { tone: "bad", text: "Failed" },
  cancelled: { tone: "idle", text: "Cancelled" },
  unknown: { tone: "warn", text: "Outcome unknown" },
  refused: { tone: "bad", text: "Refused" },
  expired: { tone: "warn", text: "Never ran" },
};

/** A command that ended with another code than 0 did not do what was asked. */
export function outcomeWords(outcome: CallOutcome, exit: number | undefined, code?: string): InWords {
  if (code === "APPROVAL_DENIED") return { tone: "idle", text: "Denied" };
  if (outcome === "success" && (exit ?? 0) !== 0) return OUTCOMES.error;
  return OUTCOMES[outcome] ?? { tone: "idle", text: outcome };
}

/** As the record of a call has it. */
export function stateWords(
  { state, status, code }: Pick<ListedCall, "state" | "status" | "code">,
  exit?: number,
): InWords {
  if (state === "awaiting_approval") return { tone: "warn", text: "Needs you" };
  if (state === "accepted") return { tone: "info", text: "Running" };
  const outcome = state === "finished" ? (status ?? "success") : state;
  return outcomeWords(outcome, exit, code ?? undefined);
}

export function makerName({ name, id }: Maker): string {
  return visibleLine(name ?? id) || "Somebody";
}

/** "Bash on study"; a tool that the relay no longer knows has no name. */
export function callName(tool: string, machine: string): string {
  return `${visibleLine(tool) || "A call"} on ${machine}`;
}
