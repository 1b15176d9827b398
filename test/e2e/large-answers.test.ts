/**
 * Answers of several MB through a real relay and a real agent, to callers who read at once, slowly, late, or not at all:
 * each arrives once, whole, and who does not read holds up nobody else.
 */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Caller, type Frame, invoke } from "./caller.ts";
import { type Rig, startRig } from "./rig.ts";

const MINUTE = 60_000;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Two answers of it are more than one caller's socket may have on the way. */
const image = Buffer.concat([PNG, randomBytes(4_000_000)]);
/** Three are more than one token may have on the way, beyond what the system takes off the relay's hands. */
const largest = Buffer.concat([PNG, randomBytes(9_500_000)]);

let rig: Rig;
let file: string;
let largestFile: string;

beforeAll(async () => {
  rig = await startRig();
  file = join(rig.folder, "image.png");
  largestFile = join(rig.folder, "largest.png");
  writeFileSync(file, image);
  writeFileSync(largestFile, largest);
});
afterAll(() => rig?.stop());

const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

function expectImage({ type, image: sent, output }: Frame, file = image): void {
  expect({ type, output }).toMatchObject({ type: "success" });
  expect(hash(Buffer.from(sent?.base64_data ?? "", "base64"))).toBe(hash(file));
}

function askImages(caller: Caller, count: number): string[] {
  const ids = Array.from({ length: count }, (_, n) => `image-${n}`);
  for (const id of ids) caller.send({ id, tool: "Read", input: { file_path: file, raw: true } });
  return ids;
}

/** Each id was answered once, with the whole image. */
async function expectImages(caller: Caller, ids: readonly string[]): Promise<void> {
  for (const id of ids) expectImage(await caller.answer(id));
  const answered = caller.frames.map(({ id }) => id).filter((id) => ids.includes(id ?? ""));
  expect(answered.toSorted()).toEqual([...ids].toSorted());
}

function open(token = rig.token): Promise<Caller> {
  return Caller.open(rig.relay.url, rig.device, token);
}

it("who does not read holds up nobody, and gets every answer once he reads", {
  timeout: 2 * MINUTE,
}, async () => {
  const deaf = await Promise.all([open(), open(), open()]);
  const asked = deaf.map((caller) => {
    caller.pause();
    return askImages(caller, 8);
  });
  using other = await open(await rig.relay.token());
  for (let n = 0; n < 5; n++)
    expect(await other.call(`small-${n}`, "ListDirectory", { path: rig.folder })).toMatchObject({
      type: "success",
    });
  await expectImages(other, askImages(other, 3));
  for (const [n, caller] of deaf.entries()) {
    caller.resume();
    await expectImages(caller, asked[n] ?? []);
    caller[Symbol.dispose]();
  }
});

it("who reads slowly gets every answer, and his connection stays", { timeout: 2 * MINUTE }, async () => {
  using slow = await open();
  const ids = askImages(slow, 8);
  for (let n = 1; n <= ids.length; n++) {
    slow.pause();
    await sleep(100);
    slow.resume();
    await slow.frame("next answer", () => slow.frames.length >= n);
  }
  await expectImages(slow, ids);
  expect(await slow.call("last", "SystemInfo")).toMatchObject({ type: "success" });
});

it("many honest readers of one token at once, over sockets and REST, are all served", {
  timeout: 2 * MINUTE,
}, async () => {
  const callers = await Promise.all(Array.from({ length: 8 }, () => open()));
  const overRest = Array.from({ length: 6 }, () =>
    invoke(rig.base, rig.token, { tool: "Read", input: { file_path: file, raw: true } }),
  );
  const asked = callers.map((caller) => askImages(caller, 2));
  for (const [n, caller] of callers.entries()) {
    await expectImages(caller, asked[n] ?? []);
    expect(await caller.call("small", "SystemInfo")).toMatchObject({ type: "success" });
    caller[Symbol.dispose]();
  }
  for (const answer of await Promise.all(overRest)) expectImage(answer);
});

it("over REST, who does not read holds up his own answers alone, until he goes", {
  timeout: MINUTE,
}, async () => {
  const deaf = [await unreadRest(), await unreadRest()];
  const read = { tool: "Read", input: { file_path: largestFile, raw: true } };
  expectImage(await invoke(rig.base, await rig.relay.token(), read), largest);
  let answered = false;
  const waiting = invoke(rig.base, rig.token, read).finally(() => {
    answered = true;
  });
  expect(await invoke(rig.base, rig.token, { tool: "SystemInfo" })).toMatchObject({ type: "success" });
  expectImage(await invoke(rig.base, await rig.relay.token(), read), largest);
  expect(answered).toBe(false);
  for (const response of deaf) response.destroy();
  expectImage(await waiting, largest);
});

it("what waits for its readers arrives once though the agent's line breaks", {
  timeout: 2 * MINUTE,
}, async () => {
  using deaf = await open();
  using reading = await open();
  deaf.pause();
  const asked = askImages(deaf, 6);
  const registrations = rig.agent.states.filter((state) => state === "REGISTERED").length;
  const ids = askImages(reading, 4);
  await reading.frame("first answer", ({ id }) => ids.includes(id ?? ""));
  rig.line.cut();
  await rig.agent.registered(registrations);
  deaf.resume();
  await expectImages(reading, ids);
  await expectImages(deaf, asked);
});

/** A request whose answer begins to come, and is not read. */
async function unreadRest(): Promise<IncomingMessage> {
  const { port } = rig.relay;
  const asking = request({
    ...{ port, method: "POST", path: `/v1/devices/${rig.device}/tools/Read`, agent: false },
    headers: { authorization: `Bearer ${rig.token}`, "content-type": "application/json" },
  });
  asking.on("error", () => undefined).end(JSON.stringify({ file_path: largestFile, raw: true }));
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  return response;
}
