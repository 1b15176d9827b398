/** How many calls, and how much of what they answered, a tab keeps. */
import { isRunning, type Run } from "./run.ts";

const PER_DEVICE = 50;
/** Answers of all machines together, and their characters; the newest is always kept. */
const ANSWERS = 100;
const CHARACTERS = 40_000_000;

/** The newest calls of a machine, and all that run. */
export function withinLimits(runs: readonly Run[], device: string): Run[] {
  let count = 0;
  return runs.filter((run) => {
    if (run.device !== device) return true;
    count += 1;
    return count <= PER_DEVICE || isRunning(run);
  });
}

/** The same calls, the newest first, with the newest answers. */
export function withoutOldAnswers(runs: readonly Run[]): Run[] {
  let count = 0;
  let characters = 0;
  return runs.map((run) => {
    if (!run.answer) return run;
    count += 1;
    characters += sizeOf(run.answer);
    return count === 1 || (count <= ANSWERS && characters <= CHARACTERS)
      ? run
      : { ...run, answer: undefined };
  });
}

function sizeOf({ output, image, content = [] }: NonNullable<Run["answer"]>): number {
  const parts = content.map((part) => ("data" in part ? part.data.length : 1_000));
  return output.length + (image?.base64_data.length ?? 0) + parts.reduce((sum, part) => sum + part, 0);
}
