import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { examine } from "../../../agent/cli/run/doctor.ts";
import { ok, optionalPrograms } from "../../../agent/doctor/parts.ts";
import { darwin } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { runMatrx } from "./matrx.ts";

interface Found {
  name: string;
  state: string;
  fact: string;
  hint?: string;
}

test("doctor looks at machine, parts and hops, and says what to do", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  const { code, stdout } = await runMatrx(["doctor", "--json"], { home });
  const found = JSON.parse(stdout) as Record<"machine" | "parts" | "hops", Found[]>;
  const states = (group: Found[]) => Object.fromEntries(group.map(({ name, state }) => [name, state]));
  expect(states(found.machine)).toMatchObject({ program: "ok", folders: "ok", disk: "ok", shell: "ok" });
  expect(states(found.parts)).toMatchObject({ search: "ok", terminals: "missing" });
  expect(found.parts.map(({ name }) => name)).toEqual([
    "search",
    "screenshots",
    "opening",
    "system log",
    "terminals",
    "browser",
    "sandbox",
  ]);
  // This machine is not paired: the first hop fails, the others are not tried, and the exit code says so.
  expect(states(found.hops)).toEqual({
    machine: "failed",
    relay: "untried",
    account: "untried",
    device: "untried",
    tool: "untried",
  });
  expect(code).toBe(68);
  for (const group of Object.values(found).filter(Array.isArray)) {
    for (const { name, state, hint } of group as Found[])
      if (state === "missing" || state === "failed")
        expect([name, hint]).toEqual([name, expect.stringMatching(/\w/)]);
  }
});

test("doctor tells a person about folders that others may read", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  await runMatrx(["doctor"], { home });
  chmodSync(home, 0o755);
  const { stdout } = await runMatrx(["doctor"], { home });
  expect(stdout).toMatch(/✗ folders +.* is open to other users[^\n]*\n[^\n]*chmod 700/);
  expect(stdout).toMatch(/\d failed \(✗\)/);
});

test("doctor tells of a policy that allows a tool which is not there, and of the environment's proxy", {
  timeout: 60_000,
}, async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "policy.json"), '{"allowed_tools":["Raed","Grep"]}', { mode: 0o600 });
  const env = { HTTPS_PROXY: "http://ann:s3cret@proxy.example:3128" };
  const { stdout } = await runMatrx(["doctor", "--json"], { home, env });
  const named = (wanted: string) => JSON.parse(stdout).machine.find(({ name }: Found) => name === wanted);
  expect(named("policy")).toMatchObject({
    state: "missing",
    fact: expect.stringContaining('did you mean "Read"?'),
  });
  expect(named("proxy")).toMatchObject({
    state: "ok",
    fact: expect.stringContaining("through http://proxy.example:3128 (HTTPS_PROXY)"),
  });
  expect(stdout).not.toContain("s3cret");
});

test("a check that throws what nobody expected is one finding, without a stack", async () => {
  const broken = { name: "broken", look: () => JSON.parse("{") };
  const results = await examine([broken, { name: "next", look: () => ok("fine") }]);
  expect(results.map(({ name, state }) => [name, state])).toEqual([
    ["broken", "failed"],
    ["next", "ok"],
  ]);
  expect(results[0]?.fact).not.toContain("JSON.parse");
});

/** macOS and Windows are not run here. */
describe("where a system keeps browsers", () => {
  test.each([
    [linux, {}, "chromium"],
    [darwin, {}, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"],
    [
      windows,
      { ProgramFiles: "C:\\Program Files" },
      "C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe",
    ],
  ])("%o", (platform, env, browser) => {
    expect(optionalPrograms(platform).browsers(env)).toContain(browser);
  });
});
