/** Files as streams: ranges, etags, and files that change meanwhile. The link is elsewhere; its end here is in memory. */
import { hash, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, open, symlink } from "node:fs/promises";
import { makeGrantId } from "@matrx/shared/ids.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Digests } from "../../../agent/transfers/digests.ts";
import { PIECE_BYTES } from "../../../agent/transfers/send-file.ts";
import { failure, WAYS, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "./memory-stream.ts";

const OPEN = { opensStream: true };

describe.each(WAYS)("FileInfo and Download, %s", (_, platform) => {
  test("a file arrives as it is, with its digest before and after", async () => {
    const bench = await Workbench.open({ platform });
    const content = randomBytes(3 * PIECE_BYTES + 17);
    const path = await bench.put("a photo.JPG", content);
    const result = await bench.call("Download", { path: "a photo.JPG" }, OPEN);
    const sha256 = hash("sha256", content);
    expect(result.metadata).toEqual({
      ...{ kind: "file", path, name: "a photo.JPG", size: content.length, mode: "0644" },
      ...{
        modified: new Date(Math.floor(statSync(path).mtimeMs)).toISOString(),
        media_type: "image/jpeg",
        etag: sha256,
        sha256,
      },
      ...{ offset: 0, length: content.length, total: content.length },
    });
    const { stream, trailer } = await serve(result);
    expect(stream.content.equals(content)).toBe(true);
    expect(trailer).toEqual({ bytes: content.length, sha256 });
    expect(stream.largest).toBe(PIECE_BYTES);
    expect(stream.waiting).toBe(1);
    const { offset: _o, length: _l, total: _t, ...facts } = result.metadata ?? {};
    expect((await bench.call("FileInfo", { path: "a photo.JPG" })).metadata).toEqual(facts);
  });

  test("any range of it, and no more", async () => {
    const bench = await Workbench.open({ platform });
    const content = randomBytes(2 * PIECE_BYTES);
    await bench.put("a.bin", content);
    const size = content.length;
    const place = fc.oneof(
      fc.integer({ min: 0, max: size }),
      fc.constantFrom(0, PIECE_BYTES - 1, PIECE_BYTES, size),
    );
    await fc.assert(
      fc.asyncProperty(place, place, async (offset, length) => {
        const { stream, trailer } = await serve(
          await bench.call("Download", { path: "a.bin", offset, length }, OPEN),
        );
        const wanted = content.subarray(offset, offset + length);
        expect(stream.content.equals(wanted)).toBe(true);
        expect(trailer).toEqual({ bytes: wanted.length, sha256: hash("sha256", wanted) });
      }),
      { numRuns: 30 },
    );
  });
});

test("a range that begins beyond the end is refused with the size", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "hello");
  const at = (offset: number) => bench.call("Download", { path: "a.txt", offset }, OPEN);
  expect((await at(5)).metadata).toMatchObject({ length: 0, total: 5 });
  expect(await failure(at(6))).toMatchObject({
    code: "INVALID_PARAMETERS",
    details: { reason: "range", total: 5 },
  });
  await mkdir(bench.at("folder"));
  const part = bench.call("Download", { path: "folder", offset: 1 }, OPEN);
  expect(await failure(part)).toMatchObject({ code: "INVALID_PARAMETERS", details: { reason: "range" } });
});

test("without a stream it is refused, with the way that has one", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "hello");
  const error = await failure(bench.call("Download", { path: "a.txt" }));
  expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { reason: "needs_stream" } });
  expect(error.hint).toContain("`opens`");
});

test("an etag that no longer matches is a conflict, with the one that does", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "one");
  const { metadata } = await bench.call("FileInfo", { path: "a.txt" });
  const input = { path: "a.txt", if_etag: metadata?.etag };
  expect((await bench.call("Download", input, OPEN)).metadata).toMatchObject({ etag: metadata?.etag });
  await bench.put("a.txt", "two");
  const error = await failure(bench.call("Download", input, OPEN));
  expect(error).toMatchObject({ code: "CONFLICT", details: { etag: hash("sha256", "two") } });
});

