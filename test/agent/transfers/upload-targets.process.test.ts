/** Where uploads go: what is there already, what is exchanged meanwhile, and places that cannot be written. */
import { hash, randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT, needsRare } from "../../helpers/parts.ts";
import { failure, WAYS, Workbench } from "../tools/workbench.ts";
import { append, arrived, begin, partsIn } from "./uploading.ts";

/** Uploads a text. */
async function send(bench: Workbench, input: Record<string, unknown>, text = "new") {
  const upload = await begin(bench, input);
  await append(bench, upload, 0, [Buffer.from(text)]);
  return { upload, commit: () => bench.call("UploadCommit", { upload }) };
}

describe.each(WAYS)("the target of an upload, %s", (_, platform) => {
  test("a link at its name is not followed, wherever it leads", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("other/victim", "untouched");
    const { upload, commit } = await send(bench, { path: "a.txt" });
    symlinkSync(bench.at("other/victim"), bench.at("a.txt"));
    expect(await failure(commit())).toMatchObject({ code: "CONFLICT", details: { reason: "moved" } });
    const more = append(bench, upload, 3, [Buffer.from("x")]);
    expect(await failure(more)).toMatchObject({ details: { reason: "moved" } });
    expect(readFileSync(bench.at("other/victim"), "utf8")).toBe("untouched");
    expect(readdirSync(bench.at("other"))).toEqual(["victim"]);
    unlinkSync(bench.at("a.txt"));
    await commit();
    expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("new");
  });

  test("a link in place of its folder is not followed, nor is another folder", async () => {
    const bench = await Workbench.open({ platform });
    mkdirSync(bench.at("folder"));
    mkdirSync(bench.at("other"));
    const { commit } = await send(bench, { path: "folder/a.txt" });
    renameSync(bench.at("folder"), bench.at("away"));
    symlinkSync(bench.at("other"), bench.at("folder"));
    expect(await failure(commit())).toMatchObject({ code: "CONFLICT", details: { reason: "moved" } });
    unlinkSync(bench.at("folder"));
    expect(await failure(commit())).toMatchObject({ code: "CONFLICT" });
    mkdirSync(bench.at("folder"));
    expect(await failure(commit())).toMatchObject({ code: "NOT_FOUND" });
    expect([readdirSync(bench.at("folder")), readdirSync(bench.at("other"))]).toEqual([[], []]);
    rmSync(bench.at("folder"), { recursive: true });
    renameSync(bench.at("away"), bench.at("folder"));
    await commit();
    expect(readdirSync(bench.at("folder"))).toEqual(["a.txt"]);
  });

  test("keeps its mode and its owner; a new file has the mode that was asked for, or the usual one", async () => {
    const bench = await Workbench.open({ platform });
    const file = await bench.put("run.sh", "old");
    chmodSync(file, 0o751);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(file, 1234, 4321);
    const before = statSync(file);
    expect((await (await send(bench, { path: "run.sh", mode: "600" })).commit()).metadata).toMatchObject({
      created: false,
      atomic: true,
    });
    const { mode, uid, gid } = statSync(file);
    expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
    const usual = statSync(await bench.put("usual", "")).mode;
    await (await send(bench, { path: "new" })).commit();
    await (await send(bench, { path: "asked", mode: "0640", modified: "2001-02-03T04:05:06.5Z" })).commit();
    expect(statSync(bench.at("new")).mode).toBe(usual);
    const asked = statSync(bench.at("asked"));
    expect([asked.mode & 0o777, asked.mtimeMs]).toEqual([0o640, Date.parse("2001-02-03T04:05:06.5Z")]);
  });

  test("stays what it is if it is a link, or has several names", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("real", "old");
    symlinkSync("real", bench.at("link"));
    expect((await (await send(bench, { path: "link" })).commit()).metadata).toMatchObject({ atomic: true });
    expect([readlinkSync(bench.at("link")), readFileSync(bench.at("real"), "utf8")]).toEqual(["real", "new"]);
    linkSync(bench.at("real"), bench.at("second"));
    expect(await failure(begin(bench, { path: "second" }))).toMatchObject({
      code: "CONFLICT",
      details: { reason: "in_place" },
    });
    const { commit } = await send(bench, { path: "second", in_place: true }, "newer");
    expect((await commit()).metadata).toMatchObject({ atomic: false, sha256: hash("sha256", "newer") });
    expect(readFileSync(bench.at("real"), "utf8")).toBe("newer");
    expect(lstatSync(bench.at("second")).nlink).toBe(2);
    expect(readdirSync(bench.home).toSorted()).toEqual(["link", "real", "second"]);
  });
});

