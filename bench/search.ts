/**
 * `npm run bench search`: Grep, Glob and search_files beside `rg` and `find`, on a tree of 50,000 files and on a deep
 * one of 30,000 folders. `--quick`: fewer rounds. All figures: bench/search-results.json.
 */
import { SearchEngines } from "../agent/search/engines.ts";
import { findRipgrep } from "../agent/search/find-ripgrep.ts";
import { describeMachine } from "./machine.ts";
import { shuffled } from "./rounds.ts";
import { DEEP_TREE, growDeepTree, growTree, TREE } from "./search/tree.ts";
import { program, ripgrep, SAME_FLAGS, tools, type Way } from "./search/ways.ts";
import { Size } from "./size.ts";
import { ratioOf, spreadOf } from "./spread.ts";
import { printMachine, withSpread } from "./table.ts";

const size = new Size();
const ROUNDS = size.pick(15, 5, 1);
/** What takes seconds is measured in fewer. */
const SLOW_ROUNDS = size.pick(3, 3, 1);
const RESULTS = new URL("./search-results.json", import.meta.url);
const AT_MOST = 1.3;
const WITH_RIPGREP = new SearchEngines();
const WITHOUT = new SearchEngines({ fromPackage: async () => undefined, ofSystem: () => undefined });

interface Contestant {
  readonly name: string;
  readonly way: Way;
  readonly slow: boolean;
  readonly ms: number[];
  results: number;
}

/** The first contestant is the base; those named in `mustKeepUp` must not be much slower. */
interface Job {
  readonly title: string;
  readonly contestants: readonly Contestant[];
  readonly mustKeepUp: readonly string[];
}

const found = await findRipgrep();
if (!found) throw new Error("there is no ripgrep to compare with: npm install");
const machine = describeMachine();
printMachine(machine);
console.log(`ripgrep ${found.version}; growing the trees ...`);
const tree = growTree(size.pick(TREE, TREE, { files: 1000 }));
const deepTree = growDeepTree(size.pick(DEEP_TREE, DEEP_TREE, { folders: 300, files: 1700 }));
const removeTrees = () => {
  tree.remove();
  deepTree.remove();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    removeTrees();
    process.exit(1);
  });
}
try {
  const jobs = [
    ...jobsOf(found.file, tree.root),
    byName(found.file, "search_files, 50,000 files in 1,000 folders", tree.root, "file-27"),
    byName(
      found.file,
      "search_files, 170,000 files in 30,000 folders, up to 14 deep",
      deepTree.root,
      "needle",
    ),
    newest(found.file, "Glob **/*.ts, the newest 1,000 of 34,000 in 30,000 folders", deepTree.root),
  ];
  for (let round = size.pick(0, 0, 1); round <= ROUNDS; round++) await runRound(jobs, round);
  report(jobs);
} finally {
  removeTrees();
}

function jobsOf(rg: string, root: string): Job[] {
  const ours = tools(root, WITH_RIPGREP);
  const own = tools(root, WITHOUT);
  const grep = (title: string, pattern: string): Job => ({
    title: `Grep ${title}`,
    contestants: [
      contestant("rg, same flags", ripgrep(rg, root, [...SAME_FLAGS, pattern], 100)),
      contestant("rg --line-number", ripgrep(rg, root, ["--line-number", pattern], 100)),
      contestant("Grep", ours.grep({ pattern })),
      contestant(
        "rg, same flags, --sort=path",
        ripgrep(rg, root, [...SAME_FLAGS, "--sort=path", pattern], 100),
      ),
      contestant("Grep in order of path", ours.grep({ pattern, after: "" })),
      contestant("Grep without ripgrep", own.grep({ pattern }), true),
    ],
    mustKeepUp: ["Grep"],
  });
  return [
    grep("100 results, in nearly every file", "function"),
    grep("100 results of 125, one in 400 files", "needle"),
    grep("10 results, the whole tree", "thimble"),
    newest(rg, "Glob **/*.ts, the newest 1,000 of 10,000", root),
  ];
}

function newest(rg: string, title: string, root: string): Job {
  const listed = ["--files", "--glob=**/*.ts"];
  return {
    title,
    contestants: [
      contestant("rg --files, neither times nor order", ripgrep(rg, root, listed)),
      contestant("rg --files --sortr=modified", ripgrep(rg, root, [...listed, "--sortr=modified"])),
      contestant("Glob", tools(root, WITH_RIPGREP).glob({ pattern: "**/*.ts" })),
      contestant("Glob without ripgrep", tools(root, WITHOUT).glob({ pattern: "**/*.ts" })),
    ],
    mustKeepUp: [],
  };
}

/** `rg` finds files only, and neither of the two chooses the best or tells sizes and times. */
function byName(rg: string, title: string, root: string, query: string): Job {
  const all = ["--files", "--hidden", "--no-ignore", `--iglob=*${query}*`];
  const { searchFiles } = tools(root, WITH_RIPGREP);
  return {
    title,
    contestants: [
      contestant("find -iname", program("find", root, [".", "-iname", `*${query}*`])),
      contestant("rg --files --iglob", ripgrep(rg, root, all)),
      contestant("search_files, the best 100", searchFiles({ query, show_hidden: true })),
      contestant("search_files, all", searchFiles({ query, show_hidden: true, limit: 5000 })),
    ],
    mustKeepUp: [],
  };
}

function contestant(name: string, way: Way, slow = false): Contestant {
  return { name, way, slow, ms: [], results: 0 };
}

/** Round 0 warms up. */
async function runRound(jobs: readonly Job[], round: number): Promise<void> {
  for (const { contestants } of jobs) {
    for (const one of shuffled(
      contestants.filter(({ slow }) => !slow || (round > 0 && round <= SLOW_ROUNDS)),
    )) {
      const began = performance.now();
      one.results = await one.way();
      if (round > 0) one.ms.push(performance.now() - began);
    }
  }
}

function report(jobs: readonly Job[]): void {
  const tables = jobs.map(({ title, contestants, mustKeepUp }) => {
    const base = contestants[0]?.ms ?? [];
    const rows = contestants.map(({ name, ms, results }) => {
      const ratio = ratioOf(ms, base);
      return {
        name,
        results,
        ms: spreadOf(ms),
        ratio,
        ...(mustKeepUp.includes(name) && ratio && { at_most: AT_MOST, reached: ratio.median <= AT_MOST }),
      };
    });
    return { title, rows };
  });
  for (const { title, rows } of tables) {
    console.log(`\n${title} (ratios to the first)`);
    for (const { name, ms, ratio, results, reached } of rows) {
      const verdict =
        reached === undefined ? "" : `  at most ${AT_MOST}: ${reached ? "reached" : "NOT reached"}`;
      console.log(
        `  ${name.padEnd(36)} ${withSpread(ms, 1).padStart(22)} ms  ${withSpread(ratio, 2).padStart(20)}  ${results} results${verdict}`,
      );
    }
  }
  const { files, bytes } = tree;
  const run = { date: new Date().toISOString(), quick: size.quick, rounds: ROUNDS, machine, files, bytes };
  size.keep(RESULTS, JSON.stringify({ ...run, ripgrep: found?.version, tables }, rounded, 2));
  console.log(`\nmedian [min..max] over ${ROUNDS} rounds; all figures: ${RESULTS.pathname}`);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
}