test("conditions of HTTP are judged with the file at hand, and who needs no bytes gets none", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "hello");
  const etag = `"${hash("sha256", "hello")}"`;
  const got = async (conditions: Record<string, string>, path = "a.txt") => {
    const result = await bench.call("Download", { path, conditions }, OPEN);
    return [result.metadata?.status, (await serve(result)).stream.content.toString()];
  };
  expect(await got({ Range: "bytes=1-3" })).toEqual([206, "ell"]);
  expect(await got({ Range: "bytes=-2" })).toEqual([206, "lo"]);
  expect(await got({ Range: "bytes=1-3", "If-Range": '"other"' })).toEqual([200, "hello"]);
  expect(await got({ Range: "bytes=5-" })).toEqual([416, ""]);
  expect(await got({ "If-None-Match": etag })).toEqual([304, ""]);
  expect(await got({ "If-None-Match": '"other"' })).toEqual([200, "hello"]);
  expect(await got({ "If-Match": '"other"', Range: "bytes=5-" })).toEqual([412, ""]);
  await mkdir(bench.at("folder"));
  expect(await got({ "If-Match": '"other"' }, "folder")).toEqual([412, ""]);
  expect((await got({ Range: "bytes=0-1" }, "folder"))[0]).toBe(200);
  expect(
    await failure(bench.call("Download", { path: "a.txt", conditions: { Accept: "*" } }, OPEN)),
  ).toMatchObject({
    code: "INVALID_PARAMETERS",
  });
});

test.each([{ offset: 1 }, { length: 1 }, { if_etag: "abc" }])(
  "%j beside conditions is refused: they would contradict one another",
  async (part) => {
    const bench = await Workbench.open();
    await bench.put("a.txt", "hello");
    const input = { path: "a.txt", conditions: { Range: "bytes=1-3" }, ...part };
    const [field] = Object.keys(part);
    expect(await failure(bench.call("Download", input, OPEN))).toMatchObject({
      code: "INVALID_PARAMETERS",
      message: `${field}: can't be combined with conditions`,
      hint: expect.stringContaining("Range"),
      details: { field },
    });
  },
);

test("a caller that follows no links gets a real path, and nothing that was put in its place or on the way", async () => {
  const bench = await Workbench.open();
  await bench.put("folder/real.txt", "hello");
  await symlink("folder/real.txt", bench.at("link"));
  await symlink("folder", bench.at("way"));
  const looked = (path: string) => bench.call("FileInfo", { path, follow_links: false });
  const real = bench.at("folder/real.txt");
  expect((await looked(real)).metadata).toMatchObject({ path: real });
  for (const path of [bench.at("link"), bench.at("way/real.txt")]) {
    expect(await failure(looked(path))).toMatchObject({ code: "CONFLICT", details: { reason: "links" } });
    const sent = bench.call("Download", { path, follow_links: false }, OPEN);
    expect(await failure(sent)).toMatchObject({ code: "CONFLICT", details: { reason: "links" } });
  }
});

test("a link leads to its target; what is closed or no file is refused as by Read", async () => {
  const bench = await Workbench.open();
  await bench.put("real.txt", "hello");
  await bench.put("secret/key", "k");
  await symlink("real.txt", bench.at("link"));
  await symlink("secret/key", bench.at("way"));
  expect((await bench.call("FileInfo", { path: "link" })).metadata).toMatchObject({
    path: bench.at("real.txt"),
    name: "real.txt",
  });
  const policy = { denied_paths: [bench.at("secret")] };
  const grant = { id: makeGrantId(), owner: false, effects: ["read" as const], paths: [bench.home] };
  for (const path of ["way", "secret", "secret/key", "/etc/hostname", bench.state, "/dev/zero", "none"]) {
    for (const tool of ["FileInfo", "Download"]) {
      const session = bench.newSession(grant);
      const error = await failure(bench.call(tool, { path }, { ...OPEN, policy, grant, session }));
      expect([tool, path, error.code]).toEqual([
        tool,
        path,
        path === "none" ? "NOT_FOUND" : "PERMISSION_DENIED",
      ]);
    }
  }
  expect(await failure(bench.call("FileInfo", { path: "/dev/zero" }))).toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
  });
});

test.runIf(process.platform === "linux")(
  "a file that the system makes up is refused: its size is not true",
  async () => {
    const bench = await Workbench.open();
    for (const path of ["/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"].filter(existsSync))
      for (const tool of ["FileInfo", "Download"])
        expect(await failure(bench.call(tool, { path }, OPEN))).toMatchObject({
          details: { reason: "unsized" },
        });
  },
);

