/** What ends an upload besides its commit: an abort, a day without bytes; and how many there may be. */
import { randomBytes } from "node:crypto";
import { readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { expect, test } from "vitest";
import { UPLOAD_LIMITS } from "../../../agent/transfers/uploads.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { serve } from "./memory-stream.ts";
import { append, arrived, begin, OPEN, partsIn, Sender } from "./uploading.ts";

const DAY = 24 * 60 * 60 * 1000;

test("an abort ends the stream at once, and leaves nothing", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  const sender = new Sender();
  const served = failure(
    serve(await bench.call("UploadAppend", { upload, offset: 0 }, OPEN), { sends: sender.sends() }),
  );
  await sender.send(Buffer.from("hello"));
  await bench.call("UploadAbort", { upload });
  expect(await served).toMatchObject({ code: "CANCELLED" });
  expect(readdirSync(bench.home)).toEqual([]);
  expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
  expect(await failure(bench.call("UploadAbort", { upload }))).toMatchObject({ code: "NOT_FOUND" });
});

test("an abort while it is put into place says which of the two happened", async () => {
  const bench = await Workbench.open();
  const content = randomBytes(8 * 1024 * 1024);
  for (let turns = 0; turns < 30; turns += 3) {
    const upload = await begin(bench, { path: "a.bin" });
    await append(bench, upload, 0, [content]);
    const commit = bench.call("UploadCommit", { upload });
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    const ended = await Promise.allSettled([commit, bench.call("UploadAbort", { upload })]);
    const [committed, aborted] = ended.map(({ status }) => status === "fulfilled");
    expect([turns, committed]).toEqual([turns, !aborted]);
    expect(readdirSync(bench.home)).toEqual(committed ? ["a.bin"] : []);
    if (committed) unlinkSync(bench.at("a.bin"));
  }
});

test("what nobody continues for a day is removed; each byte gives it another day", async () => {
  let now = Date.now();
  const bench = await Workbench.open({ now: () => now });
  const begun = await bench.call("Upload", { path: "a.txt" });
  const upload = String(begun.metadata?.upload);
  expect(begun.metadata?.expires).toBe(new Date(now + DAY).toISOString());
  now += DAY - 1;
  await append(bench, upload, 0, [Buffer.from("hello")]);
  now += DAY - 1;
  await bench.restart();
  await bench.uploads.sweep();
  expect(await arrived(bench, upload)).toBe(5);
  now += 1;
  expect(await failure(bench.call("UploadInfo", { upload }))).toMatchObject({ code: "NOT_FOUND" });
  await bench.restart();
  await bench.uploads.sweep();
  expect(readdirSync(bench.home)).toEqual([]);
  expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
});

test("one that bytes arrive for does not expire", async () => {
  let now = Date.now();
  const bench = await Workbench.open({ now: () => now });
  const sender = new Sender();
  const begun = await bench.call("Upload", { path: "a.txt" }, OPEN);
  const served = serve(begun, { sends: sender.sends() });
  await sender.send(Buffer.from("one"));
  now += 2 * DAY;
  await bench.uploads.sweep();
  sender.end();
  expect((await served).trailer).toEqual({ offset: 3 });
  expect(await arrived(bench, String(begun.metadata?.upload))).toBe(3);
});

test("a grant has so many at a time, and no more", async () => {
  const bench = await Workbench.open();
  const begun = [];
  for (let count = 0; count < UPLOAD_LIMITS.perGrant; count++) begun.push(await begin(bench, { path: "a" }));
  const error = await failure(bench.call("Upload", { path: "a" }));
  expect(error).toMatchObject({ code: "RATE_LIMITED", details: { limit: UPLOAD_LIMITS.perGrant } });
  const grant = { ...bench.owner, id: makeGrantId() };
  await begin(bench, { path: "a" }, { grant });
  await bench.call("UploadAbort", { upload: begun[0] });
  await begin(bench, { path: "a" });
  expect(partsIn(bench.home)).toHaveLength(UPLOAD_LIMITS.perGrant + 1);
});
