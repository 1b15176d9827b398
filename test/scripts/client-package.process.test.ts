/** The client's package as a stranger gets it, in an empty folder; and docs/guides/client.md, whose programs run there as they stand. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { packClient } from "../../scripts/client-package.ts";
import { ROOT } from "../../scripts/tree.ts";
import { startAgent } from "../e2e/agent.ts";
import { Person } from "../e2e/person.ts";
import { type Rig, startRig } from "../e2e/rig.ts";
import { upAndServe } from "../e2e/up-and-serve.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { needs } from "../helpers/parts.ts";
import { ENV, hasRegistry, NODE } from "../helpers/stranger.ts";

const run = promisify(execFile);
const GUIDE = readFileSync(join(ROOT, "docs/guides/client.md"), "utf8");
const PROGRAMS = [...GUIDE.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));
/** What a program on Node 20 needs besides, and the types for it. */
const BESIDES = ["ws@8.23.0", "@types/ws@8.18.2", "@types/node@24.10.0"];
const isReachable = await hasRegistry("zod");

/** In TypeScript, what the guide's programs do not touch. */
const TYPED = `
import { type Answer, type CallEvent, connectByHttp, type Device, type DeviceAt, MatrxError } from "@matrx-relay/client";

const at: DeviceAt = { url: "https://relay.example", device: "laptop", token: async () => "token" };
const device: Device = connectByHttp(at);
const told: CallEvent[] = [];
const answer: Answer = await device.call("Read", { file_path: "/x" }, { timeoutMs: 5, onEvent: (event) => told.push(event) });
const text: string = answer.output;
const code: "NOT_FOUND" | undefined = text === "" ? "NOT_FOUND" : undefined;
const wait = (error: MatrxError): number | undefined => (error.code === "RATE_LIMITED" ? 1 : undefined);
// @ts-expect-error: it is a number
const wrong: string = device.call("Read", {}, { timeoutMs: "5" });
export { code, wait, wrong };
`;

/** A page that calls over a WebSocket, with live output, and over HTTP. */
const PAGE = `
import { connectByHttp, connectDevice, MatrxError } from "@matrx-relay/client";

window.callBoth = async (at) => {
  const [socket, http] = [connectDevice(at), connectByHttp(at)];
  const said = [];
  const onEvent = (event) => event.type === "output" && said.push(event.data);
  said.push((await socket.call("Bash", { command: "echo socket" }, { onEvent })).output);
  said.push((await http.call("Bash", { command: "echo http" })).output);
  await http.call("Read", { file_path: "/no/such/file" }).catch((error) => {
    if (error instanceof MatrxError) said.push(error.code);
  });
  socket.close();
  return said;
};
`;

