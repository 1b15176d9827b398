/** Uploads in pieces: what arrives, what is kept when a stream breaks, and what is refused. */
import { hash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "@matrx/shared/limits.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tries } from "../../helpers/long-mode.ts";
import { failure, WAYS, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "./memory-stream.ts";
import { append, appendAndReset, arrived, begin, OPEN, partsIn, Sender } from "./uploading.ts";

const PIECE = LIMITS.streamDataBytes;

describe.each(WAYS)("an upload, %s", (_, platform) => {
  test("arrives with the call that begins it, and is put into place as a whole", async () => {
    const bench = await Workbench.open({ platform });
    const content = randomBytes(3 * PIECE + 17);
    const sha256 = hash("sha256", content);
    const path = bench.at("new.bin");
    const begun = await bench.call("Upload", { path: "new.bin", size: content.length, sha256 }, OPEN);
    const upload = String(begun.metadata?.upload);
    expect(begun.metadata).toEqual({ upload, offset: 0, path, expires: expect.any(String) });
    const { trailer } = await serve(begun, { sends: piecesOf(content, PIECE) });
    expect(trailer).toEqual({ offset: content.length });
    const [part] = readdirSync(bench.home);
    expect([part, statSync(bench.at(String(part))).mode & 0o777]).toEqual([`.matrx-${upload}.part`, 0o600]);
    const { metadata } = await bench.call("UploadCommit", { upload });
    const done = { path, bytes: content.length, created: true, atomic: true, etag: sha256, sha256 };
    expect(metadata).toEqual(done);
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(readdirSync(bench.home)).toEqual(["new.bin"]);
    expect((await bench.call("FileInfo", { path })).metadata).toMatchObject({ etag: sha256, sha256 });
    expect(await failure(bench.call("UploadAbort", { upload }))).toMatchObject({ code: "NOT_FOUND" });
    expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
  });

  test("continues after resets at any place, also when the agent began again", async () => {
    const bench = await Workbench.open({ platform });
    const piece = fc.record({
      length: fc.integer({ min: 0, max: 70_000 }),
      breaks: fc.boolean(),
      restarts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (steps) => {
        const upload = await begin(bench, { path: "a.bin" });
        const sent: Buffer[] = [];
        for (const { length, breaks, restarts } of steps) {
          const bytes = randomBytes(length);
          const offset = Buffer.concat(sent).length;
          sent.push(bytes);
          if (breaks) {
            expect(await appendAndReset(bench, upload, offset, [bytes])).toBe(RESET);
          } else {
            const { trailer } = await append(bench, upload, offset, [bytes]);
            expect(trailer).toEqual({ offset: offset + length });
          }
          if (restarts) await bench.restart();
          expect(await arrived(bench, upload)).toBe(offset + length);
        }
        const whole = Buffer.concat(sent);
        const { metadata } = await bench.call("UploadCommit", { upload });
        expect(metadata).toMatchObject({ bytes: whole.length, sha256: hash("sha256", whole) });
        expect(readFileSync(bench.at("a.bin")).equals(whole)).toBe(true);
      }),
      { numRuns: tries(25) },
    );
    expect(readdirSync(bench.home)).toEqual(["a.bin"]);
  });
});

test("a part that another program changed is read again: the digest is that of the file", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt", sha256: hash("sha256", "hello") });
  await append(bench, upload, 0, [Buffer.from("hello")]);
  writeFileSync(bench.at(...partsIn(bench.home)), "HELLO");
  const error = await failure(bench.call("UploadCommit", { upload }));
  expect(error).toMatchObject({ code: "CONFLICT", details: { reason: "digest" } });
  expect(readdirSync(bench.home)).toEqual([]);
});

test("a part that is gone, or another file, ends the upload", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  const part = bench.at(...partsIn(bench.home));
  const other = await bench.put("other", "not it");
  for (const replace of [() => renameSync(part, bench.at("away")), () => renameSync(other, part)]) {
    replace();
    for (const tool of ["UploadInfo", "UploadCommit"])
      expect(await failure(bench.call(tool, { upload }))).toMatchObject({ code: "NOT_FOUND" });
  }
  await bench.call("UploadAbort", { upload });
  expect(partsIn(bench.home)).toHaveLength(1);
});

