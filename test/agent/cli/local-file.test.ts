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
