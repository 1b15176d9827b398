/** Folders as zips. Other programs judge them: Python's zipfile and unzip. */
import { execFileSync, spawnSync } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { chmod, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, test } from "vitest";
import { PIECE_BYTES } from "../../../agent/transfers/send-file.ts";
import { ZipWriter } from "../../../agent/transfers/zip-writer.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { LONG_ONLY } from "../../helpers/long-mode.ts";
import { needs } from "../../helpers/parts.ts";
import { NOT_UTF8, ODD_NAMES, TWINS } from "../odd-names.ts";
import { asAnotherUser, type CallOptions, failure, WAYS, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "./memory-stream.ts";
import { begin } from "./uploading.ts";

const hasUnzip = spawnSync("unzip", ["-v"]).status === 0;
const hasPython = spawnSync("python3", ["-c", "import zipfile"]).status === 0;
const JUDGES = needs(hasUnzip && hasPython, "judging zips needs unzip and python3: install both");

describe.each(WAYS)("a folder as a zip, %s", JUDGES, (_, platform) => {
  test("holds what is in it, with rights, times and links", async () => {
    const bench = await Workbench.open({ platform });
    const large = Buffer.concat([Buffer.alloc(600_000, "text "), randomBytes(600_000)]);
    await bench.put("tree/readme.txt", "hello\n".repeat(100));
    await bench.put("tree/empty", "");
    await bench.put("tree/sub/large.bin", large);
    await bench.put("tree/sub/photo.jpg", large);
    await mkdir(bench.at("tree/nothing"));
    await chmod(bench.at("tree/readme.txt"), 0o4751);
    utimesSync(bench.at("tree/readme.txt"), 1e9, 1e9);
    await symlink("sub/large.bin", bench.at("tree/link"));
    await symlink("/etc", bench.at("tree/etc"));
    const { file, trailer, bytes, result } = await zipOf(bench, "tree");
    expect(result.metadata).toMatchObject({ kind: "directory", name: "tree", media_type: "application/zip" });
    expect(result.metadata).not.toHaveProperty("size");
    expect(trailer).toEqual({
      ...{ bytes: bytes.length, sha256: hash("sha256", bytes) },
      ...{ entries: 9, skipped: [], skipped_count: 0 },
    });
    const to = extracted(file);
    expect(await readFile(join(to, "tree/sub/large.bin"))).toEqual(large);
    expect(await readFile(join(to, "tree/sub/photo.jpg"))).toEqual(large);
    expect(readlinkSync(join(to, "tree/link"))).toBe("sub/large.bin");
    expect(readlinkSync(join(to, "tree/etc"))).toBe("/etc");
    expect(lstatSync(join(to, "tree/nothing")).isDirectory()).toBe(true);
    const readme = statSync(join(to, "tree/readme.txt"));
    expect([readme.mode & 0o7777, readme.mtimeMs, readme.size]).toEqual([0o751, 1e12, 600]);
    const again = await zipOf(bench, "tree");
    expect(again.trailer?.sha256).toBe(trailer?.sha256);
  });

  test("has names as they are, and those that are not UTF-8 as listings show them", async () => {
    const bench = await Workbench.open({ platform });
    const names = [...ODD_NAMES.map(([, name]) => name), ...TWINS];
    for (const name of new Set(names)) await bench.put(join("odd", name), name);
    for (const [bytes] of NOT_UTF8) {
      writeFileSync(Buffer.concat([Buffer.from(`${bench.at("odd")}/`), bytes]), "odd");
    }
    const { file, trailer } = await zipOf(bench, "odd");
    const listed = namesIn(file);
    for (const name of names) expect(listed).toContain(`odd/${name}`);
    for (const name of ["\\xff", "a\\xed\\xa0\\x80", "x\n\\xc3("]) expect(listed).toContain(`odd/${name}`);
    // One of the names is what another one is shown as.
    expect(trailer).toMatchObject({ skipped_count: 1, skipped: [{ path: "odd/caf\\xe9" }] });
    expect(new Set(listed).size).toBe(listed.length);
  });

  test("lacks what is closed, without a word, wherever links lead", async () => {
    const bench = await Workbench.open({ platform });
    for (const name of ["a.txt", ".env", "secret/key", "sub/.env", "sub/b.txt"])
      await bench.put(`tree/${name}`, name);
    await symlink("secret/key", bench.at("tree/way"));
    const grant = { id: makeGrantId(), owner: false, effects: ["read" as const], paths: [bench.home] };
    const policy = { denied_paths: [bench.at("tree/secret")] };
    const { file, trailer } = await zipOf(bench, "tree", { grant, policy, session: bench.newSession(grant) });
    expect(namesIn(file)).toEqual(["tree/", "tree/a.txt", "tree/sub/", "tree/sub/b.txt", "tree/way"]);
    expect(trailer).toMatchObject({ skipped_count: 0 });
    await mkdir(bench.state, { recursive: true });
    writeFileSync(join(bench.state, "key"), "k");
    const above = await zipOf(bench, join(bench.home, ".."));
    expect(namesIn(above.file).filter((name) => name.includes("/state"))).toEqual([]);
    expect(await failure(bench.call("Download", { path: bench.state }, { opensStream: true }))).toMatchObject(
      {
        code: "PERMISSION_DENIED",
      },
    );
  });
});

test("what cannot be read, or is no file, is named in the trailer and in the zip", JUDGES, async () => {
  const bench = await Workbench.open();
  await bench.put("tree/a.txt", "a");
  await bench.put("tree/private", "p");
  await chmod(bench.at("tree/private"), 0o000);
  await mkdir(bench.at("tree/shut"), { mode: 0o000 });
  execFileSync("mkfifo", [bench.at("tree/pipe")]);
  const { file, trailer } = await asAnotherUser(bench, () => zipOf(bench, "tree"));
  const skipped = [
    { path: "tree/pipe", reason: "it is a named pipe" },
    { path: "tree/private", reason: "EACCES" },
    { path: "tree/shut", reason: "EACCES" },
  ];
  expect(trailer).toMatchObject({ skipped, skipped_count: 3 });
  expect(namesIn(file)).toEqual(["tree/", "tree/a.txt", "tree/shut/"]);
  expect(execFileSync("unzip", ["-qz", file], { encoding: "utf8" })).toContain("tree/private (EACCES)");
});

test("a file that changes while it is sent is not in it, and the others are", JUDGES, async () => {
  const bench = await Workbench.open();
  await bench.put("tree/a.txt", randomBytes(300_000));
  const path = await bench.put("tree/b.bin", randomBytes(5_000_000));
  await bench.put("tree/c.txt", "c");
  const { file, bytes, trailer } = await zipOf(bench, "tree", {}, (sent) => {
    if (sent > 1_000_000) appendFileSync(path, "x");
  });
  expect(bytes.length).toBeGreaterThan(5_000_000);
  expect(namesIn(file)).toEqual(["tree/", "tree/a.txt", "tree/c.txt"]);
  expect(trailer?.skipped).toEqual([{ path: "tree/b.bin", reason: "it was being changed" }]);
  extracted(file);
});

test("what is not complete yet is not in it", JUDGES, async () => {
  const bench = await Workbench.open();
  await bench.put("tree/a.txt", "a");
  await bench.put("tree/.matrx-notes.part", "of the user");
  await bench.put(`tree/.matrx-${"0f".repeat(12)}.part`, "of a download");
  await bench.put(`tree/.matrx-${"0f".repeat(8)}.tmp`, "of a write");
  await begin(bench, { path: "tree/b.txt", size: 5 });
  expect(readdirSync(bench.at("tree"))).toHaveLength(5);
  const { file, trailer } = await zipOf(bench, "tree");
  expect(readdirSync(join(extracted(file), "tree")).sort()).toEqual([".matrx-notes.part", "a.txt"]);
  expect(trailer).toMatchObject({ skipped_count: 0 });
});

test("a reset ends the walk, and leaves nothing open", async () => {
  const bench = await Workbench.open();
  for (let i = 0; i < 20; i++) await bench.put(`tree/${i}/a.bin`, randomBytes(400_000));
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  const result = await bench.call("Download", { path: "tree" }, { opensStream: true });
  const stream = new MemoryStream({ receive: () => stream.bytes > 1_000_000 && stream.reset() });
  await expect(result.stream?.(stream)).rejects.toBe(RESET);
  expect(stream.bytes).toBeLessThan(1_400_000);
  expect(open()).toBe(before);
});

describe("zip64", JUDGES, () => {
  test("more than 65,535 entries", async () => {
    const file = await written(async (zip) => {
      for (let i = 0; i < 66_000; i++) await zip.add(entry(`${i}`), Buffer.alloc(0));
    });
    expect(namesIn(file)).toHaveLength(66_000);
  });

  async function expectWhole(pieces: number): Promise<void> {
    const piece = Buffer.alloc(16 * 1024 * 1024);
    async function* zeros() {
      for (let i = 0; i < pieces; i++) yield piece;
    }
    const file = await written(async (zip) => {
      await zip.addPieces(entry("zeros"), zeros(), { size: 257 * piece.length, deflates: true });
      await zip.add(entry("behind"), Buffer.from("it"));
    });
    const code =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print([i.file_size for i in z.infolist()], z.read('behind'))";
    expect(python(code, file).trim()).toBe(`[${pieces * piece.length}, 2] b'it'`);
    expect(execFileSync("unzip", ["-tq", file], { encoding: "utf8" })).toContain("No errors");
  }

  test("a file that was announced with more than 4 GiB, and one behind it", () => expectWhole(1));

  test("a file of more than 4 GiB, and one behind it", { ...LONG_ONLY, timeout: 300_000 }, () =>
    expectWhole(257),
  );
});

function entry(name: string) {
  return { name: Buffer.from(name), mode: 0o100644, modified: new Date(1e12) };
}

async function written(fill: (zip: ZipWriter) => Promise<void>): Promise<string> {
  const file = join(temporaryFolder(), "a.zip");
  const zip = new ZipWriter(async (bytes) => appendFileSync(file, bytes));
  await fill(zip);
  await zip.finish("");
  return file;
}

async function zipOf(
  bench: Workbench,
  path: string,
  options: CallOptions = {},
  during?: (sent: number) => void,
) {
  const result = await bench.call("Download", { path }, { ...options, opensStream: true });
  const pieces: Uint8Array[] = [];
  let sent = 0;
  const { stream, trailer } = await serve(result, {
    receive: (piece) => {
      pieces.push(piece);
      sent += piece.length;
      during?.(sent);
    },
  });
  expect(stream.largest).toBeLessThanOrEqual(PIECE_BYTES);
  const bytes = Buffer.concat(pieces);
  const file = join(temporaryFolder(), "a.zip");
  writeFileSync(file, bytes);
  return { file, bytes, trailer, result };
}

function namesIn(file: string): string[] {
  return JSON.parse(
    python("import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))", file),
  );
}

function python(code: string, file: string): string {
  return execFileSync("python3", ["-c", code, file], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

/** Unpacked by unzip, which finds nothing wrong. */
function extracted(file: string): string {
  const to = temporaryFolder();
  execFileSync("unzip", ["-q", file, "-d", to]);
  execFileSync("python3", ["-m", "zipfile", "-t", file]);
  return to;
}