test("a file that appeared, went or changed meanwhile is replaced only as the call allows", async () => {
  const bench = await Workbench.open();
  const absent = await send(bench, { path: "a.txt", if_absent: true });
  const any = await send(bench, { path: "a.txt" }, "any");
  await bench.put("a.txt", "theirs");
  expect(await failure(absent.commit())).toMatchObject({ code: "CONFLICT" });
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("theirs");
  expect(await failure(begin(bench, { path: "a.txt", overwrite: false }))).toMatchObject({
    code: "CONFLICT",
  });
  const { etag } = (await bench.call("FileInfo", { path: "a.txt" })).metadata ?? {};
  const same = await send(bench, { path: "a.txt", if_etag: etag }, "by etag");
  expect((await any.commit()).metadata).toMatchObject({ created: false });
  const details = { reason: "etag", etag: hash("sha256", "any") };
  expect(await failure(same.commit())).toMatchObject({ code: "CONFLICT", details });
  expect(await failure(begin(bench, { path: "a.txt", if_etag: etag }))).toMatchObject({ details });
  unlinkSync(bench.at("a.txt"));
  expect(await failure(same.commit())).toMatchObject({ code: "CONFLICT", details: { reason: "etag" } });
  await absent.commit();
  expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("new");
});

test("a file that got a second name meanwhile is not written into, and what arrived is kept", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "old");
  const { upload, commit } = await send(bench, { path: "a.txt" });
  linkSync(bench.at("a.txt"), bench.at("second"));
  expect(await failure(commit())).toMatchObject({ code: "CONFLICT", details: { reason: "in_place" } });
  expect(readFileSync(bench.at("second"), "utf8")).toBe("old");
  unlinkSync(bench.at("second"));
  expect(await arrived(bench, upload)).toBe(3);
  expect((await commit()).metadata).toMatchObject({ atomic: true });
});

test("a file that another program replaced meanwhile is replaced in one step too", async () => {
  const bench = await Workbench.open();
  await bench.put("a.txt", "old");
  const { commit } = await send(bench, { path: "a.txt" });
  chmodSync(await bench.put("b.txt", "theirs"), 0o640);
  renameSync(bench.at("b.txt"), bench.at("a.txt"));
  expect((await commit()).metadata).toMatchObject({ created: false, atomic: true });
  expect([readFileSync(bench.at("a.txt"), "utf8"), statSync(bench.at("a.txt")).mode & 0o777]).toEqual([
    "new",
    0o640,
  ]);
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
});

test("a file whose attributes cannot be kept is replaced by no upload", async () => {
  const platform = { ...currentPlatform(), makeSuccessor: async () => undefined };
  const bench = await Workbench.open({ platform });
  await bench.put("a.txt", "old");
  expect(await failure(begin(bench, { path: "a.txt" }))).toMatchObject({ details: { reason: "in_place" } });
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
  expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
});

test("another user's file in place of the part is not taken for it", NEEDS_ROOT, async () => {
  const bench = await Workbench.open();
  const file = await bench.put("a.txt", "old");
  const upload = await begin(bench, { path: "a.txt" });
  chownSync(bench.at(...partsIn(bench.home)), 1234, 1234);
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject({ code: "NOT_FOUND" });
  expect(readFileSync(file, "utf8")).toBe("old");
});

test("what cannot fit is refused before it is sent", async () => {
  const bench = await Workbench.open();
  const error = await failure(begin(bench, { path: "a.txt", size: 2 ** 52 }));
  expect(error).toMatchObject({ details: { reason: "no_space", missing: expect.any(Number) } });
  expect(readdirSync(bench.home)).toEqual([]);
});

test("a folder that took its name stays", async () => {
  const bench = await Workbench.open();
  const { commit } = await send(bench, { path: "a" });
  mkdirSync(bench.at("a"));
  expect((await failure(commit())).message).toContain("is a folder");
  expect(readdirSync(bench.at("a"))).toEqual([]);
});

const NEEDS_USER = needsRare(process.getuid?.() !== 0, "read-only files bind only users other than root");

test("a read-only file stays, also one that became so", NEEDS_USER, async () => {
  const bench = await Workbench.open();
  const file = await bench.put("a.txt", "old");
  const { commit } = await send(bench, { path: "a.txt" });
  chmodSync(file, 0o444);
  expect(await failure(commit())).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await failure(begin(bench, { path: "a.txt" }))).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(readFileSync(file, "utf8")).toBe("old");
});

