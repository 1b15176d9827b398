/** How a call ended, in a word or two: a command's exit code is told as such. */
import type { CallAnswer } from "../../relay/call-events.ts";
import { duration } from "../../ui/format.ts";
import type { Tone } from "../../ui/Status.tsx";

export interface Outcome {
  readonly tone: Tone;
  readonly text: string;
  /** How long it took, beside a text that does not tell. */
  readonly after?: string;
}

type Ended = Pick<CallAnswer, "type" | "code" | "metadata">;

/** `took`: in milliseconds. */
export function outcomeOf({ type, code, metadata = {} }: Ended, took: number): Outcome {
  if (code === "CANCELLED") return { tone: "idle", text: `Stopped after ${duration(took)}` };
  if (code === "OUTCOME_UNKNOWN") return { tone: "warn", text: "Not known" };
  if (type === "error") return { tone: "bad", text: `Failed after ${duration(took)}` };
  const { exit_code: exit, status } = metadata;
  if (status === "running") return { tone: "info", text: "It goes on in the background" };
  if (typeof exit === "number" && exit !== 0)
    return { tone: "bad", text: `Exit code ${exit}`, after: `after ${duration(took)}` };
  return { tone: "ok", text: `Answered in ${duration(took)}` };
}
