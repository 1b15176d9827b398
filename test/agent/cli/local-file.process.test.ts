/** Ends of a copy on this machine that are no ordinary files. */
import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyFile } from "../../../agent/cli/copy/copy-file.ts";
import { LocalSink, openLocalSource } from "../../../agent/cli/copy/local-file.ts";
import { makeFolder, removeFolder } from "../../helpers/folder.ts";

const REFUSED = { code: "INVALID_PARAMETERS", message: expect.stringContaining("not an ordinary file") };
const nobody = () => undefined;

function testFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

async function copy(from: string, to: string): Promise<void> {
  const [source, sink] = [await openLocalSource(from), new LocalSink(to)];
  try {
    await copyFile(source, sink, nobody);
  } finally {
    await sink.close();
    await source.close();
  }
}

test.runIf(process.platform !== "win32")("a pipe or a device is neither copied nor replaced", async () => {
  const folder = testFolder();
  const [file, pipe, device] = [join(folder, "a.txt"), join(folder, "pipe"), join(folder, "null")];
  writeFileSync(file, "text");
  execFileSync("mkfifo", [pipe]);
  symlinkSync("/dev/null", device);
  for (const odd of [pipe, device]) {
    await expect(openLocalSource(odd)).rejects.toMatchObject(REFUSED);
    await expect(copy(file, odd)).rejects.toMatchObject(REFUSED);
  }
  expect(readdirSync(folder).toSorted()).toEqual(["a.txt", "null", "pipe"]);
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
});

test.runIf(process.platform !== "win32")("a link stays one: what it leads to is replaced", async () => {
  const [folder, elsewhere] = [testFolder(), testFolder()];
  const [file, target, link] = [join(folder, "a.txt"), join(elsewhere, "b.txt"), join(folder, "link")];
  writeFileSync(file, "new");
  writeFileSync(target, "old");
  symlinkSync(target, link);
  await copy(file, link);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, "utf8")).toBe("new");
  expect([readdirSync(folder).toSorted(), readdirSync(elsewhere)]).toEqual([["a.txt", "link"], ["b.txt"]]);
});

/** As of a file that was changed when it was written last. */
const factsOf = (size: number, version: string | undefined) => ({
  facts: { size, version, mode: "0644", modified: "2026-01-02T09:00:00.000Z" },
  id: "a",
});

test("two copies of the same file at once do not mix: each writes its bytes where they belong", async () => {
  const folder = testFolder();
  const target = join(folder, "a.txt");
  const [one, other] = [new LocalSink(target), new LocalSink(target)];
  const source = factsOf(6, "version");
  for (const sink of [one, other]) expect(await sink.begin(source)).toBe(0);
  for (const piece of ["abc", "def"]) for (const sink of [one, other]) await sink.write(Buffer.from(piece));
  await one.finish();
  expect(readFileSync(target, "utf8")).toBe("abcdef");
  await expect(other.finish()).rejects.toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
  await other.close();
  expect([readFileSync(target, "utf8"), readdirSync(folder)]).toEqual(["abcdef", ["a.txt"]]);
});

test("a copy does not put another one's half into place", async () => {
  const folder = testFolder();
  const target = join(folder, "a.txt");
  const [one, other] = [new LocalSink(target), new LocalSink(target)];
  const source = factsOf(6, undefined);
  await one.begin(source);
  await one.write(Buffer.from("abcdef"));
  await other.begin(source);
  await other.write(Buffer.from("abc"));
  await expect(one.finish()).rejects.toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
  expect(readdirSync(folder)).not.toContain("a.txt");
  await other.write(Buffer.from("def"));
  await other.finish();
  await one.close();
  expect([readFileSync(target, "utf8"), readdirSync(folder)]).toEqual(["abcdef", ["a.txt"]]);
});