describe("a file that changes while it is sent", () => {
  const content = Buffer.alloc(4 * PIECE_BYTES, "a");

  test.each([
    ["shrinks", (path: string) => truncateSync(path, PIECE_BYTES + 5)],
    ["grows", (path: string) => appendFileSync(path, "more")],
    ["gets other bytes and its old time", (path: string) => rewrite(path)],
  ])("and %s ends the stream with a conflict", async (_what, change) => {
    const bench = await Workbench.open();
    const path = await bench.put("a.bin", content);
    const result = await bench.call("Download", { path: "a.bin" }, OPEN);
    let sent = 0;
    const receive = ({ length }: Uint8Array) => {
      if (sent === 0) change(path);
      sent += length;
    };
    expect(await failure(serve(result, { receive }))).toMatchObject({
      code: "CONFLICT",
      details: { reason: "changed" },
    });
    // Whoever counts bytes, as HTTP does, would take it for whole.
    expect(sent).toBeLessThan(content.length);
  });

  test("or before it is sent", async () => {
    const bench = await Workbench.open();
    const path = await bench.put("a.bin", content);
    const result = await bench.call("Download", { path: "a.bin" }, OPEN);
    rewrite(path);
    const stream = new MemoryStream();
    expect(await failure(result.stream?.(stream) ?? Promise.resolve())).toMatchObject({ code: "CONFLICT" });
    expect(stream.bytes).toBe(0);
  });
});

test("a reset ends it after the piece that was on its way", async () => {
  const bench = await Workbench.open();
  await bench.put("a.bin", Buffer.alloc(40 * PIECE_BYTES));
  const result = await bench.call("Download", { path: "a.bin" }, OPEN);
  const stream = new MemoryStream({ receive: () => stream.bytes > 3 * PIECE_BYTES && stream.reset() });
  await expect(result.stream?.(stream)).rejects.toBe(RESET);
  expect(stream.bytes).toBe(4 * PIECE_BYTES);
});

describe("digests", () => {
  const NEVER = new AbortController().signal;
  const later = () => Date.now() + 10_000;

  test("are kept while the file is the same, and made again when it changed in place with its old time", async () => {
    const bench = await Workbench.open();
    const path = await bench.put("a.bin", "aaaa");
    const digests = new Digests({ now: later });
    const before = await look(path, digests);
    expect(before.sha256).toBe(hash("sha256", "aaaa"));
    expect(await look(path, digests, ABORTED)).toEqual(before);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "bbbb");
    utimesSync(path, atime, mtime);
    expect((await look(path, digests)).sha256).toBe(hash("sha256", "bbbb"));
  });

  test("of a file that has just changed are not kept: it may change again and look the same", async () => {
    const bench = await Workbench.open();
    const path = await bench.put("a.bin", "aaaa");
    const digests = new Digests();
    await look(path, digests);
    await expect(look(path, digests, ABORTED)).rejects.toThrow("stopped");
  });

  test("are bounded in number, the oldest going first", async () => {
    const bench = await Workbench.open();
    const digests = new Digests({ most: 2, now: later });
    const paths = await Promise.all(["a", "b", "c"].map((name) => bench.put(name, name)));
    for (const path of paths) await look(path, digests);
    const [first = "", second = ""] = paths;
    await expect(look(second, digests, ABORTED)).resolves.toBeDefined();
    await expect(look(first, digests, ABORTED)).rejects.toThrow("stopped");
  });

  test("of a large file are not made: its etag is its identity, and changes with it", async () => {
    const bench = await Workbench.open();
    const path = await bench.put("a.bin", "aaaaa");
    const digests = new Digests({ hashedMaxBytes: 4 });
    const before = await look(path, digests, ABORTED);
    expect(before).toEqual({ etag: expect.stringMatching(/^id-[0-9a-f]{32}$/) });
    appendFileSync(path, "a");
    expect((await look(path, digests, ABORTED)).etag).not.toBe(before.etag);
  });

  const ABORTED = AbortSignal.abort(new Error("stopped"));

  async function look(path: string, digests: Digests, signal = NEVER) {
    await using handle = await open(path);
    return await digests.validatorsOf({ handle, stat: await handle.stat({ bigint: true }) }, signal);
  }
});

/** Other bytes of the same length, and the time as it was. */
function rewrite(path: string): void {
  const { atime, mtime, size } = statSync(path);
  writeFileSync(path, Buffer.alloc(size, "b"));
  utimesSync(path, atime, mtime);
}
