/** `matrx mcp` as a client starts it: this machine's tools, without a relay. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MATRX_BIN } from "../../../scripts/matrx-bin.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";
import { isAlive } from "../tools/workbench.ts";

let home: string;
let work: string;
beforeEach(() => {
  [home, work] = [makeFolder(), makeFolder()];
});
afterEach(() => {
  for (const folder of [home, work]) removeFolder(folder);
});

type Era = "legacy" | "auto";

async function start(args: readonly string[], era: Era = "auto") {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MATRX_BIN, "mcp", ...args],
    env: { ...(process.env as Record<string, string>), MATRX_HOME: home },
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const ODD_SERVER = join(import.meta.dirname, "../mounts/odd-server.mjs");
const GOOD_SERVER = join(import.meta.dirname, "../mounts/good-server.mjs");

/** An agent's configuration that mounts these servers. */
function configure(mcpServers: object): void {
  mkdirSync(home, { recursive: true });
  const device = { relay: "http://localhost:1", device_id: "box", name: "box" };
  writeFileSync(join(home, "config.json"), JSON.stringify({ ...device, mcpServers }), { mode: 0o600 });
}

async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools({}, { cacheMode: "bypass" })).tools.map(({ name }) => name);
}

function childrenOf(pid: number): number[] {
  const said = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return said.trim().split(/\s+/).map(Number);
}

function textOf(result: { content: readonly { type: string }[] }): string {
  const [first] = result.content as readonly { type: string; text: string }[];
  return first?.text ?? "";
}