test("a wrong offset is a conflict with the right one, and stores nothing", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  await append(bench, upload, 0, [Buffer.from("hello")]);
  for (const offset of [0, 4, 6]) {
    const error = await failure(bench.call("UploadAppend", { upload, offset }, OPEN));
    expect(error).toMatchObject({ code: "CONFLICT", details: { reason: "offset", offset: 5 } });
  }
  // Right when the call was answered, and wrong when its stream comes.
  const late = await bench.call("UploadAppend", { upload, offset: 5 }, OPEN);
  await append(bench, upload, 5, [Buffer.from(", you")]);
  expect(await failure(serve(late, { sends: [Buffer.from("!!")] }))).toMatchObject({
    code: "CONFLICT",
    details: { reason: "offset", offset: 10 },
  });
  expect(await failure(bench.call("UploadAppend", { upload, offset: 10 }))).toMatchObject({
    code: "INVALID_PARAMETERS",
    details: { reason: "needs_stream" },
  });
  await bench.call("UploadCommit", { upload });
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("hello, you");
});

test("of two that append, the second is refused, and so is a commit meanwhile", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  const [first, second] = [
    await bench.call("UploadAppend", { upload, offset: 0 }, OPEN),
    await bench.call("UploadAppend", { upload, offset: 0 }, OPEN),
  ];
  const sender = new Sender();
  const served = serve(first, { sends: sender.sends() });
  await sender.send(Buffer.from("one"));
  const busy = { code: "CONFLICT", details: { reason: "busy" } };
  expect(await failure(serve(second, { sends: [Buffer.from("two")] }))).toMatchObject(busy);
  expect(await failure(bench.call("UploadAppend", { upload, offset: 3 }, OPEN))).toMatchObject(busy);
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject(busy);
  sender.end();
  expect((await served).trailer).toEqual({ offset: 3 });
  await bench.call("UploadCommit", { upload });
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("one");
});

test("a wrong digest removes the upload, and leaves the target as it was", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "old");
  const upload = await begin(bench, { path: "a.txt", sha256: hash("sha256", "hello").toUpperCase() });
  await append(bench, upload, 0, [Buffer.from("hullo")]);
  const other = bench.call("UploadCommit", { upload, sha256: hash("sha256", "hullo") });
  expect(await failure(other)).toMatchObject({ details: { reason: "other_digest" } });
  const error = await failure(bench.call("UploadCommit", { upload }));
  const found = { reason: "digest", sha256: hash("sha256", "hullo") };
  expect(error).toMatchObject({ code: "CONFLICT", details: found });
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("old");
  const again = await begin(bench, { path: "a.txt" });
  await append(bench, again, 0, [Buffer.from("hullo")]);
  const given = bench.call("UploadCommit", { upload: again, sha256: hash("sha256", "hello") });
  expect(await failure(given)).toMatchObject({ details: { reason: "digest" } });
});

test("more than was announced is not stored, and less is not committed", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt", size: 5 });
  await append(bench, upload, 0, [Buffer.from("hel")]);
  const less = await failure(bench.call("UploadCommit", { upload }));
  expect(less).toMatchObject({ code: "CONFLICT", details: { reason: "incomplete", offset: 3, size: 5 } });
  const more = await failure(append(bench, upload, 3, [Buffer.from("lo!")]));
  expect(more).toMatchObject({ code: "INVALID_PARAMETERS", details: { reason: "size", size: 5 } });
  expect(await arrived(bench, upload)).toBe(3);
  await append(bench, upload, 3, [Buffer.from("lo")]);
  await bench.call("UploadCommit", { upload });
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("hello");
});

test("a stream that is lost before its first byte changes nothing", async () => {
  const bench = await Workbench.open();
  const { stream: serveStream, metadata } = await bench.call("Upload", { path: "a.txt" }, OPEN);
  const stream = new MemoryStream();
  stream.reset(RESET);
  await expect(serveStream?.(stream)).rejects.toBe(RESET);
  expect(await arrived(bench, String(metadata?.upload))).toBe(0);
});

function piecesOf(content: Buffer, length: number): Buffer[] {
  const count = Math.ceil(content.length / length);
  return Array.from({ length: count }, (_, index) => content.subarray(index * length, (index + 1) * length));
}
