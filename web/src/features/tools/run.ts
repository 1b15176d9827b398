/** One call that was made in this tab, as the page shows it. */
import type { ToolDescription } from "@matrx/shared/tool.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import type { Trouble } from "../../ui/Problem.tsx";
import type { ToolInput } from "../../ui/schema/draft.ts";
import type { Outcome } from "./outcome.ts";

export type Progress = Pick<Extract<CallEvent, { type: "progress" }>, "progress" | "total" | "message">;

export interface Run {
  readonly id: number;
  readonly device: string;
  readonly tool: string;
  readonly effect: ToolDescription["effect"];
  readonly input: ToolInput;
  /** In milliseconds. */
  readonly began: number;
  readonly ended?: number;
  /** `asked`: a person is; `left`: the page was closed while it ran, and nobody can tell how it ended. */
  readonly state: "sending" | "running" | "asked" | "over" | "left";
  /** Its name at the relay, once that is known. */
  readonly call?: string;
  /** Its name on the direct connection, if it has an effect: this computer can be asked by it. */
  readonly direct?: string;
  /** What stands in the way of its answer. */
  readonly obstacle?: string | undefined;
  readonly progress?: Progress;
  /** Until when the person who is asked may answer. */
  readonly expires?: string;
  readonly outcome?: Outcome;
  /** Until there are too many, or the page is loaded again. */
  readonly answer?: CallAnswer | undefined;
  readonly error?: Trouble | undefined;
}

export function isRunning({ state }: Pick<Run, "state">): boolean {
  return state === "sending" || state === "running" || state === "asked";
}

/** What is kept of it beyond the page: what answered may be long, and is in the machine's record. */
export function keptOf({ obstacle: _, progress: __, answer: ___, error: ____, ...kept }: Run): Run {
  return kept;
}

/** A computer that forgot the call would run it once more: later, nobody expects that. In milliseconds. */
const ASKED_WITHIN = 3_600_000;

/** As it is after the page was loaded again: the relay, or this computer, can be asked about a call that has a name there. */
export function reloaded(run: Run): Run {
  if (!isRunning(run)) return run;
  if (run.direct !== undefined && run.state !== "sending" && Date.now() - run.began < ASKED_WITHIN)
    return { ...run, obstacle: "Asking this computer how it stands, once it is connected directly …" };
  if (run.call === undefined) return { ...run, state: "left" };
  return { ...run, obstacle: "Asking the relay how it stands …" };
}

/** What is to be said of one whose end nobody can tell. */
export function leftWords({ effect, call }: Run): string {
  if (effect === "read")
    return "The page was closed while it ran. It only reads, so nothing was changed: just run it again.";
  const why = call === undefined ? "" : ", and the relay does not know it any more";
  return `The page was closed while it ran${why}. Check what it changed before you run it again.`;
}

/** Tells whether what a tab kept, of whichever release, is as pages need it. */
export function areRuns(kept: unknown): kept is Run[] {
  return Array.isArray(kept) && kept.every(isRun);
}

function isRun(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, device, tool, input, began, state }: Partial<Record<keyof Run, unknown>> = value;
  return (
    [id, began].every(Number.isFinite) &&
    [device, tool, state].every((text) => typeof text === "string") &&
    typeof input === "object" &&
    input !== null
  );
}
