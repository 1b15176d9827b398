/** `matrx mcp --device`: a device at the relay for a client that only starts programs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { runMatrx } from "../agent/cli/matrx.ts";
import { connectMcp, ERAS, type Era, textOf } from "./mcp-client.ts";
import { Person } from "./person.ts";
import { processesOf } from "./processes.ts";
import { fileIn, type Rig, startRig } from "./rig.ts";

let rig: Rig;
let tokenFile: string;
let token: string;
beforeAll(async () => {
  rig = await startRig();
  const person = await Person.signIn(rig);
  ({ token } = await person.grant({ effects: ["read", "write", "execute"], ask: [] }));
  tokenFile = join(rig.dataDir, "ai-token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
});
afterAll(() => rig.stop());

const home = () => join(rig.dataDir, "stdio");

async function start(args: readonly string[], era: Era, file = tokenFile) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MATRX_BIN, "mcp", ...args, "--relay", rig.relay.url, "--token-file", file],
    env: { ...(process.env as Record<string, string>), MATRX_HOME: home() },
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

describe.each(ERAS)("a client of the era %s", (era) => {
  it("has the same tools, the same results, progress and cancellation", async () => {
    await using client = await start(["--device", rig.device], era);
    await using direct = await connectMcp(era, {
      url: new URL(`/mcp/d/${rig.device}`, rig.relay.url),
      token,
    });
    expect((await client.listTools()).tools).toEqual((await direct.listTools()).tools);
    const file = fileIn(rig);
    await client.callTool({ name: "Write", arguments: { file_path: file, content: "by stdio\n" } });
    expect(readFileSync(file, "utf8")).toBe("by stdio\n");
    const read = { name: "Read", arguments: { file_path: file } };
    expect((await client.callTool(read)).content).toEqual((await direct.callTool(read)).content);
    const stop = new AbortController();
    const started = Promise.withResolvers<void>();
    const call = client.callTool(
      { name: "Bash", arguments: { command: `echo started; MARK='${file}' sleep 300` } },
      { signal: stop.signal, onprogress: () => started.resolve() },
    );
    await started.promise;
    await expect.poll(() => processesOf(file)).not.toEqual([]);
    stop.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => processesOf(file), { timeout: 10_000 }).toEqual([]);
  });

  it("keeps its own working directory apart from other clients of the token", async () => {
    await using one = await start(["--all-devices"], era);
    await using two = await start(["--all-devices"], era);
    const bash = async (client: Client, command: string) =>
      textOf(await client.callTool({ name: "Bash", arguments: { device: rig.device, command } }));
    await bash(one, `mkdir -p '${rig.folder}/one'; cd '${rig.folder}/one'`);
    expect(await bash(one, "pwd")).toContain(`${rig.folder}/one`);
    expect(await bash(two, "pwd")).not.toContain(`${rig.folder}/one`);
  });
});

it.each(["this machine", "a device at the relay"])("is shown the families it names, of %s", async (where) => {
  const place = where === "this machine" ? [] : ["--device", rig.device];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      ...[MATRX_BIN, "mcp", ...place, "--tools", "system", "--tools", "terminals"],
      ...(place.length > 0 ? ["--relay", rig.relay.url, "--token-file", tokenFile] : []),
    ],
    env: { ...(process.env as Record<string, string>), MATRX_HOME: home() },
  });
  const client = new Client({ name: "test", version: "1" });
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
  await client.connect(transport);
  const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await listed()).toEqual(expect.arrayContaining(["SystemInfo", "enable_tools"]));
  expect(await listed()).not.toContain("Read");
  await client.callTool({ name: "enable_tools", arguments: { family: "files" } });
  await changed.promise;
  expect(await listed()).toContain("Read");
  await client.close();
});

it("refuses a family that is none, with the list", async () => {
  const { code, stderr } = await runMatrx(["mcp", "--tools", "files,webcam"], { home: home() });
  expect(code).toBe(64);
  expect(stderr).toContain("files, shell, terminals, system, desktop, ports, mounted, or all");
});

it("says what is wrong before a client waits for it", async () => {
  const wrong = join(rig.dataDir, "wrong-token");
  writeFileSync(wrong, "made-up", { mode: 0o600 });
  const args = ["mcp", "--device", rig.device, "--relay", rig.relay.url, "--token-file", wrong];
  const { code, stdout, stderr } = await runMatrx(args, { home: home() });
  expect(code).toBe(77);
  expect(stdout).toBe("");
  expect(stderr).toContain(`The token in ${wrong} is invalid`);
  const local = await runMatrx(["mcp", "--device", rig.device, "--read-only"], { home: home() });
  expect(local.code).toBe(64);
});

describe("when the relay goes away", () => {
  const bash = (client: Client, command: string) => client.callTool({ name: "Bash", arguments: { command } });

  it("says so to each call at once, also to one that runs, and is back with the relay", async () => {
    await using client = await start(["--device", rig.device], "auto");
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
    const subscribed = await client.listen({ toolsListChanged: true });
    const file = fileIn(rig);
    const running = bash(client, `MARK='${file}' sleep 30`);
    await expect.poll(() => processesOf(file), { timeout: 10_000 }).not.toEqual([]);
    await rig.restartRelay(async () => {
      const cut = await running;
      expect(cut.isError).toBe(true);
      expect(textOf(cut)).toMatch(/^OUTCOME_UNKNOWN: .*\nHint: /);
      const refused = await bash(client, "echo out");
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(/^UNAVAILABLE: Can't reach the relay at .*\nHint: /);
      await expect(client.listTools({}, { cacheMode: "bypass" })).rejects.toThrow("UNAVAILABLE: Can't reach");
    });
    await changed.promise;
    await subscribed.close();
    await expect.poll(() => rig.isOnline(), { timeout: 20_000 }).toBe(true);
    expect(textOf(await bash(client, "echo back"))).toContain("back");
  });
});

it("says that the token was revoked", async () => {
  const person = await Person.signIn(rig);
  const { id, token: other } = await person.grant({ effects: ["read"], ask: [] });
  const file = join(rig.dataDir, "other-token");
  writeFileSync(file, other, { mode: 0o600 });
  await using client = await start(["--device", rig.device], "auto", file);
  await client.listTools();
  await rig.relay.request(await rig.relay.signIn(), `DELETE /v1/tokens/${id}`, z.unknown());
  const refused = await client.callTool({ name: "ListDirectory", arguments: { path: rig.folder } });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toMatch(/^UNAUTHENTICATED: .*\nHint: /);
});
