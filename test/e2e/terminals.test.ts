/** A terminal through a real relay and a real agent: it outlives both the caller's connection and the agent, byte by byte. */
import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import type { StreamEnd } from "../../shared/streams/endpoint.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startAgent } from "./agent.ts";
import { stopWithHolder } from "./holders.ts";
import { type Rig, startRig } from "./rig.ts";
import { StreamCaller } from "./stream-caller.ts";

const MINUTE = 60_000;
const LINES = 100_000;
const wanted = Buffer.from(Array.from({ length: LINES }, (_, i) => `${i + 1}\r\n`).join(""));

let rig: Rig;
let home: string | undefined;

beforeAll(async () => {
  // What the user's own shell does when it starts is none of a test's business.
  home = makeFolder();
  vi.stubEnv("HOME", home);
  rig = await startRig();
});

afterAll(async () => {
  if (rig) await stopWithHolder(rig);
  if (home) removeFolder(home);
  vi.unstubAllEnvs();
});

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function open(): Promise<StreamCaller> {
  return StreamCaller.open(rig.relay.url, rig.device, rig.token);
}

/** Collects what comes until the stream ends, or is reset. */
async function collect(stream: StreamEnd, parts: Uint8Array[], messages: object[] = []): Promise<void> {
  for await (const piece of stream.incoming()) {
    if (piece.kind === "data") parts.push(piece.bytes);
    else messages.push(piece.message);
  }
}

it("the agent is killed while a program writes, and the caller has every byte of it", {
  timeout: 2 * MINUTE,
}, async () => {
  using caller = await open();
  const created = await caller.call("TerminalCreate", { shell: "/bin/bash", cwd: rig.folder });
  expect(created).toMatchObject({ type: "success", metadata: { cols: 80, rows: 24 } });
  const terminal = String(created.metadata?.terminal);
  const first = await caller.stream("TerminalAttach", { terminal, from_sequence: 0, write: true });
  expect(first.answer).toMatchObject({ type: "success", metadata: { terminal, write: true } });
  const seen: Uint8Array[] = [];
  const broken = collect(first.stream, seen).catch((error: unknown) => error);
  await first.stream.write(Buffer.from(`stty -echo; exec seq 1 ${LINES}\r`));
  await vi.waitFor(() => expect(Buffer.concat(seen).includes("\r\n2\r\n")).toBe(true), MINUTE);
  process.kill(rig.agent.child.pid ?? 0, "SIGKILL");
  expect(await broken).toMatchObject({ code: expect.any(String) });
  rig.agent = await startAgent(rig.dataDir);
  await rig.agent.registered();

  using again = await open();
  const { stream } = await again.stream("TerminalAttach", { terminal, from_sequence: 0 });
  const all: Uint8Array[] = [];
  const messages: object[] = [];
  await collect(stream, all, messages);
  expect(messages[0]).toEqual({
    ...{ type: "attached", sequence: 0, cols: 80, rows: 24, write: false },
    ...{ snapshot: false, snapshot_bytes: 0 },
  });
  expect(stream.trailer).toEqual({ exit_code: 0 });
  const [before, bytes] = [Buffer.concat(seen), Buffer.concat(all)];
  expect(hashOf(bytes.subarray(-wanted.length))).toBe(hashOf(wanted));
  expect(hashOf(bytes.subarray(0, before.length))).toBe(hashOf(before));
});

it("a mistake in the machine's policy refuses calls, and who is attached stays", {
  timeout: MINUTE,
}, async () => {
  using caller = await open();
  const created = await caller.call("TerminalCreate", { shell: "/bin/sh", cwd: rig.folder });
  const { terminal } = created.metadata ?? {};
  const { stream } = await caller.stream("TerminalAttach", { terminal, write: true });
  const seen: Uint8Array[] = [];
  const over = collect(stream, seen);
  const policyFile = join(rig.dataDir, "agent", "policy.json");
  onTestFinished(() => rmSync(policyFile, { force: true }));
  writeFileSync(policyFile, "{");
  const list = async () => (await caller.call("TerminalList", {})).code;
  await expect.poll(list, { timeout: 10_000 }).toBe("PERMISSION_DENIED");
  // Streams were looked at once a second.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await stream.write(Buffer.from("echo still $((40 + 2)) here; exit 7\r"));
  await over;
  expect(Buffer.concat(seen).toString()).toContain("still 42 here");
  expect(stream.trailer).toEqual({ exit_code: 7 });
  rmSync(policyFile);
  await expect.poll(list, { timeout: 10_000 }).toBeUndefined();
});

it.each([
  ["denies commands", { denied_tools: ["Bash"] }, "PERMISSION_DENIED"],
  // The last, as its policy may bind a second longer than the test.
  ["wants the sandbox", { sandbox: "always" }, "CANCELLED"],
])(
  "a policy of the machine that %s ends the terminal and who is attached, and what commands left running",
  { timeout: MINUTE },
  async (_by, policy, code) => {
    using caller = await open();
    const created = await caller.call("TerminalCreate", { shell: "/bin/sh", cwd: rig.folder });
    const { terminal } = created.metadata ?? {};
    const { stream } = await caller.stream("TerminalAttach", { terminal, write: true });
    const cut = collect(stream, []).catch((error: unknown) => error);
    const left = await caller.call("Bash", { command: "sleep 300", run_in_background: true });
    const { bash_id } = left.metadata ?? {};
    const command = caller.call("Bash", { command: "sleep 300" });
    const status = async () => (await caller.call("BashOutput", { bash_id })).metadata?.status;
    await expect.poll(status).toBe("running");
    const policyFile = join(rig.dataDir, "agent", "policy.json");
    onTestFinished(() => rmSync(policyFile, { force: true }));
    writeFileSync(policyFile, JSON.stringify(policy));
    expect(await cut).toMatchObject({ code: "PERMISSION_DENIED", hop: "agent" });
    expect(await command).toMatchObject({ code });
    rmSync(policyFile);
    const attach = async () => (await caller.call("TerminalAttach", { terminal })).code;
    await expect.poll(attach, { timeout: 10_000 }).toBe("NOT_FOUND");
    await expect.poll(status).toBe("cancelled");
  },
);
