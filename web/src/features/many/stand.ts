/** How a machine's part of a batch stands, in words, and how all of them ended. */
import type { Tone } from "../../ui/Status.tsx";
import type { Outcome } from "../tools/outcome.ts";
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

const ENDING_BY_TONE: Readonly<Record<Outcome["tone"], Ending>> = {
  ok: "done",
  info: "done",
  idle: "stopped",
  warn: "unknown",
  bad: "failed",
};

function endingOfRun(run: Run): Ending | undefined {
  if (isRunning(run)) return undefined;
  if (run.state === "left" || !run.outcome) return "unknown";
  return ENDING_BY_TONE[run.outcome.tone];
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
