/** A tool that runs on several machines: the same input for all, and for each machine a call of its own. */
import type { Tool } from "../../data/tools.ts";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { isRunning, type Run } from "../tools/run.ts";

/** One machine's part of it. */
export interface Part {
  readonly device: string;
  /** The machine's name when it began. */
  readonly machine: string;
  readonly effect: Tool["effect"];
  /** `dropped`: stopped before its turn; `unsent`: the page was closed before its turn. */
  readonly state: "waiting" | "sent" | "dropped" | "unsent";
  /** The id of its call among the tab's runs, once it is sent. */
  readonly run?: number | undefined;
}

export interface Batch {
  readonly id: number;
  readonly tool: string;
  readonly input: ToolInput;
  /** In milliseconds. */
  readonly began: number;
  readonly parts: readonly Part[];
}

/** A part, and its call as the tab's runs have it: undefined when it was not sent, or cleared away there. */
export interface PartRun {
  readonly part: Part;
  readonly run: Run | undefined;
}

export function withRuns({ parts }: Batch, runs: readonly Run[]): PartRun[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  return parts.map((part) => ({ part, run: part.run === undefined ? undefined : byId.get(part.run) }));
}

export function isUnderWay({ part, run }: PartRun): boolean {
  return part.state === "waiting" || (run !== undefined && isRunning(run));
}

/** As it is after the page was loaded again. */
export function reloadedBatch(batch: Batch): Batch {
  const parts = batch.parts.map(
    (part): Part => (part.state === "waiting" ? { ...part, state: "unsent" } : part),
  );
  return { ...batch, parts };
}

/** Whether this is what a tab keeps of them. */
export function areBatches(kept: unknown): kept is Batch[] {
  return Array.isArray(kept) && kept.every(isBatch);
}

function isBatch(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, tool, input, began, parts }: Partial<Record<keyof Batch, unknown>> = value;
  return (
    [id, began].every(Number.isFinite) &&
    typeof tool === "string" &&
    typeof input === "object" &&
    input !== null &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}

function isPart(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { device, machine, effect, state }: Partial<Record<keyof Part, unknown>> = value;
  return [device, machine, effect, state].every((text) => typeof text === "string");
}
