/**
 * How many files a program of the user may have open. Node raises its own limit as far as it may, and programs that it starts
 * would inherit that: some look at each number up to the limit, and `select` knows none above 1023.
 */
import { readFileSync } from "node:fs";
import { findProgram } from "./run-program.ts";

/** The limit of the shell that started this program; undefined: it is this program's own, or not known. */
const OF_LOGIN = process.platform === "linux" ? limitOfAncestors() : undefined;

interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

/** In the words of a shell, for a script of its own. */
export function setOpenFiles(): string {
  return OF_LOGIN === undefined ? ":" : `ulimit -Sn ${OF_LOGIN}`;
}

/** The program with the user's limit instead of this program's, where the machine has what sets it. */
export function withOpenFiles({ file, args }: Program): Program {
  if (OF_LOGIN === undefined) return { file, args };
  // A shell would leave out some of the program's variables.
  const prlimit = findProgram("prlimit", { PATH: "/usr/bin:/bin" });
  return prlimit === undefined
    ? { file, args }
    : { file: prlimit, args: [`--nofile=${OF_LOGIN}:`, "--", file, ...args] };
}

/** That of the next one whose limit is lower: those in between are Node, or started by it. */
function limitOfAncestors(): number | undefined {
  try {
    const own = softLimitOf("self");
    for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
      const limit = softLimitOf(`${pid}`);
      if (limit < own) return limit;
    }
  } catch {
    // One of them has ended, or is not ours to look at.
  }
  return undefined;
}

function softLimitOf(process: string): number {
  const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${process}/limits`, "utf8")) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

function parentOf(pid: number): number {
  const [, parent] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(parent);
}
