/** What a machine's line says below its state: the problem and what to do, or the beginning of its answer. */
import { visibleLine } from "../../ui/visible-text.ts";
import { isRunning, leftWords } from "../tools/run.ts";
import type { PartRun } from "./batch.ts";
import { endingOf } from "./stand.ts";

export interface Said {
  readonly text: string;
  /** The tool's own words. */
  readonly isOutput: boolean;
}

/** Characters of a line that are shown. */
const SHOWN = 160;

export function saidOf(each: PartRun): Said | undefined {
  const { part, run } = each;
  if (part.state === "unsent") return note("The page was closed before its turn.");
  if (part.state !== "sent") return undefined;
  if (!run) return note("It was cleared from this tab's history.");
  if (isRunning(run)) return run.obstacle === undefined ? undefined : note(run.obstacle);
  const { error, answer } = run;
  if (run.state === "left" && !error) return note(leftWords(run));
  const problem = error ?? (answer?.type === "error" ? { ...answer, message: answer.output } : undefined);
  if (problem && endingOf(each) !== "stopped") {
    const hint = problem.hint === undefined ? "" : ` What to do: ${problem.hint}`;
    return note(firstLine(problem.message) + hint);
  }
  const text = firstLine(answer?.output ?? "");
  return text === "" ? undefined : { text, isOutput: true };
}

function note(text: string): Said {
  return { text, isOutput: false };
}

/** Of a long answer only the beginning is looked at. */
function firstLine(text: string): string {
  const line =
    text
      .slice(0, 4 * SHOWN)
      .split("\n")
      .find((each) => each.trim() !== "") ?? "";
  return visibleLine(line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line);
}
