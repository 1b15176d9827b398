/** Hints name commands as they are typed where the program was started. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentHome } from "../../../agent/cli/agent-home.ts";
import { asTyped, programName } from "../../../agent/cli/program-name.ts";
import { homeOf, makeHome } from "../../../agent/config/app-dirs.ts";
import { writeConfig } from "../../../agent/config/config.ts";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { ROOT } from "../../../scripts/tree.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { runMatrx } from "./matrx.ts";

describe("the program", () => {
  const PATH = ["/usr/bin", "/home/ann/.local/bin"].join(delimiter);
  test.each([
    [
      "by npx in a clone",
      "/clone/node_modules/.bin/matrx",
      { PATH, npm_command: "exec" },
      "matrx",
      "npx matrx",
    ],
    [
      "by npx elsewhere",
      "/home/ann/.npm/_npx/1/node_modules/.bin/matrx",
      { PATH, npm_command: "exec" },
      "./matrx.tgz",
      "npx ./matrx.tgz",
    ],
    ["by a link on the PATH", "/home/ann/.local/bin/matrx", { PATH }, "matrx", "matrx"],
    ["installed", "/usr/bin/matrx", { PATH }, "./matrx.tgz", "matrx"],
    ["by its file in a clone", "/clone/agent/bin/matrx.js", { PATH }, "matrx", "npx matrx"],
  ])("started %s", (_how, path, env, npxTarget, name) => {
    const isClone = npxTarget === "matrx";
    expect(programName({ path, env, isClone, npxTarget })).toBe(name);
  });

  test("started by npx in this clone is the clone's own, and named so", { timeout: 60_000 }, () => {
    const home = temporaryFolder();
    const env = { ...process.env, MATRX_HOME: home, NO_COLOR: "1" };
    const { stderr } = spawnSync("npx", ["matrx", "devices"], { cwd: ROOT, env, encoding: "utf8" });
    expect(stderr).toContain("npx matrx login");
  });

  test("started by a link on the PATH is named by the link", () => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(MATRX_BIN, join(folder, "matrx"));
    const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH, MATRX_HOME: home, NO_COLOR: "1", npm_command: "" };
    const { stderr } = spawnSync("matrx", ["devices"], { env, encoding: "utf8" });
    expect(stderr).toMatch(/(?<!npx )matrx login/);
    expect(execFileSync("matrx", ["--help"], { env, encoding: "utf8" })).toMatch(/^Usage: matrx /);
  });
});

test.each([
  [
    "(default: see matrx\n                           use)",
    "(default: see npx matrx\n                           use)",
  ],
  ["Reach matrx\n\nOptions:", "Reach matrx\n\nOptions:"],
  ["Run: matrx pair --relay URL", "Run: npx matrx pair --relay URL"],
  ["`matrx login`, or `npx matrx login`", "`npx matrx login`, or `npx matrx login`"],
  ["Usage: matrx [options]", "Usage: npx matrx [options]"],
  ["@matrx/shared, /usr/bin/matrx x, matrx.v1", "@matrx/shared, /usr/bin/matrx x, matrx.v1"],
])("%j is typed %j", (text, typed) => {
  expect(asTyped(text, "npx matrx")).toBe(typed);
});

test("the package's name has a scope, and its program none", () => {
  const { name, bin } = JSON.parse(readFileSync(join(ROOT, "agent/package.json"), "utf8"));
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  expect({ name, bin: Object.keys(bin) }).toEqual({ name: "@matrx-relay/agent", bin: ["matrx"] });
  expect(packages.agent.name).toBe(name);
  expect(packages[`node_modules/${name}`]).toEqual({ resolved: "agent", link: true });
  expect(packages).not.toHaveProperty("node_modules/matrx");
});

test("the agent of npm start is found, unless another was paired by hand", async () => {
  const [data, own] = [temporaryFolder(), temporaryFolder()];
  const config = { relay: "http://localhost:9", device_id: "box-0123456789", name: "box" };
  const started = homeOf({ MATRX_HOME: join(data, "agent") });
  const env = { MATRX_DATA: data, HOME: own, XDG_CONFIG_HOME: own, XDG_DATA_HOME: own, XDG_STATE_HOME: own };
  expect(agentHome({ ...env, MATRX_HOME: own }).config).toBe(own);
  makeHome(started);
  writeConfig(started, config);
  mkdirSync(started.logs, { recursive: true });
  writeFileSync(started.logFile, `${JSON.stringify({ level: 30, time: 0, msg: "of npm start" })}\n`);

  const logs = await runMatrx(["logs", "--json"], { home: "", env });
  expect(logs.stdout).toContain("of npm start");
  const status = await runMatrx(["status", "--json"], { home: "", env });
  expect(JSON.parse(status.stdout).hops.slice(0, 2)).toMatchObject([
    { hop: "machine", ok: true, fact: expect.stringContaining(config.device_id) },
    { hop: "relay", ok: false, fact: expect.stringContaining(config.relay) },
  ]);
});
