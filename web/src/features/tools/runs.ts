/** The calls that were made in this tab, as pages show them: none is taken for another. */
import { create } from "zustand";
import { keepInTab, keptInTab, onForget } from "../../base/tab-store.ts";
import { areRuns, isRunning, keptOf, type Run, reloaded } from "./run.ts";
import { withinLimits, withoutOldAnswers } from "./run-limits.ts";

interface Runs {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Which one each tool's page shows, by device and tool. */
  readonly shown: ReadonlyMap<string, number>;
}

const KEPT = "runs";

export const useRuns = create<Runs>(() => {
  const runs = (keptInTab(KEPT, areRuns) ?? []).map(reloaded);
  const running = runs.filter(isRunning).toReversed();
  return { runs, shown: new Map(running.map(({ device, tool, id }) => [keyOf(device, tool), id])) };
});

onForget(() => useRuns.setState({ runs: [], shown: new Map() }));

/** Adds one that begins, and shows it at its tool. */
export function addRun(run: Run): void {
  useRuns.setState(({ runs }) => ({ runs: withinLimits([run, ...runs], run.device) }));
  showRun(run);
  keepRuns();
}

export function showRun({ device, tool, id }: Pick<Run, "device" | "tool" | "id">): void {
  useRuns.setState(({ shown }) => ({ shown: new Map(shown).set(keyOf(device, tool), id) }));
}

/** The call that a tool's page shows. */
export function shownRun({ runs, shown }: Runs, device: string, tool: string): Run | undefined {
  const id = shown.get(keyOf(device, tool));
  return runs.find((run) => run.id === id);
}

/** Those that run stay. */
export function clearRuns(device: string): void {
  useRuns.setState(({ runs }) => ({ runs: runs.filter((run) => run.device !== device || isRunning(run)) }));
  keepRuns();
}

export function changeRun(id: number, news: Partial<Run>): void {
  useRuns.setState(({ runs }) => {
    const changed = runs.map((run) => (run.id === id ? { ...run, ...news } : run));
    return { runs: news.answer ? withoutOldAnswers(changed) : changed };
  });
  if (news.state) keepRuns();
}

/** The older half goes while there is no room. */
function keepRuns(): void {
  let kept = useRuns.getState().runs.map(keptOf);
  while (!keepInTab(KEPT, kept) && kept.length > 0) kept = kept.slice(0, Math.floor(kept.length / 2));
}

function keyOf(device: string, tool: string): string {
  return `${device} ${tool}`;
}
