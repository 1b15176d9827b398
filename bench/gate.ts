/**
 * `npm run bench gate`: what deciding about one call takes, at the relay (grant, policy, questions) and on the device (the
 * same again, rights, closed paths), for small rules and for many. `--quick`: fewer rounds. Figures: bench/gate-results.json.
 */
import { ClosedPaths } from "@matrx/shared/access-rules.ts";
import { EFFECTS } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { askingRules, type Policy, refusalOf } from "@matrx/shared/policy.ts";
import { SECRET_PATHS } from "@matrx/shared/secret-paths.ts";
import { Gate } from "../agent/core/gate.ts";
import { describeMachine } from "./machine.ts";
import { Size } from "./size.ts";
import { type Spread, spreadOf } from "./spread.ts";
import { printMachine } from "./table.ts";

const size = new Size();
const ROUNDS = size.pick(50, 10, 1);
const CALLS = 10_000;
const AT_MOST_US = 10;
const RESULTS = new URL("./gate-results.json", import.meta.url);

const OWNER: GrantScope = { id: makeGrantId(), owner: true, effects: [...EFFECTS] };
const AI: GrantScope = {
  id: makeGrantId(),
  owner: false,
  effects: [...EFFECTS],
  paths: ["/home/ann/projects"],
  ask: [{ effects: ["write", "execute"] }],
};
const MANY: GrantScope = {
  ...AI,
  tools: Array.from({ length: 200 }, (_, n) => `server${n}__*`).concat("Write"),
  denied_paths: Array.from({ length: 100 }, (_, n) => `**/secret-${n}`),
  ask: Array.from({ length: 64 }, (_, n) => ({ tools: [`server${n}__*`], match: `*${n}*` })),
};
const MANY_RULES: Policy = {
  denied_tools: Array.from({ length: 200 }, (_, n) => `other${n}__*`),
  ask: Array.from({ length: 64 }, (_, n) => ({ tools: [`other${n}__*`] })),
};

const closed = new ClosedPaths(SECRET_PATHS, "/home/ann");
let turn = 0;

const WAYS: Record<string, () => unknown> = {
  "relay, the owner, no policy": () => atRelay(OWNER, {}),
  "relay, an AI grant that asks": () => atRelay(AI, {}),
  "relay, 200 tools, 128 questions": () => atRelay(MANY, MANY_RULES),
  "device, the owner, no policy": () => onDevice(OWNER, {}),
  "device, an AI grant that asks": () => onDevice(AI, {}),
  "device, 200 tools, 128 questions": () => onDevice(MANY, MANY_RULES),
  "device, a path against the default closed paths": () =>
    closed.closing(`/home/ann/projects/a/b/c/file-${turn++ % 100_000}.ts`),
};

function atRelay(grant: GrantScope, policy: Policy): unknown {
  const question = { tool: "Write", grant, policy, confinesCommands: true };
  return refusalOf(question, "relay") ?? askingRules({ tool: "Write", grant, policies: [policy] });
}

function onDevice(grant: GrantScope, policy: Policy): unknown {
  const gate = new Gate({ policy: { current: () => policy }, checkPaths: async () => undefined });
  return gate.admit("Write", { grant, relayPolicy: policy });
}

/** Microseconds for one decision. */
function measure(way: () => unknown): number {
  const began = process.hrtime.bigint();
  for (let n = 0; n < CALLS; n++) way();
  return Number(process.hrtime.bigint() - began) / CALLS / 1000;
}

const machine = describeMachine();
printMachine(machine);
for (const way of Object.values(WAYS)) measure(way);
const rounds = Array.from({ length: ROUNDS }, () => Object.values(WAYS).map(measure));
const results = Object.keys(WAYS).map((what, index) => {
  const us = spreadOf(rounds.map((round) => round[index] ?? Number.NaN));
  return { what, us, at_most: AT_MOST_US, reached: us.median <= AT_MOST_US };
});
for (const { what, us, reached } of results)
  console.log(
    `${what.padEnd(50)} ${shown(us)} us${reached ? "" : `, and should take at most ${AT_MOST_US}`}`,
  );
const run = { date: new Date().toISOString(), quick: size.quick, rounds: ROUNDS, machine, results };
size.keep(RESULTS, JSON.stringify(run, null, 2));

function shown({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} [${min.toFixed(2)}..${max.toFixed(2)}]`;
}