describe(
  "the client's package",
  needs(isReachable, "installing the client's package needs the npm registry: set npm's registry or proxy"),
  () => {
    let root: string;
    let folder: string;
    let tarball: string;
    let rig: Rig;
    let person: Person;
    beforeAll(async () => {
      root = makeFolder();
      folder = join(root, "program");
      mkdirSync(folder);
      tarball = await packClient(join(root, "packed"));
      writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }');
      for (const { name, code } of PROGRAMS) writeFileSync(join(folder, name), code);
      writeFileSync(join(folder, "typed.ts"), TYPED);
      await run("npm", ["install", tarball, ...BESIDES, "--no-audit", "--no-fund"], {
        cwd: folder,
        env: ENV,
      });
      rig = await startRig();
      person = await Person.signIn(rig);
      writeFileSync(join(folder, "token"), `${rig.token}\n`, { mode: 0o600 });
    }, 240_000);
    afterAll(async () => {
      await rig?.stop();
      removeFolder(root);
    });

    /** Starts a program of the guide. */
    function start(name: string, ...args: string[]) {
      const env = { ...ENV, MATRX_RELAY: rig.relay.url, MATRX_DEVICE: rig.device };
      const child = spawn(NODE, [name, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      const ended = once(child, "close").then(([code]) => {
        expect({ code, stderr }, name).toEqual({ code: 0, stderr: "" });
        return stdout;
      });
      return { printed: () => stdout, ended };
    }

    /** Runs it to its end, and resolves with what it printed. */
    const program = (name: string, ...args: string[]) => start(name, ...args).ended;

    test("is small, depends on two packages, and runs nothing at installation", () => {
      const { packages } = JSON.parse(
        readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"),
      ) as { packages: Record<string, { hasInstallScript?: boolean }> };
      const names = Object.keys(packages).map((path) => path.replace("node_modules/", ""));
      const besides = /^(ws|@types\/.*|undici-types)$/;
      expect(names.filter((name) => !besides.test(name)).sort()).toEqual([
        ...["@matrx-relay/client", "eventsource-parser", "zod"],
      ]);
      expect(Object.values(packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
      expect(statSync(tarball).size).toBeLessThan(60_000);
      const manifest = readFileSync(join(folder, "node_modules/@matrx-relay/client/package.json"), "utf8");
      expect(JSON.parse(manifest)).toMatchObject({ license: "Apache-2.0", version: "0.1.0", type: "module" });
      expect(manifest).not.toContain("private");
    });

    test.each(["nodenext", "bundler"])("has types for strict programs, resolved as by %s", async (way) => {
      const options = {
        ...{ strict: true, noEmit: true, allowJs: true, checkJs: true, noUncheckedIndexedAccess: true },
        ...{ target: "es2023", moduleResolution: way, module: way === "bundler" ? "esnext" : way },
        // The first is for Node alone, the second may be for a page.
        ...(way === "nodenext" ? { lib: ["es2023"], types: ["node"] } : { types: ["node"] }),
      };
      const config = join(folder, `tsconfig.${way}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions: options, include: ["*.mjs", "*.ts"] }));
      const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
      await run(process.execPath, [tsc, "-p", config]).catch(({ stdout }) => expect(stdout).toBe(""));
    });

    test("call.mjs, live.mjs and errors.mjs: an answer, output while it comes, and an error's parts", async () => {
      expect(await program("call.mjs")).toBe("hello\n[Exit code 3] 3\n");
      expect(await program("live.mjs")).toBe("step 1\nstep 2\nstep 3\nexit code 0\n");
      expect(await program("errors.mjs")).toMatch(/^NOT_FOUND tool \/no\/such\/file does not exist /);
    });

    test("call.mjs waits while a person is asked", async () => {
      await person.setPolicy({ ask: [{ tools: ["Bash"] }] });
      onTestFinished(() => person.setPolicy({}));
      const said = await person.answer(program("call.mjs"), { decision: "allow" });
      expect(said).toMatch(/^Waiting for a person: .*echo hello.*\nAllowed\nhello\n/);
    });

    test("once.mjs and follow.mjs: the same key runs once, and a call that was left is found by its name", async () => {
      const [, first, second] = (await program("once.mjs")).match(/^first (\d+)\n+second (\d+)\n/) ?? [];
      expect(first).toMatch(/^\d{19}$/);
      expect(second).toBe(first);
      expect(await program("follow.mjs")).toMatch(/^left [\da-f-]{36}\ndone\n/);
    });

    test("download.mjs and upload.mjs carry a file there and back", async () => {
      const [there, back] = [join(rig.folder, "there"), join(rig.folder, "back")];
      const content = Buffer.alloc(3_000_000, "matrx");
      writeFileSync(there, content);
      expect(await program("download.mjs", there, "copy")).toContain("bytes: 3000000");
      expect(readFileSync(join(folder, "copy")).equals(content)).toBe(true);
      await program("upload.mjs", "copy", back);
      expect(existsSync(back) && readFileSync(back).equals(content)).toBe(true);
    });

    test("events.mjs is told what a machine reports", async () => {
      await rig.agent.child.stop(5000);
      const { url, token, stop } = await upAndServe(join(rig.dataDir, "agent"));
      onTestFinished(async () => {
        await stop();
        rig.agent = await startAgent(rig.dataDir);
        await rig.agent.registered();
      });
      const { printed, ended } = start("events.mjs");
      await expect.poll(printed).toBe("watching\n");
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ event_type: "backup_done", data: { files: 120 } });
      await fetch(`${url}/trigger`, { method: "POST", headers, body });
      expect(await ended).toMatch(/^watching\n\S+ backup_done \{"files":120\}\n$/);
    });

    test("all programs of the guide have run here", () => {
      const source = readFileSync(import.meta.filename, "utf8");
      expect(PROGRAMS.length).toBeGreaterThan(8);
      for (const { name } of PROGRAMS.slice(1))
        expect(source).toMatch(new RegExp(`(program|start)\\("${name}"`));
    });

    test("calls from a page of another origin, bundled with nothing of Node", NEEDS_CHROMIUM, async () => {
      const { outputFiles } = await build({
        ...{ absWorkingDir: folder, stdin: { contents: PAGE, resolveDir: folder } },
        ...{ bundle: true, format: "iife", platform: "browser", minify: true, write: false },
      });
      const [script] = outputFiles;
      expect(script?.contents.length).toBeLessThan(180_000);
      const server = createServer((_, response) => response.end("<!doctype html>")).listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      const browser = await startBrowser();
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await page.addScriptTag({ content: script?.text ?? "" });
      const at = { url: rig.relay.url, device: rig.device, token: rig.token };
      const said = await page.evaluate(`callBoth(${JSON.stringify(at)})`);
      expect(said).toEqual(["socket\n", "socket\n", "http\n", "NOT_FOUND"]);
    });
  },
);
