/** Files of any size through a real relay and a real agent: whole, under credit, beside calls, and when links break. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { StreamEnd } from "../../shared/streams/endpoint.ts";
import { type Rig, startRig } from "./rig.ts";
import { StreamCaller } from "./stream-caller.ts";

const MiB = 1024 * 1024;
const content = randomBytes(24 * MiB);
const MINUTE = 60_000;

let rig: Rig;
let path: string;

beforeAll(async () => {
  rig = await startRig();
  path = join(rig.folder, "large.bin");
  writeFileSync(path, content);
});
afterAll(() => rig?.stop());

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function open(): Promise<StreamCaller> {
  return StreamCaller.open(rig.relay.url, rig.device, rig.token);
}

/** Reads a stream to its end. */
async function drained(stream: StreamEnd): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of stream.incoming()) {
    if (piece.kind !== "data") continue;
    hash.update(piece.bytes);
    bytes += piece.bytes.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** Memory of a process, in bytes. */
function residentOf(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

it("a file arrives whole, with its hash, and a part of it too", { timeout: MINUTE }, async () => {
  using caller = await open();
  const whole = await caller.stream("Download", { path });
  expect(whole.answer).toMatchObject({ type: "success", metadata: { total: content.length } });
  expect(await drained(whole.stream)).toEqual({ sha256: hashOf(content), bytes: content.length });
  expect(whole.stream.trailer).toMatchObject({ bytes: content.length, sha256: hashOf(content) });
  const part = await caller.stream("Download", { path, offset: 5, length: 1_000_000 });
  expect((await drained(part.stream)).sha256).toBe(hashOf(content.subarray(5, 1_000_005)));
});

it("16 streams at once each arrive whole", { timeout: MINUTE }, async () => {
  using caller = await open();
  const window = 256 * 1024;
  const parts = Array.from({ length: 16 }, (_, index) => ({ offset: index * MiB, length: 2 * MiB - index }));
  const got = await Promise.all(
    parts.map(async (part) => drained((await caller.stream("Download", { path, ...part }, window)).stream)),
  );
  const wanted = parts.map(({ offset, length }) => hashOf(content.subarray(offset, offset + length)));
  expect(got.map(({ sha256 }) => sha256)).toEqual(wanted);
});

it("a caller that does not read costs relay and agent no more than its window, and nobody else anything", {
  timeout: MINUTE,
}, async () => {
  using stalled = await open();
  using other = await open();
  const whole = async () => {
    const { stream } = await other.stream("Download", { path });
    expect((await drained(stream)).bytes).toBe(content.length);
  };
  // What they take for their first streams they keep.
  await whole();
  const memory = () => [rig.relay.pid, rig.agent.child.pid].map((pid) => residentOf(pid ?? 0));
  const before = memory();
  const grown = () => memory().map((bytes, at) => Math.round((bytes - (before[at] ?? 0)) / MiB));
  const held = await stalled.stream("Download", { path });
  expect(held.answer.type).toBe("success");
  await expect.poll(async () => (await other.call("SystemInfo")).type).toBe("success");
  await sleep(2000);
  for (const mebibytes of grown()) expect(mebibytes).toBeLessThan(16);
  for (let round = 0; round < 3; round++) await whole();
  expect((await other.call("SystemInfo")).type).toBe("success");
  expect(held.stream.trailer).toBeUndefined();
  for (const mebibytes of grown()) expect(mebibytes).toBeLessThan(64);
  expect((await drained(held.stream)).sha256).toBe(hashOf(content));
});

it("a link that breaks ends the stream with a reason, and the next one goes on from there", {
  timeout: MINUTE,
}, async () => {
  using caller = await open();
  const { stream } = await caller.stream("Download", { path });
  let bytes = 0;
  const reading = (async () => {
    for await (const piece of stream.incoming()) {
      if (piece.kind !== "data") continue;
      if (bytes === 0) rig.line.cut();
      bytes += piece.bytes.length;
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: "UNAVAILABLE", hop: "relay" });
  expect(bytes).toBeLessThan(content.length);
  await expect.poll(() => rig.isOnline(), { timeout: 20_000 }).toBe(true);
  const rest = await caller.stream("Download", { path, offset: bytes });
  expect((await drained(rest.stream)).sha256).toBe(hashOf(content.subarray(bytes)));
});

it("a file that changes while it is sent ends the stream with CONFLICT", { timeout: MINUTE }, async () => {
  using caller = await open();
  const changing = join(rig.folder, "changing.bin");
  writeFileSync(changing, content);
  const { stream } = await caller.stream("Download", { path: changing });
  let isFirst = true;
  const reading = (async () => {
    for await (const _piece of stream.incoming()) {
      if (isFirst) writeFileSync(changing, "short");
      isFirst = false;
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: "CONFLICT" });
});

it("a caller that leaves ends its stream at the device: the file is closed there", {
  timeout: MINUTE,
}, async () => {
  const caller = await open();
  const { answer } = await caller.stream("Download", { path });
  expect(answer.type).toBe("success");
  caller.socket.terminate();
  using other = await open();
  const openFiles = async () =>
    (
      await other.call("Bash", { command: `ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c ${path}; true` })
    ).output?.trim();
  await expect.poll(openFiles, { timeout: 20_000 }).toBe("0");
});
