/** The benches that `npm run bench` knows, and how its arguments choose one. */

import { Problem } from "../scripts/problem.ts";
import { nearestName } from "../shared/effects.ts";

interface Bench {
  readonly name: string;
  readonly what: string;
  readonly takes: string;
  /** Whether it starts a relay, which is built first. */
  readonly needsBuild: boolean;
  /** Measures while its module loads, and reads its options from process.argv. */
  readonly run: () => Promise<unknown>;
}

/** Runs when no name is given. */
const MAIN: Bench = {
  name: "calls",
  what: "a call through our relay, beside bare ones",
  takes: "about five minutes",
  needsBuild: true,
  run: () => import("./calls.ts"),
};

export const BENCHES: readonly Bench[] = [
  MAIN,
  {
    name: "fleet",
    what: "thousands of idle devices",
    takes: "about ten minutes",
    needsBuild: true,
    run: () => import("./fleet.ts"),
  },
  {
    name: "memory",
    what: "large results, read and unread",
    takes: "about five minutes",
    needsBuild: true,
    run: () => import("./memory.ts"),
  },
  {
    name: "audit",
    what: "what the record adds to a call",
    takes: "about a minute",
    needsBuild: true,
    run: () => import("./audit.ts"),
  },
  {
    name: "mcp",
    what: "calls over MCP",
    takes: "two minutes",
    needsBuild: true,
    run: () => import("./mcp.ts"),
  },
  {
    name: "beside",
    what: "a call at this tree's relay, beside DIR's",
    takes: "about four minutes",
    needsBuild: true,
    run: () => import("./beside.ts"),
  },
  {
    name: "gate",
    what: "deciding about one call, in this process",
    takes: "under a minute",
    needsBuild: false,
    run: () => import("./gate.ts"),
  },
  {
    name: "strangers",
    what: "what the time of a refusal tells; prints only",
    takes: "a minute",
    needsBuild: true,
    run: () => import("./strangers.ts"),
  },
  {
    name: "bytes",
    what: "files, beside scp",
    takes: "about five minutes",
    needsBuild: true,
    run: () => import("./bytes.ts"),
  },
  {
    name: "terminals",
    what: "keys and output of a terminal, beside ssh",
    takes: "two minutes",
    needsBuild: true,
    run: () => import("./terminals.ts"),
  },
  {
    name: "search",
    what: "Grep, Glob and search_files, beside rg and find",
    takes: "about four minutes",
    needsBuild: false,
    run: () => import("./search.ts"),
  },
  {
    name: "sandbox",
    what: "a command with and without the sandbox, in this process",
    takes: "under a minute",
    needsBuild: false,
    run: () => import("./sandbox.ts"),
  },
  {
    name: "web",
    what: "the web app as a phone loads it, by Lighthouse",
    takes: "three minutes",
    needsBuild: true,
    run: () => import("./web.ts"),
  },
];

export const USAGE = `npm run bench [NAME] [-- --quick | --once]

${BENCHES.map(({ name, what, takes }) => `  ${name.padEnd(9)}  ${what}: ${takes}`).join("\n")}

  Without a name: ${MAIN.name}.
  --quick  measures less, for a first look; memory takes names of its cases instead
  --once   runs each thing once, to see that it runs; keeps no figures

Examples:
  npm run bench
  npm run bench -- --quick
  npm run bench fleet -- --quick
  npm run bench memory rest-8
  npm run bench beside ../before   (a clone of the commit before, built)`;

/** The bench that the arguments name, and what is left of them for it. Throws Problem. */
export function chooseBench(args: readonly string[]): { bench: Bench; rest: string[] } {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const name = args[at];
  if (name === undefined) return { bench: MAIN, rest: [...args] };
  const bench = BENCHES.find((one) => one.name === name);
  if (!bench) throw new Problem(`${unknown(name)}\nUsage: ${USAGE}`);
  return { bench, rest: args.toSpliced(at, 1) };
}

function unknown(name: string): string {
  const near = nearestName(
    name,
    BENCHES.map((bench) => bench.name),
  );
  return `There is no bench "${name}".${near ? ` Did you mean "${near}"?` : ""}`;
}