describe.each<Era>(["legacy", "auto"])("a client of the era %s", (era) => {
  it("reads, writes and runs, and leaves nothing behind", async () => {
    const file = join(work, "a.txt");
    {
      await using client = await start(["--folder", work], era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Bash", "Edit", "wait_call"]));
      await client.callTool({ name: "Write", arguments: { file_path: file, content: "one\n" } });
      const edited = await client.callTool({
        name: "Edit",
        arguments: { file_path: file, old_string: "one", new_string: "two" },
      });
      expect(edited.isError, textOf(edited)).toBeFalsy();
      const shown = await client.callTool({ name: "Bash", arguments: { command: `cat '${file}'` } });
      expect(textOf(shown)).toContain("two");
      // As some clients say that there are no arguments.
      const none = { name: "SystemInfo", arguments: null } as unknown as { name: string };
      const system = await client.callTool(none);
      expect(system.isError, textOf(system)).toBeFalsy();
      expect(textOf(system)).toContain("node_version");
    }
    expect(readFileSync(file, "utf8")).toBe("two\n");
    expect(readdirSync(join(home, "mcp"))).toEqual([]);
  });
});

it("serves several clients at once", async () => {
  await using one = await start([]);
  await using two = await start([]);
  const said = await Promise.all(
    [one, two].map((client) => client.callTool({ name: "Bash", arguments: { command: "echo here" } })),
  );
  expect(said.map(textOf)).toEqual([expect.stringContaining("here"), expect.stringContaining("here")]);
});

it("is an AI: its commands run in the sandbox, without network, and away from our own files", async () => {
  await using client = await start([]);
  const bash = async (command: string) =>
    textOf(await client.callTool({ name: "Bash", arguments: { command } }));
  expect(await bash(`ls '${home}' 2>&1; cat '${home}'/* 2>&1 | head -3`)).not.toContain("local-journal");
  expect(await bash("cat /proc/net/dev | tail -n +3 | cut -d: -f1")).not.toMatch(/eth|en[po]/);
});

it("stays in the folders that it was given", async () => {
  const inside = join(work, "inside");
  mkdirSync(inside);
  writeFileSync(join(work, "secret.txt"), "do not read");
  await using client = await start(["--folder", inside]);
  const read = await client.callTool({ name: "Read", arguments: { file_path: join(work, "secret.txt") } });
  expect(read.isError).toBe(true);
  expect(textOf(read)).toContain("PERMISSION_DENIED");
  const shown = await client.callTool({ name: "Bash", arguments: { command: `cat '${work}/secret.txt'` } });
  expect(textOf(shown)).not.toContain("do not read");
});

it("refuses arguments that nest too deep, and goes on", async () => {
  await using client = await start([]);
  let deep: unknown = [];
  for (let level = 0; level < 2000; level++) deep = [deep];
  const said = await client.callTool({ name: "Read", arguments: { file_path: "/etc/hosts", deep } });
  expect(textOf(said)).toMatch(/^INVALID_PARAMETERS: .*deeper/);
  expect(
    (await client.callTool({ name: "Read", arguments: { file_path: "/etc/hosts" } })).isError,
  ).toBeFalsy();
});

it("changes nothing when it may only read", async () => {
  await using client = await start(["--read-only"]);
  const { tools } = await client.listTools();
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
  const written = await client.callTool({
    name: "Write",
    arguments: { file_path: join(work, "x"), content: "" },
  });
  expect(textOf(written)).toContain("PERMISSION_DENIED");
  expect(existsSync(join(work, "x"))).toBe(false);
});

it("ends its commands when its client leaves", async () => {
  const client = await start(["--as-owner"]);
  const started = await client.callTool({
    name: "Bash",
    arguments: { command: `echo $$ > '${work}/pid'; sleep 300`, run_in_background: true },
  });
  expect(started.isError).toBeFalsy();
  await expect
    .poll(() => existsSync(join(work, "pid")) && readFileSync(join(work, "pid"), "utf8"))
    .toBeTruthy();
  const pid = Number(readFileSync(join(work, "pid"), "utf8"));
  expect(isAlive(pid)).toBe(true);
  await client.close();
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
});

describe("a program that was killed", () => {
  /** Kills it while a command of it runs, and a server that it mounted. */
  async function killed() {
    configure({ stubborn: { command: process.execPath, args: [ODD_SERVER, "child"] } });
    const client = await start(["--as-owner"]);
    await client.callTool({
      name: "Bash",
      arguments: { command: `echo $$ > '${work}/pid'; sleep 300`, run_in_background: true },
    });
    await expect.poll(() => toolNames(client), { timeout: 10_000 }).toContain("stubborn__hang");
    await expect
      .poll(() => existsSync(join(work, "pid")) && readFileSync(join(work, "pid"), "utf8"))
      .toBeTruthy();
    const { pid } = client.transport as StdioClientTransport;
    const left = [Number(readFileSync(join(work, "pid"), "utf8")), ...childrenOf(pid ?? 0)];
    process.kill(pid ?? 0, "SIGKILL");
    await expect.poll(() => isAlive(pid ?? 0)).toBe(false);
    expect(left.length).toBeGreaterThan(1);
    return left;
  }

  it("is cleaned up after by the next one, which leaves those alone that run", async () => {
    await using living = await start(["--as-owner"]);
    // The client may have asked another process which era it is of.
    await toolNames(living);
    const alive = `${(living.transport as StdioClientTransport).pid}-`;
    const left = await killed();
    // Not in the configuration any more.
    configure({});
    await using next = await start(["--as-owner"]);
    await expect.poll(() => left.filter(isAlive), { timeout: 10_000 }).toEqual([]);
    await expect.poll(() => readdirSync(join(home, "mcp"))).toHaveLength(2);
    expect(readdirSync(join(home, "mcp")).filter((name) => name.startsWith(alive))).toHaveLength(1);
    for (const client of [living, next]) {
      const said = await client.callTool({ name: "Bash", arguments: { command: "echo here" } });
      expect(textOf(said)).toContain("here");
    }
  });
});

it("mounts servers, but none when it is mounted itself", async () => {
  const own = { command: process.execPath, args: [MATRX_BIN, "mcp"], env: { MATRX_HOME: home } };
  configure({ good: { command: process.execPath, args: [GOOD_SERVER] }, own });
  await using client = await start([]);
  await expect.poll(() => toolNames(client), { timeout: 10_000 }).toContain("good__echo");
  await expect.poll(() => toolNames(client), { timeout: 10_000 }).toContain("own__Read");
  expect((await toolNames(client)).filter((name) => /^own__(?:good|own)/.test(name))).toEqual([]);
  // One that was too slow to say its era was killed, and asked again: what it left is the next one's to clear away.
  const running = () => readdirSync(join(home, "mcp")).filter((name) => isAlive(Number.parseInt(name, 10)));
  await expect.poll(running).toHaveLength(2);
});

it("ends, with all that it started, when a message is larger than it reads", async () => {
  const client = await start(["--as-owner"]);
  const closed = Promise.withResolvers<void>();
  client.onclose = closed.resolve;
  await client.callTool({
    name: "Bash",
    arguments: { command: `echo $$ > '${work}/pid'; sleep 300`, run_in_background: true },
  });
  await expect
    .poll(() => existsSync(join(work, "pid")) && readFileSync(join(work, "pid"), "utf8"))
    .toBeTruthy();
  const pid = Number(readFileSync(join(work, "pid"), "utf8"));
  const content = "x".repeat(20 * 1024 * 1024);
  const call = client.callTool({ name: "Write", arguments: { file_path: join(work, "a"), content } });
  await expect(call).rejects.toThrow();
  await closed.promise;
  expect(isAlive(pid)).toBe(false);
  expect(readdirSync(join(home, "mcp"))).toEqual([]);
});
