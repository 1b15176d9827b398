/** What a copy plans, and what it says of its progress. The files here are made up: a device may claim any name. */
import { linkSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyFile } from "../../../agent/cli/copy/copy-file.ts";
import type { Files, Listed } from "../../../agent/cli/copy/files.ts";
import { localFiles } from "../../../agent/cli/copy/local-files.ts";
import { namesOf, POSIX_NAMES, WINDOWS_NAMES } from "../../../agent/cli/copy/path-names.ts";
import { type Step, stepsOf } from "../../../agent/cli/copy/plan.ts";
import { progressText, sizeText, timeText } from "../../../agent/cli/output/transfer-line.ts";
import { temporaryFolder } from "../../helpers/folder.ts";

/** Folders by path, each with what a device lists. */
function device(folders: Record<string, readonly Listed[]>): Files {
  const never = () => Promise.reject(new Error("not in this test"));
  return {
    kindOf: async (path) => (folders[path] ? "directory" : "file"),
    async *list(path) {
      yield* folders[path] ?? [];
    },
    names: POSIX_NAMES,
    makeFolder: never,
    openSource: never,
    sinkFor: () => {
      throw new Error("not in this test");
    },
    shown: (path) => `box:${path}`,
  };
}

async function all(steps: AsyncIterable<Step>): Promise<Step[]> {
  const found: Step[] = [];
  for await (const step of steps) found.push(step);
  return found;
}

const shown = (step: Step) =>
  [step.kind, "to" in step ? step.to.path : step.from.path] as readonly [string, string];

test("names that a device lists never lead out of the folder here", async () => {
  const names = ["..", ".", "", "../../.bashrc", "a/b", "a\\b", "ok\0", "fine"];
  const files = device({ "/site": names.map((name) => ({ name, kind: "file" as const })) });
  const here = temporaryFolder();
  const wish = { sources: [{ files, path: "/site" }], target: { files: localFiles, path: here } };
  const steps = await all(stepsOf({ ...wish, isRecursive: true }));
  const copied = steps.filter(({ kind }) => kind === "file").map(shown);
  // On this system a backslash is a letter like any other.
  expect(copied).toEqual([
    ["file", `${here}/site/a\\b`],
    ["file", `${here}/site/fine`],
  ]);
  const left = steps.filter((step) => step.kind === "left out");
  expect(left.map(({ reason }) => reason)).toEqual(Array(names.length - 2).fill("name"));
});

