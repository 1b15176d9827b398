/** An upload through a real relay and a real agent: in pieces, over a link that breaks and an agent that restarts. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAgent } from "./agent.ts";
import { type Rig, startRig } from "./rig.ts";
import { StreamCaller } from "./stream-caller.ts";

const MiB = 1024 * 1024;
const content = randomBytes(24 * MiB);
const sha256 = createHash("sha256").update(content).digest("hex");
const MINUTE = 60_000;

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

function open(): Promise<StreamCaller> {
  return StreamCaller.open(rig.relay.url, rig.device, rig.token);
}

/** How many bytes have arrived, once the agent answers. */
async function arrived(upload: unknown): Promise<number> {
  await expect.poll(() => rig.isOnline(), { timeout: 20_000 }).toBe(true);
  using caller = await open();
  const { metadata } = await caller.call("UploadInfo", { upload });
  return Number(metadata?.offset);
}

it("a file arrives whole, though the link breaks and the agent restarts", { timeout: MINUTE }, async () => {
  const path = join(rig.folder, "sent.bin");
  using first = await open();
  const begun = await first.stream("Upload", { path, size: content.length, sha256 });
  expect(begun.answer).toMatchObject({ type: "success", metadata: { offset: 0 } });
  const upload = begun.answer.metadata?.upload;
  const writing = (async () => {
    await begun.stream.write(content.subarray(0, 8 * MiB));
    rig.line.cut();
    await begun.stream.write(content.subarray(8 * MiB));
  })();
  await expect(writing).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const offset = await arrived(upload);
  expect(offset).toBeGreaterThan(0);
  expect(offset).toBeLessThan(content.length);

  using second = await open();
  const some = await second.stream("UploadAppend", { upload, offset });
  expect(some.answer).toMatchObject({ type: "success", metadata: { offset } });
  await some.stream.write(content.subarray(offset, offset + 2 * MiB));
  await some.stream.end();
  for await (const _nothing of some.stream.incoming());
  expect(some.stream.trailer).toEqual({ offset: offset + 2 * MiB });
  await rig.agent.child.stop(5000);
  rig.agent = await startAgent(rig.dataDir);

  const next = await arrived(upload);
  expect(next).toBe(offset + 2 * MiB);
  using third = await open();
  const wrong = await third.stream("UploadAppend", { upload, offset });
  expect(wrong.answer).toMatchObject({ type: "error", code: "CONFLICT", metadata: { offset: next } });
  const rest = await third.stream("UploadAppend", { upload, offset: next });
  await rest.stream.write(content.subarray(next));
  await rest.stream.end();
  for await (const _nothing of rest.stream.incoming());
  const done = await third.call("UploadCommit", { upload });
  expect(done).toMatchObject({ type: "success", metadata: { path, bytes: content.length, sha256 } });
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(readdirSync(rig.folder)).toEqual(["sent.bin"]);
});
