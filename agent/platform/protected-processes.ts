/** Processes that no tool ends: the system's first, the agent, what began it, and other programs of Matrx. */
import type { ProcessFacts } from "./process-list.ts";

export interface OwnProcess {
  readonly pid: number;
  /** Paths that only programs of Matrx are started with: its protected folders. */
  readonly marks: readonly string[];
}

/** An agent or a local server, by whatever path it was started. */
const AGENT = /(?:^|[\s/\\])matrx(?:\.js)?["']?\s+(?:up|serve)\b/;

/** Why a process is not ended, in words, or undefined. */
export function protectionOf(
  target: ProcessFacts,
  all: readonly ProcessFacts[],
  own: OwnProcess,
): string | undefined {
  if (target.pid <= 1) return "it is the system's first process";
  if (target.pid === own.pid) return "it is the agent itself";
  if (ancestorsOf(own.pid, all).has(target.pid)) return "the agent was started by it";
  const { command } = target;
  const isMatrx = AGENT.test(command) || own.marks.some((mark) => command.includes(mark));
  return isMatrx ? "it is a Matrx program on this machine" : undefined;
}

function ancestorsOf(pid: number, all: readonly ProcessFacts[]): Set<number> {
  const parents = new Map(all.map((row) => [row.pid, row.parent]));
  const found = new Set<number>();
  for (let at = parents.get(pid); at !== undefined && at > 0 && !found.has(at); at = parents.get(at))
    found.add(at);
  return found;
}