test("a file with a backslash in its name keeps it, and goes to no machine where that would be a folder", async () => {
  const linux = device({});
  const windows = { ...device({ "C:\\in": [] }), names: WINDOWS_NAMES };
  const here = temporaryFolder();
  const plan = (path: string, target: { files: Files; path: string }) =>
    all(stepsOf({ sources: [{ files: linux, path }], target, isRecursive: false }));
  for (const name of ["report\\notes.txt", "x\\..\\evil", "notes.txt\\"])
    expect((await plan(`/docs/${name}`, { files: localFiles, path: here })).map(shown)).toEqual([
      ["file", `${here}/${name}`],
    ]);
  await expect(plan("/docs/a\\b", { files: windows, path: "C:\\in" })).rejects.toMatchObject({
    code: "INVALID_PARAMETERS",
  });
  expect((await plan("/docs/a\\b", { files: windows, path: "C:\\in\\c" })).map(shown)).toEqual([
    ["file", "C:\\in\\c"],
  ]);
  await expect(plan("/docs/..", { files: localFiles, path: here })).rejects.toThrow(/can't be named/);
});

test.each([
  [null, "/a/b\\c", "b\\c"],
  ["Linux", "x\\", "x\\"],
  ["macOS", "/a/b/", "b"],
  ["Windows", "C:\\a\\b\\", "b"],
  ["Windows", "C:/a/b c", "b c"],
])("on %s the last name of %s is %s", (os, path, name) => expect(namesOf(os).nameOf(path)).toBe(name));

test.each([
  ["a:b", true, false],
  ["a\\b", true, false],
  ["nul.txt", true, false],
  ["a.", true, false],
  ["a?", true, false],
  ["a/b", false, false],
  ["a\0b", false, false],
  ["..", false, false],
  [".hidden", true, true],
  ["ä b.txt", true, true],
])("%j may be a name on Linux: %s, on Windows: %s", (name, onLinux, onWindows) =>
  expect([POSIX_NAMES, WINDOWS_NAMES].map((names) => names.isName(name))).toEqual([onLinux, onWindows]),
);

test("a folder comes before what is in it, and under its own name in a folder that is there", async () => {
  const files = device({
    "/site": [
      { name: "pages", kind: "directory" },
      { name: "link", kind: "link" },
      { name: `.matrx-upload_${"a".repeat(16)}.part`, kind: "file" },
    ],
    "/site/pages": [{ name: "a.txt", kind: "file" }],
  });
  const here = temporaryFolder();
  const target = (path: string) => ({ files: localFiles, path });
  const wish = { sources: [{ files, path: "/site" }], isRecursive: true };
  expect((await all(stepsOf({ ...wish, target: target(here) }))).map(shown)).toEqual([
    ["folder", `${here}/site`],
    ["folder", `${here}/site/pages`],
    ["file", `${here}/site/pages/a.txt`],
    ["left out", "/site/link"],
  ]);
  expect((await all(stepsOf({ ...wish, target: target(`${here}/new`) }))).map(shown)[0]).toEqual([
    "folder",
    `${here}/new`,
  ]);
});

test("a version that a device makes up chooses no path here, and more than was announced is not stored", async () => {
  const here = temporaryFolder();
  const sink = localFiles.sinkFor(join(here, "a.txt"));
  const facts = { size: 3, mode: "0644", modified: new Date(0).toISOString(), version: "/../../../escaped" };
  let sent = 0;
  const source = {
    ...{ facts, id: "box:/a.txt", digestStart: async () => false, close: async () => undefined },
    async *read() {
      for (; sent < 1000; sent++) yield Buffer.from("four");
    },
  };
  await expect(copyFile(source, sink, () => undefined)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(sent).toBe(0);
  expect(readdirSync(here)).toEqual([]);
  expect(await sink.begin(source)).toBe(0);
  expect(readdirSync(here)).toEqual([expect.stringMatching(/^\.matrx-[0-9a-f]{24}\.part$/)]);
  await sink.close();
});

test("a part that is a link to another file is not written through", async () => {
  const here = temporaryFolder();
  const facts = { size: 3, mode: "0644", modified: new Date(0).toISOString(), version: "v1" };
  const sink = localFiles.sinkFor(join(here, "a.txt"));
  await sink.begin({ facts, id: "box:/a.txt" });
  await sink.close();
  const [part = ""] = readdirSync(here);
  const victim = join(temporaryFolder(), "victim");
  writeFileSync(victim, "");
  rmSync(join(here, part));
  symlinkSync(victim, join(here, part));
  await expect(sink.begin({ facts, id: "box:/a.txt" })).rejects.toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
  });
  rmSync(join(here, part));
  linkSync(victim, join(here, part));
  await expect(sink.begin({ facts, id: "box:/a.txt" })).rejects.toThrow(/in the way/);
  await sink.close();
});

test("several sources need a folder that is there", async () => {
  const files = device({});
  const sources = ["/a", "/b"].map((path) => ({ files, path }));
  const wish = { sources, target: { files: localFiles, path: "nowhere" }, isRecursive: false };
  await expect(all(stepsOf(wish))).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1.0 KiB"],
  [1.5 * 1024 ** 3, "1.5 GiB"],
  [5 * 1024 ** 5, "5120.0 TiB"],
])("%i bytes are %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));

test.each([
  [0, "0:00"],
  [65.4, "1:05"],
  [7265, "2:01:05"],
])("%d seconds are %s", (seconds, text) => expect(timeText(seconds)).toBe(text));

test.each([
  [[0, 4096, 0], "[....................]   0% of 4.0 KiB, 0 B/s"],
  [[1024, 4096, 512], "[#####...............]  25% of 4.0 KiB, 512 B/s, 0:06 left"],
  [[4096, 4096, 2048], "[####################] 100% of 4.0 KiB, 2.0 KiB/s, 0:00 left"],
  [[0, 0, 0], "[....................]   0% of 0 B, 0 B/s"],
  [[1024, 4096, 512, 40], " 25% of 4.0 KiB, 512 B/s, 0:06 left"],
  [[2048, undefined, 1024], "2.0 KiB, 1.0 KiB/s"],
] as const)("progress of %j is %s", ([bytes, total, rate, columns], text) =>
  expect(progressText(bytes, total, rate, columns)).toBe(text),
);
