/** The tools that this tab runs on several machines: a few calls at once, the others wait for their turn. They go on at other pages. */
import { create } from "zustand";
import { keepInTab, keptInTab, onForget } from "../../base/tab-store.ts";
import { say } from "../../ui/notices.ts";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { isRunning } from "../tools/run.ts";
import { onRunEnd, startRun, stopRun } from "../tools/running.ts";
import { useRuns } from "../tools/runs.ts";
import { mostAtOnce } from "./at-once.ts";
import {
  areBatches,
  type Batch,
  isUnderWay,
  type Part,
  type PartRun,
  reloadedBatch,
  withRuns,
} from "./batch.ts";
import type { Target } from "./plan.ts";
import { endingOf, summaryOf } from "./stand.ts";

interface Batches {
  /** The newest first. */
  readonly batches: readonly Batch[];
}

const KEPT = "batches";
/** Batches that are kept when they are over. */
const MOST = 5;

export const useBatches = create<Batches>(() => ({
  batches: (keptInTab(KEPT, areBatches) ?? []).map(reloadedBatch),
}));

/** Pages that show how they go: what ends while nobody looks is told as a notice. */
let watchers = 0;

onForget(() => useBatches.setState({ batches: [] }));

onRunEnd((run) => {
  const batch = useBatches.getState().batches.find(({ parts }) => parts.some((part) => part.run === run));
  if (batch) ended(batch);
});

/** Tells that a page shows them, until the returned function is called. */
export function watchBatches(): () => void {
  watchers += 1;
  return () => {
    watchers -= 1;
  };
}

export function startBatch(tool: string, input: ToolInput, targets: readonly Target[]): void {
  const parts = targets.map(
    ({ id, name, tool: { effect } }): Part => ({ device: id, machine: name, effect, state: "waiting" }),
  );
  const began = Date.now();
  const batch = { id: began, tool, input, began, parts };
  const kept = useBatches.getState().batches.filter((each, at) => at < MOST - 1 || isBatchUnderWay(each));
  useBatches.setState({ batches: [batch, ...kept] });
  fill();
}

/** Makes the calls of some of its machines anew, with the same input. */
export function runAgain(batch: number, devices: readonly string[]): void {
  change(batch, (part) =>
    devices.includes(part.device) ? { ...part, state: "waiting", run: undefined } : part,
  );
  fill();
}

/** Stops a machine's call; one that waits is not made. Throws ApiError. */
export async function stopPart({ id }: Batch, device: string): Promise<void> {
  const part = batchOf(id)?.parts.find((each) => each.device === device);
  change(id, (each) => (each === part && each.state === "waiting" ? { ...each, state: "dropped" } : each));
  if (part?.run !== undefined) await stopRun({ id: part.run });
}

/** Stops them all. Throws the first problem, after all were asked. */
export async function stopBatch(batch: Batch): Promise<void> {
  change(batch.id, (part) => (part.state === "waiting" ? { ...part, state: "dropped" } : part));
  const devices = (batchOf(batch.id)?.parts ?? []).map(({ device }) => device);
  const asked = await Promise.allSettled(devices.map((device) => stopPart(batch, device)));
  const failed = asked.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
}

export function isBatchUnderWay(batch: Batch): boolean {
  return withRuns(batch, useRuns.getState().runs).some(isUnderWay);
}

/** Makes the next calls, as many as fit; those that waited longest come first. */
function fill(): void {
  const { batches } = useBatches.getState();
  let room = mostAtOnce() - batches.flatMap(runningOf).length;
  for (const { id, tool, input, parts } of batches.toReversed()) {
    for (const { device, effect } of parts.filter(({ state }) => state === "waiting")) {
      if (room <= 0) return keep();
      room -= 1;
      const run = startRun(device, { name: tool, effect }, input);
      change(id, (each) => (each.device === device ? { ...each, state: "sent", run } : each));
    }
  }
  keep();
}

function runningOf(batch: Batch): PartRun[] {
  return withRuns(batch, useRuns.getState().runs).filter(({ run }) => run && isRunning(run));
}

function ended({ id }: Batch): void {
  fill();
  const batch = batchOf(id);
  if (!batch || watchers > 0 || isBatchUnderWay(batch)) return;
  say(`${batch.tool}: ${summaryOf(withRuns(batch, useRuns.getState().runs).map(endingOf))}`);
}

function batchOf(id: number): Batch | undefined {
  return useBatches.getState().batches.find((batch) => batch.id === id);
}

function change(id: number, changed: (part: Part) => Part): void {
  useBatches.setState(({ batches }) => ({
    batches: batches.map((batch) =>
      batch.id === id ? { ...batch, parts: batch.parts.map(changed) } : batch,
    ),
  }));
  keep();
}

/** The older ones go while there is no room. */
function keep(): void {
  let kept = useBatches.getState().batches;
  while (!keepInTab(KEPT, kept) && kept.length > 0) kept = kept.slice(0, Math.floor(kept.length / 2));
}
