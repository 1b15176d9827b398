/** The calls that were made in this tab: they go on while the person looks at other tools, and none is taken for another. */
import { create } from "zustand";
import { keepInTab, keptInTab, onForget } from "../../app/tab-store.ts";
import type { CallAnswer, CallEvent } from "../../relay/call-events.ts";
import { refreshDevices } from "../../relay/devices.ts";
import type { Tool } from "../../relay/tools.ts";
import { newCall, type ToolCall } from "../../relay/way.ts";
import { LiveOutput } from "../../ui/output/live-output.ts";
import { troubleOf } from "../../ui/Problem.tsx";
import type { ToolInput } from "../../ui/schema/draft.ts";
import { outcomeOf } from "./outcome.ts";
import { areRuns, keptOf, type Run, reloaded } from "./run.ts";
import { withinLimits, withoutOldAnswers } from "./run-limits.ts";

interface Runs {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Which one each tool's page shows, by device and tool. */
  readonly shown: ReadonlyMap<string, number>;
}

const KEPT = "runs";

export const useRuns = create<Runs>(() => ({
  runs: (keptInTab(KEPT, areRuns) ?? []).map(reloaded),
  shown: new Map(),
}));

const calls = new Map<number, ToolCall>();
const lives = new Map<number, LiveOutput>();
let lastId = 0;

onForget(() => {
  for (const call of calls.values()) call.leave();
  calls.clear();
  lives.clear();
  useRuns.setState({ runs: [], shown: new Map() });
});

export interface StartedRun {
  readonly id: number;
  /** Resolves when it is over, however it ended. */
  readonly ended: Promise<void>;
}

/** Makes a call, and shows it at its tool. */
export function startRun(
  device: string,
  { name: tool, effect }: Pick<Tool, "name" | "effect">,
  input: ToolInput,
): StartedRun {
  const id = newId();
  const call = newCall(device, { name: tool, effect });
  calls.set(id, call);
  lives.set(id, new LiveOutput());
  const run: Run = { id, device, tool, effect, input, began: Date.now(), state: "sending" };
  useRuns.setState(({ runs }) => ({ runs: withinLimits([run, ...runs], device) }));
  showRun(run);
  return { id, ended: follow(run, call) };
}

/** Never one that was used in this tab, though its call was cleared away since: others may know it by that. */
function newId(): number {
  lastId = Math.max(lastId + 1, Date.now());
  return lastId;
}

export function showRun({ device, tool, id }: Pick<Run, "device" | "tool" | "id">): void {
  useRuns.setState(({ shown }) => ({ shown: new Map(shown).set(keyOf(device, tool), id) }));
}

/** The call that a tool's page shows. */
export function shownRun({ runs, shown }: Runs, device: string, tool: string): Run | undefined {
  const id = shown.get(keyOf(device, tool));
  return runs.find((run) => run.id === id);
}

/** Its output as it comes; undefined: the page was loaded again since. */
export function liveOf({ id }: Run): LiveOutput | undefined {
  return lives.get(id);
}

/** Throws ApiError. */
export async function stopRun({ id }: Pick<Run, "id">): Promise<void> {
  await calls.get(id)?.stop();
}

/** Those that run stay. */
export function clearRuns(device: string): void {
  useRuns.setState(({ runs }) => ({
    runs: runs.filter((run) => run.device !== device || calls.has(run.id)),
  }));
  keep();
}

async function follow({ id, input, began }: Run, call: ToolCall): Promise<void> {
  try {
    const answer = await call.run(input, {
      onCall: () => change(id, { state: "running", obstacle: undefined, ...(call.id && { call: call.id }) }),
      onEvent: (event) => take(id, event),
      onTrouble: (obstacle) => change(id, { obstacle }),
    });
    if (answer) finish(id, answer, Date.now() - began);
  } catch (error) {
    const trouble = troubleOf(error);
    const { code } = trouble as Pick<CallAnswer, "code">;
    const outcome = outcomeOf({ type: "error", ...(code && { code }) }, Date.now() - began);
    change(id, { state: "over", ended: Date.now(), error: trouble, outcome });
  } finally {
    calls.delete(id);
    keep();
    await refreshDevices();
  }
}

function finish(id: number, answer: CallAnswer, took: number): void {
  lives.get(id)?.flush();
  change(id, { state: "over", ended: Date.now(), outcome: outcomeOf(answer, took), answer });
  useRuns.setState(({ runs }) => ({ runs: withoutOldAnswers(runs) }));
  for (const run of useRuns.getState().runs) if (run.state === "over" && !run.answer) lives.delete(run.id);
}

function take(id: number, event: CallEvent): void {
  if (event.type === "output" || event.type === "gap") return lives.get(id)?.take(event);
  if (event.type === "approval") {
    const isAsked = event.state === "pending";
    return change(id, { state: isAsked ? "asked" : "running", expires: event.expires });
  }
  const { progress, total, message } = event;
  change(id, { progress: { progress, ...(total !== undefined && { total }), ...(message && { message }) } });
}

function change(id: number, news: Partial<Run>): void {
  useRuns.setState(({ runs }) => ({ runs: runs.map((run) => (run.id === id ? { ...run, ...news } : run)) }));
  if (news.state) keep();
}

/** The older half goes while there is no room. */
function keep(): void {
  let kept = useRuns.getState().runs.map(keptOf);
  while (!keepInTab(KEPT, kept) && kept.length > 0) kept = kept.slice(0, Math.floor(kept.length / 2));
}

function keyOf(device: string, tool: string): string {
  return `${device} ${tool}`;
}
