/** How `npm run bench` takes its arguments. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BENCHES, chooseBench } from "../../bench/benches.ts";
import { ROOT } from "../../scripts/tree.ts";

function bench(...args: string[]) {
  const program = join(ROOT, "bench/bench.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test.each([
  [[], "calls", []],
  [["--quick"], "calls", ["--quick"]],
  [["fleet"], "fleet", []],
  [["fleet", "--quick"], "fleet", ["--quick"]],
  [["--quick", "fleet"], "fleet", ["--quick"]],
  [["memory", "rest-8", "unread"], "memory", ["rest-8", "unread"]],
])("%j runs %s with %j", (args, name, rest) => {
  expect(chooseBench(args)).toEqual({ bench: BENCHES.find((one) => one.name === name), rest });
});

test("--help lists every bench, and runs none", () => {
  const { status, stdout } = bench("gate", "--help");
  expect(status).toBe(0);
  for (const { name, what, takes } of BENCHES)
    expect(stdout).toMatch(new RegExp(`^  ${name} +${what}: ${takes}$`, "m"));
});

test.each([
  [["nosuch"], 'There is no bench "nosuch".\nUsage: npm run bench'],
  [["fleat"], 'There is no bench "fleat". Did you mean "fleet"?\nUsage: npm run bench'],
  [["gate", "--quik"], "Unknown option '--quik'"],
  [["gate", "fleet"], "Unexpected argument 'fleet'"],
])("%j is refused without a stack, with the names that there are", (args, words) => {
  const { status, stdout, stderr } = bench(...args);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(words);
  expect(stderr).toContain("  terminals  keys and output");
  expect(stderr).not.toContain("    at ");
});
