/** Uploads that cannot be continued, and pieces with a checksum. */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { expect, test } from "vitest";
import { failure, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "./memory-stream.ts";
import { append, arrived, begin, OPEN } from "./uploading.ts";

const MINUTE = 60_000;
const records = (bench: Workbench) => readdirSync(join(bench.state, "uploads"));

/** Sends a piece, then breaks the stream. */
async function sendAndBreak(
  bench: Workbench,
  tool: "Upload" | "UploadAppend",
  input: Record<string, unknown>,
) {
  const { stream: serveStream } = await bench.call(tool, input, OPEN);
  async function* sends() {
    yield Buffer.from("half");
    stream.reset(RESET);
  }
  const stream: MemoryStream = new MemoryStream({ sends: sends() });
  return await failure(Promise.resolve(serveStream?.(stream)));
}

test("one that cannot be continued leaves nothing when its stream breaks", async () => {
  const bench = await Workbench.open();
  await sendAndBreak(bench, "Upload", { path: "a.txt", resumable: false });
  expect([readdirSync(bench.home), records(bench)]).toEqual([[], []]);
});

test.each([
  ["a wrong digest", { sha256: "0".repeat(64) }, "digest"],
  ["fewer bytes than announced", { size: 6 }, "incomplete"],
])("%s leaves nothing of one that cannot be continued", async (_what, announced, reason) => {
  const bench = await Workbench.open();
  const begun = await bench.call("Upload", { path: "a.txt", resumable: false, ...announced }, OPEN);
  await serve(begun, { sends: [Buffer.from("hello")] });
  const { upload } = begun.metadata ?? {};
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject({ details: { reason } });
  expect([readdirSync(bench.home), records(bench)]).toEqual([[], []]);
});

test("nor when the agent restarts, or nobody commits it for ten minutes", async () => {
  let now = Date.now();
  const bench = await Workbench.open({ now: () => now });
  await begin(bench, { path: "a.txt", resumable: false });
  await bench.restart();
  await bench.uploads.sweep();
  expect([readdirSync(bench.home), records(bench)]).toEqual([[], []]);
  await begin(bench, { path: "a.txt", resumable: false });
  now += 10 * MINUTE;
  await bench.uploads.sweep();
  expect([readdirSync(bench.home), records(bench)]).toEqual([[], []]);
});

test.each(["sha1", "sha256"] as const)(
  "a piece with a wrong %s is not kept, and the whole is right",
  async (algorithm) => {
    const bench = await Workbench.open();
    const upload = await begin(bench, { path: "a.txt" });
    await append(bench, upload, 0, [Buffer.from("one ")]);
    const piece = (text: string, said: string) => {
      const checksum = { algorithm, digest: hash(algorithm, said) };
      return bench
        .call("UploadAppend", { upload, offset: 4, checksum }, OPEN)
        .then((begun) => serve(begun, { sends: [Buffer.from(text)] }));
    };
    expect(await failure(piece("twp", "two"))).toMatchObject({ details: { reason: "checksum", offset: 4 } });
    expect(await arrived(bench, upload)).toBe(4);
    await piece("two", "two");
    const { metadata } = await bench.call("UploadCommit", { upload });
    expect(metadata).toMatchObject({ sha256: hash("sha256", "one two") });
    expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("one two");
  },
);

test("a caller who missed the answer learns that the upload is finished, and others do not", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  await append(bench, upload, 0, [Buffer.from("hello")]);
  await bench.call("UploadCommit", { upload });
  const { metadata } = await bench.call("UploadInfo", { upload });
  expect(metadata).toMatchObject({ offset: 5, size: 5, finished: true });
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject({ code: "NOT_FOUND" });
  const grant = { ...bench.owner, id: makeGrantId() };
  const asked = bench.call("UploadInfo", { upload }, { grant, session: bench.newSession(grant) });
  expect(await failure(asked)).toMatchObject({ code: "NOT_FOUND" });
});

test("nor is one that breaks before its checksum could be compared", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  const checksum = { algorithm: "sha256", digest: hash("sha256", "half and half") };
  await sendAndBreak(bench, "UploadAppend", { upload, offset: 0, checksum });
  expect(await arrived(bench, upload)).toBe(0);
});
