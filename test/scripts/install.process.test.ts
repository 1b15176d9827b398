import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/tree.ts";
import { temporaryFolder } from "../helpers/folder.ts";

/** The Node that npm runs on: the machine's own, which may be older than ours. */
const MACHINE_NODE = process.env.npm_node_execpath ?? process.execPath;

interface Clone {
  root: string;
  /** As `install`, beside others, without writing arguments down. Resolves with what it said. */
  installBeside(npm: string): Promise<string>;
  /** Runs scripts/install.mjs with an npm that writes down its arguments, then runs `npm`. */
  install(npm?: string): { status: number | null; stderr: string; npmArgs: string[] | undefined };
  installed(version: string): void;
}

/** A clone with one package in its lock file. */
function makeClone(): Clone {
  const root = join(temporaryFolder(), "a clone");
  mkdirSync(join(root, "scripts"), { recursive: true });
  cpSync(join(ROOT, "scripts/install.mjs"), join(root, "scripts/install.mjs"));
  writeFileSync(join(root, "package-lock.json"), lockOf("1.0.0"));
  const npmScript = join(root, "npm.js");
  const argsFile = join(root, "npm-args.json");
  const env = { PATH: "", npm_execpath: npmScript, npm_node_execpath: MACHINE_NODE };
  return {
    root,
    async installBeside(npm) {
      writeFileSync(npmScript, npm);
      const child = spawn(MACHINE_NODE, ["scripts/install.mjs"], { cwd: root, env });
      return text(child.stderr);
    },
    install(npm = "") {
      const record = `require("fs").writeFileSync(${JSON.stringify(argsFile)}, JSON.stringify(process.argv.slice(2)));`;
      writeFileSync(npmScript, `${record}\n${npm}`);
      const { status, stderr } = spawnSync(MACHINE_NODE, ["scripts/install.mjs"], {
        cwd: root,
        env,
        encoding: "utf8",
      });
      const npmArgs = existsSync(argsFile) ? JSON.parse(readFileSync(argsFile, "utf8")) : undefined;
      return { status, stderr, npmArgs };
    },
    installed(version) {
      mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
      mkdirSync(join(root, "node_modules/one"), { recursive: true });
      writeFileSync(join(root, "node_modules/.bin/node"), "");
      writeFileSync(join(root, "node_modules/one/package.json"), "{}");
      writeFileSync(join(root, "node_modules/.package-lock.json"), lockOf(version));
    },
  };
}

function lockOf(version: string): string {
  const absent = { version: "1.0.0", optional: true, os: ["aix"] };
  return JSON.stringify({
    packages: { "node_modules/one": { version }, "node_modules/only-on-aix": absent },
  });
}

const failing = (stderr: string) => `console.error(${JSON.stringify(stderr)}); process.exit(1);`;

test("the lock file has workerd for every platform, and no registry's address", () => {
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  expect(lock.match(/"node_modules\/@cloudflare\/workerd-/g)).toHaveLength(5);
  expect(lock).not.toMatch(/"resolved": "http/);
});

test("a fresh clone is installed by npm ci, on the machine's own Node", () => {
  const clone = makeClone();
  const { npmArgs, stderr } = clone.install();
  expect(npmArgs).toEqual(["ci", "--prefer-offline", "--loglevel=error", "--no-progress"]);
  expect(stderr).toContain("Installing packages");
});

test("a complete node_modules is left alone", () => {
  const clone = makeClone();
  clone.installed("1.0.0");
  expect(clone.install()).toEqual({ status: 0, stderr: "", npmArgs: undefined });
});

test.each([
  ["of an older lock file", (clone: Clone) => clone.installed("0.9.0")],
  [
    "that an interrupted npm left",
    ({ root }: Clone) => mkdirSync(join(root, "node_modules/one"), { recursive: true }),
  ],
])("a node_modules %s is installed again", (_, prepare) => {
  const clone = makeClone();
  prepare(clone);
  expect(clone.install().npmArgs?.[0]).toBe("ci");
});

test.each([
  ["npm error code ENOTFOUND\nnpm error network request failed", /the npm registry can't be reached/],
  ["npm error code EACCES\nnpm error syscall mkdir", /a clone is not writable for you/],
  ["npm error code EACCES\nnpm error path /home/ann/.npm", /npm cannot write \/home\/ann\/\.npm\./],
  ["npm error code ENOSPC", /the disk is full/],
  ["npm error code EUSAGE", /Run `npm install` once/],
  ["npm error something else", /cannot be installed\.[\s\S]*something else/],
])("npm's failure %j is said in a sentence", (stderr, sentence) => {
  const result = makeClone().install(failing(stderr));
  expect(result.status).toBe(1);
  expect(result.stderr).toMatch(sentence);
  expect(result.stderr).toContain(stderr.split("\n")[0]);
});

test("two at once: the second waits for the first, and installs nothing more", async () => {
  const clone = makeClone();
  clone.installed("1.0.0");
  rmSync(join(clone.root, "node_modules/.package-lock.json"));
  const npm = `require("fs").appendFileSync("runs", "x"); setTimeout(() => {
    require("fs").writeFileSync("node_modules/.package-lock.json", ${JSON.stringify(lockOf("1.0.0"))});
  }, 1000);`;
  const said = await Promise.all([clone.installBeside(npm), clone.installBeside(npm)]);
  expect(readFileSync(join(clone.root, "runs"), "utf8")).toBe("x");
  expect(said.filter((text) => text.includes("waiting for it"))).toHaveLength(1);
  expect(existsSync(join(clone.root, ".installing"))).toBe(false);
});

test("a lock that a killed install left behind is taken over", () => {
  const clone = makeClone();
  clone.installed("1.0.0");
  const { pid } = spawnSync(MACHINE_NODE, ["--version"]);
  writeFileSync(join(clone.root, ".installing"), String(pid));
  expect(clone.install()).toMatchObject({ status: 0, npmArgs: undefined });
  expect(existsSync(join(clone.root, ".installing"))).toBe(false);
});

test("Ctrl-C stops the installation, and that is said", async () => {
  const clone = makeClone();
  const npm = `process.on("SIGINT", () => process.exit(1)); process.kill(process.ppid, "SIGINT"); setTimeout(() => {}, 9e4);`;
  expect(await clone.installBeside(npm)).toMatch(/Stopping the installation/);
  expect(existsSync(join(clone.root, ".installing"))).toBe(false);
});

test("a damaged lock file is said, and npm is not asked", () => {
  const clone = makeClone();
  writeFileSync(join(clone.root, "package-lock.json"), "{");
  const { status, stderr, npmArgs } = clone.install();
  expect({ status, npmArgs }).toEqual({ status: 1, npmArgs: undefined });
  expect(stderr).toContain("git checkout package-lock.json");
});
