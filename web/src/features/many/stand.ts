/** How a machine's part of a batch stands, in words, and how all of them ended. */
import type { Tone } from "../../ui/Status.tsx";
import { isRunning, type Run } from "../tools/run.ts";
import type { PartRun } from "./batch.ts";

/** `unknown`: it may have run, or not; `unsent`: it did not. */
export type Ending = "done" | "failed" | "stopped" | "unknown" | "unsent";

const ENDINGS: Readonly<Record<Ending, string>> = {
  done: "done",
  failed: "failed",
  stopped: "stopped",
  unknown: "not known",
  unsent: "not sent",
};

/** Undefined while it waits or runs. */
export function endingOf({ part, run }: PartRun): Ending | undefined {
  if (part.state === "waiting") return undefined;
  if (part.state === "dropped") return "stopped";
  if (part.state === "unsent") return "unsent";
  return run ? endingOfRun(run) : "unknown";
}

function endingOfRun(run: Run): Ending | undefined {
  const { state, outcome, answer, error, call, effect } = run;
  if (isRunning(run)) return undefined;
  if (state === "left" || !outcome) return "unknown";
  const code = error?.code ?? answer?.code;
  // A call that changes something and whose answer never came may have done so.
  if (code === "OUTCOME_UNKNOWN" || (error && call !== undefined && effect !== "read")) return "unknown";
  if (outcome.tone === "idle") return "stopped";
  return outcome.tone === "bad" ? "failed" : "done";
}

export interface Stand {
  readonly tone: Tone;
  readonly text: string;
}

export function standOf(each: PartRun): Stand {
  const { part, run } = each;
  if (part.state === "waiting") return { tone: "idle", text: "Waiting for its turn" };
  if (part.state === "dropped") return { tone: "idle", text: "Stopped before it began" };
  if (part.state === "unsent") return { tone: "warn", text: "Not sent" };
  if (!run) return { tone: "idle", text: "Cleared away" };
  if (run.state === "asked") return { tone: "warn", text: "Needs approval" };
  if (isRunning(run)) return { tone: "info", text: run.state === "sending" ? "Sending" : "Running" };
  if (run.state === "left") return { tone: "warn", text: "Not known" };
  if (endingOf(each) === "unknown") return { tone: "warn", text: "Not known" };
  return run.outcome ?? { tone: "idle", text: "Over" };
}

/** "2 done, 1 failed" */
export function summaryOf(endings: readonly (Ending | undefined)[]): string {
  const kinds: readonly Ending[] = ["done", "failed", "stopped", "unknown", "unsent"];
  return kinds
    .map((kind) => ({ kind, count: endings.filter((ending) => ending === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${ENDINGS[kind]}`)
    .join(", ");
}
