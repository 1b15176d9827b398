/** The agent's package as a stranger gets it: installed by npx in an empty folder, with an empty cache, without the clone. */
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { packAgent } from "../../scripts/agent-package.ts";
import { ROOT } from "../../scripts/tree.ts";
import { commandedSchema, deviceListSchema } from "../../shared/api.ts";
import { lineOf, type RunOptions, runMatrx, startMatrx } from "../agent/cli/matrx.ts";
import { processesOf } from "../e2e/processes.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../helpers/folder.ts";
import { needs, needsRare } from "../helpers/parts.ts";
import { pdfOf } from "../helpers/pdf.ts";
import { redAndBlue } from "../helpers/pictures.ts";
import { startRelay } from "../helpers/relay.ts";
import { ENV, hasRegistry, NODE } from "../helpers/stranger.ts";
import { NEEDS_XVFB, startScreen } from "../helpers/xvfb.ts";

const run = promisify(execFile);

const isOldNode = Number.parseInt(execFileSync(NODE, ["--version"], { encoding: "utf8" }).slice(1), 10) < 24;

interface Installed {
  /** What `npx --yes ./matrx-*.tgz --help` printed. */
  readonly help: string;
  readonly modules: string;
  /** The folder of the package in there. */
  readonly folder: string;
}

const isReachable = await hasRegistry("@vscode/ripgrep");