test.each([
  ["a folder", "folder", "TOOL_EXECUTION_FAILED"],
  ["what only a folder can be", "new/", "TOOL_EXECUTION_FAILED"],
  ["the root", "/", "TOOL_EXECUTION_FAILED"],
  ["a device", "/dev/null", "TOOL_EXECUTION_FAILED"],
  ["a name with NUL", "a\0b", "INVALID_PARAMETERS"],
  ["too long a name", "n".repeat(256), "INVALID_PARAMETERS"],
  ["a folder that is not there", "none/a", "NOT_FOUND"],
  ["a file as a folder", "file/a", "TOOL_EXECUTION_FAILED"],
  ["what belongs to Matrx", "../state/key", "PERMISSION_DENIED"],
])("%s is refused before anything is made", async (_what, path, code) => {
  const bench = await Workbench.open();
  mkdirSync(bench.at("folder"));
  await bench.put("file", "old");
  expect([path, (await failure(begin(bench, { path }))).code]).toEqual([path, code]);
  expect(readdirSync(bench.home).toSorted()).toEqual(["file", "folder"]);
  expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
});

test("missing folders are made when that is asked for, and the longest name has a part too", async () => {
  const bench = await Workbench.open();
  const longest = "n".repeat(255);
  const { commit } = await send(bench, { path: `some/where/${longest}`, create_directories: true });
  expect((await commit()).metadata).toMatchObject({ path: bench.at("some", "where", longest) });
  expect(readdirSync(bench.at("some/where"))).toEqual([longest]);
});

test("what nobody else may read is never readable for others", async () => {
  const bench = await Workbench.open();
  const file = await bench.put("open.txt", "old");
  chmodSync(file, 0o666);
  for (const path of ["open.txt", "new.txt"]) {
    const { upload } = await send(bench, { path, mode: "666" });
    const modes = partsIn(bench.home).map((name) => statSync(bench.at(name)).mode & 0o777);
    expect(modes).toEqual([0o600]);
    await bench.call("UploadAbort", { upload });
  }
});

test.each([
  [
    "that can be continued",
    true,
    /^Free at least \d+ bytes, then continue at byte \d+: what arrived is kept$/,
    1,
  ],
  [
    "of one request",
    false,
    /^Free at least \d+ bytes, then send it again from the beginning: nothing of it was kept$/,
    0,
  ],
])(
  "a disk that fills says what became of an upload %s",
  NEEDS_ROOT,
  async (_what, resumable, hint, parts) => {
    const drive = mountDrive(2);
    const bench = await Workbench.open();
    const content = randomBytes(1536 * 1024);
    const upload = await begin(bench, { path: join(drive, "a.bin"), size: content.length, resumable });
    writeFileSync(join(drive, "ballast"), Buffer.alloc(1024 * 1024));
    const pieces = [content.subarray(0, 256 * 1024), content.subarray(256 * 1024)];
    const error = await failure(append(bench, upload, 0, pieces));
    expect(error.message).toBe(`There is no space left for ${join(drive, "a.bin")}`);
    expect(error.hint).toMatch(hint);
    expect("offset" in (error.details ?? {})).toBe(resumable);
    expect(partsIn(drive)).toHaveLength(parts);
  },
);

test("an upload of one request that is not complete says that nothing of it was kept", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.bin", size: 5, resumable: false });
  await append(bench, upload, 0, [Buffer.from("abc")]);
  const error = await failure(bench.call("UploadCommit", { upload }));
  expect(error).toMatchObject({
    message: "Only 3 of 5 bytes have arrived",
    hint: "Send it again from the beginning: nothing of it was kept",
  });
  expect(readdirSync(bench.home)).toEqual([]);
});

test("a full disk ends the stream, says how far it got, and lets it continue", NEEDS_ROOT, async () => {
  const drive = mountDrive(2);
  const bench = await Workbench.open();
  const path = join(drive, "a.bin");
  writeFileSync(path, "old");
  const ballast = join(drive, "ballast");
  const content = randomBytes(1536 * 1024);
  const upload = await begin(bench, { path, size: content.length });
  writeFileSync(ballast, Buffer.alloc(1024 * 1024));
  const pieces = Array.from({ length: 6 }, (_, index) =>
    content.subarray(index * 256 * 1024, (index + 1) * 256 * 1024),
  );
  const error = await failure(append(bench, upload, 0, pieces));
  expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "no_space" } });
  const offset = await arrived(bench, upload);
  expect(error.details).toMatchObject({ offset, missing: expect.any(Number) });
  expect(offset % (256 * 1024)).toBe(0);
  expect(offset).toBeGreaterThan(0);
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject({
    details: { reason: "incomplete" },
  });
  expect(readFileSync(path, "utf8")).toBe("old");
  unlinkSync(ballast);
  await append(bench, upload, offset, [content.subarray(offset)]);
  const { metadata } = await bench.call("UploadCommit", { upload });
  expect(metadata).toMatchObject({ sha256: hash("sha256", content) });
  expect(readdirSync(drive)).toEqual(["a.bin"]);
});