describe(
  "the agent's package",
  needs(
    isReachable,
    "installing the agent's package needs the npm registry: connect to it, or set npm's registry or proxy",
  ),
  () => {
    let root: string;
    let installed: Installed;
    beforeAll(async () => {
      root = makeFolder();
      installed = await install(root);
    }, 240_000);
    afterAll(() => removeFolder(root));

    /** Runs the installed program, with nothing of the clone around it. */
    const at = (home: string, env: Record<string, string> = {}): RunOptions => ({
      home,
      env: { PATH: ENV.PATH ?? "", npm_command: "", ...env },
      program: [NODE, join(installed.folder, "bin/matrx.js")],
    });

    test("runs by npx, and names its commands as they are typed", () => {
      expect(installed.help).toMatch(/^Usage: npx \.\/matrx-\S+\.tgz \[options\]/);
    });

    test("brings what no bundle can hold, in exact versions, and nothing that runs at installation", () => {
      const { packages } = readJson(join(installed.modules, ".package-lock.json"), lockSchema);
      const names = Object.keys(packages).map((path) => path.replace("node_modules/", ""));
      const native = /^(@vscode\/ripgrep|@lydell\/node-pty|node-screenshots|node-(bin-)?(linux|darwin|win))/;
      expect(names.filter((name) => !native.test(name))).toEqual(["@matrx-relay/agent"]);
      expect(names.length).toBeGreaterThan(4);
      expect(Object.values(packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
      const agent = readJson(join(installed.folder, "package.json"), manifestSchema);
      const versions = Object.values({ ...agent.dependencies, ...agent.optionalDependencies });
      expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-beta\.\d+)?$/.test(version))).toEqual([]);
      expect(agent).not.toHaveProperty("private");
      expect(agent.license).toBe("Apache-2.0");
    });

    test("has the licences of all that is bundled", () => {
      const notices = readFileSync(join(installed.folder, "THIRD-PARTY-NOTICES.txt"), "utf8");
      const bundled = readJson(join(ROOT, "agent/package.json"), manifestSchema).dependencies;
      const left = new Set(["@matrx/client", "@matrx/shared", "@vscode/ripgrep", "@lydell/node-pty"]);
      for (const [name, version] of Object.entries(bundled).filter(([name]) => !left.has(name)))
        expect(notices).toContain(`\n${name} ${version} (`);
      const texts = notices.split(/^={80}$/m).slice(1);
      expect(texts.filter((text) => !/copyright/i.test(text))).toEqual([]);
      expect(readFileSync(join(installed.folder, "LICENSE"), "utf8")).toContain("Apache License");
    });

    test(
      "starts on an older Node by the Node that it brings",
      needsRare(isOldNode, "the agent's package on an older Node needs one as the machine's own: Node 20"),
      async () => {
        const { stdout } = await runMatrx(["version", "--json"], at(temporaryFolder()));
        expect(JSON.parse(stdout)).toMatchObject({ node: expect.stringMatching(/^24\./) });
      },
    );

    test("connects a machine to a relay, where its tools work", async () => {
      const [home, folder] = [temporaryFolder(), temporaryFolder()];
      const relay = await startRelay();
      onTestFinished(() => relay.stop());
      writeFileSync(join(folder, "token"), await relay.token(), { mode: 0o600 });
      writeFileSync(join(folder, "notes.txt"), "one\ntwo words\n");
      writeFileSync(join(folder, "page.pdf"), pdfOf([["Words on a page"]]));
      writeFileSync(join(folder, "wide.png"), redAndBlue(2000, 20));

      const up = startMatrx(["up", "--relay", relay.url, "--name", "box", "--yes", "--json"], at(home));
      const ended = once(up, "exit");
      const owner = await relay.signIn();
      const lines = createInterface({ input: up.stdout as Readable })[Symbol.asyncIterator]();
      const registered = async () => {
        for (let next = await lines.next(); !next.done; next = await lines.next()) {
          const { code, state } = JSON.parse(next.value) as { code?: string; state?: string };
          if (code) await relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
          if (state === "REGISTERED") return;
        }
        throw new Error("it ended before it was connected");
      };
      await registered();
      const call = async (tool: string, input: object) => {
        const credential = ["--relay", relay.url, "--token-file", join(folder, "token")];
        const args = ["call", "box", tool, JSON.stringify(input), "--json", ...credential];
        const { code, stdout, stderr } = await runMatrx(args, at(home));
        expect(code, stderr).toBe(0);
        return JSON.parse(stdout) as { type: string; output: string; metadata?: Record<string, unknown> };
      };
      const answers = [
        await call("SystemInfo", {}),
        await call("Bash", { command: "echo $((6 * 7))" }),
        await call("Read", { file_path: join(folder, "page.pdf") }),
        await call("Read", { file_path: join(folder, "wide.png") }),
        await call("Grep", { pattern: "w.rds", path: folder }),
      ];
      expect(answers.map(({ type }) => type)).toEqual(answers.map(() => "success"));
      const [system, bash, read, picture, grep] = answers.map(({ output }) => output);
      expect(system).toMatch(/^node_version: 24\./m);
      expect(bash).toBe("42\n");
      expect(read).toContain("Words on a page");
      expect(picture).toContain("2000x20, shown as 1568x16");
      expect(grep).toContain("two words");

      const opened = await call("TerminalCreate", { shell: "/bin/sh" });
      const listed = await call("TerminalList", {});
      expect(listed.metadata).toMatchObject({ terminals: [{ running: true, cols: 80 }] });
      await call("TerminalClose", { terminal: opened.metadata?.terminal });

      const { devices } = await relay.request(owner, "GET /v1/devices", deviceListSchema);
      const route = `POST /v1/devices/${devices[0]?.id}/commands` as const;
      await relay.request(owner, route, commandedSchema, { command: "restart_client" });
      await registered();
      expect(await call("Bash", { command: "echo again" })).toMatchObject({ output: "again\n" });

      up.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      // What holds terminals goes on for ten seconds without any.
      await expect.poll(() => processesOf(home), { timeout: 20_000 }).toEqual([]);
    });

    test("serves this machine's tools, with the page that describes them", async () => {
      const home = temporaryFolder();
      const serve = startMatrx(["serve", "--port", "0", "--json"], at(home));
      // Killed at once, an older Node would leave behind the one that it started.
      onTestFinished(async () => {
        const ended = once(serve, "exit");
        serve.kill("SIGTERM");
        await ended;
        expect(processesOf(home)).toEqual([]);
      });
      const { url } = await lineOf(serve, (line) => "url" in line);
      const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
      const statuses = await Promise.all(["/docs", "/openapi.json", "/tools/list"].map(statusOf));
      expect(statuses).toEqual([200, 200, 401]);
      const files = readdirSync(join(installed.folder, "web/assets"));
      expect(files.filter((name) => name.endsWith(".woff2"))).toEqual([]);
      const page = await (await fetch(`${url}/docs`)).text();
      const loaded = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
      expect(loaded.length).toBeGreaterThan(3);
      const found = await Promise.all([...loaded, ...files.map((name) => `/assets/${name}`)].map(statusOf));
      expect(new Set(found)).toEqual(new Set([200]));
    });

    test("finds its own ripgrep", async () => {
      const { stdout } = await runMatrx(["doctor", "--json"], at(temporaryFolder()));
      expect(partOf(stdout, "search")).toMatchObject({
        state: "ok",
        fact: expect.stringContaining(installed.modules),
      });
    });

    test("takes pictures of the screen by its own library", NEEDS_XVFB, async () => {
      await using screen = await startScreen();
      const env = { DISPLAY: screen.display, WAYLAND_DISPLAY: "" };
      const { stdout } = await runMatrx(["doctor", "--json"], at(temporaryFolder(), env));
      expect(partOf(stdout, "screenshots").fact).toContain("640x400 by node-screenshots");
    });
  },
);

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })),
});
const manifestSchema = z.looseObject({
  license: z.string(),
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
});
const doctorSchema = z.object({
  parts: z.array(z.object({ name: z.string(), state: z.string(), fact: z.string() })),
});

function readJson<Schema extends z.ZodType>(file: string, schema: Schema): z.infer<Schema> {
  return schema.parse(JSON.parse(readFileSync(file, "utf8")));
}

function partOf(doctor: string, name: string) {
  const part = doctorSchema.parse(JSON.parse(doctor)).parts.find((one) => one.name === name);
  if (!part) throw new Error(`no part ${name}`);
  return part;
}

/** Makes the package, and has npx install it. */
async function install(root: string): Promise<Installed> {
  const [empty, cache] = [join(root, "empty"), join(root, "cache")];
  const tarball = await packAgent(join(root, "packed"));
  const name = basename(tarball);
  mkdirSync(empty);
  copyFileSync(tarball, join(empty, name));
  const env = { ...ENV, npm_config_cache: cache, MATRX_HOME: root, NO_COLOR: "1" };
  const shell = process.platform === "win32";
  const { stdout } = await run("npx", ["--yes", `./${name}`, "--help"], { cwd: empty, env, shell });
  const [hash = ""] = readdirSync(join(cache, "_npx"));
  const modules = join(cache, "_npx", hash, "node_modules");
  return { help: stdout, modules, folder: join(modules, "@matrx-relay/agent") };
}
