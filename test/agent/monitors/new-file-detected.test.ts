/** Folders that are watched: real files, and what the system says when it cannot. */
import { EventEmitter, once } from "node:events";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "@matrx/shared/limits.ts";
import { type FSWatcher, watch } from "chokidar";
import { expect, onTestFinished, test } from "vitest";
import {
  type FolderParts,
  type FolderSettings,
  FolderWatch,
  joinBatches,
  withFiles,
} from "../../../agent/monitors/folder-watch.ts";
import type { Problem } from "../../../agent/monitors/problems.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { heardParts } from "./parts.ts";

const TIMES = { gather: 100, settle: 100, again: 50 };

/** Problems and their ends, in order. */
function problemEar() {
  const heard = new EventEmitter();
  const problems: (Problem | undefined)[] = [];
  return {
    problems,
    onProblem(problem: Problem | undefined) {
      problems.push(problem);
      heard.emit("problem");
    },
    /** Waits until one fits. */
    async until(fits: (problem: Problem | undefined) => boolean) {
      while (!problems.some(fits)) await once(heard, "problem");
      return problems.splice(0).find(fits);
    },
  };
}

async function watchFolder(
  path: string,
  settings: Partial<FolderSettings> = {},
  parts: Partial<FolderParts> = {},
) {
  const heard = heardParts();
  const ear = problemEar();
  const folder = new FolderWatch(
    { path, depth: 2, max_entries: 1000, report: ["added"], ...settings },
    {
      emit: heard.emit,
      onProblem: ear.onProblem,
      closedNow: () => () => false,
      watch,
      times: TIMES,
      ...parts,
    },
  );
  onTestFinished(() => folder.close());
  return { ...heard, ...ear, folder };
}

const watched = (problem: Problem | undefined) => problem === undefined;

test("files that are put there are told together; what was there, node_modules and .git are not", async () => {
  const place = realpathSync(temporaryFolder());
  for (const name of ["node_modules", ".git", "sub"]) mkdirSync(join(place, name));
  writeFileSync(join(place, "old"), "");
  const { until, next, reports } = await watchFolder(place);
  await until(watched);
  for (const name of ["node_modules/no", ".git/no", "one", "sub/two", "naïve\nname"]) {
    writeFileSync(join(place, name), "x");
  }
  const files: unknown[] = [];
  while (files.length < 3) {
    const { type, key, severity, data } = await next();
    expect({ type, key, severity }).toEqual({ type: "new_file_detected", key: undefined, severity: "info" });
    expect(data.folder).toBe(place);
    files.push(...(data.files as unknown[]));
  }
  expect(files).toHaveLength(3);
  expect(files).toEqual(
    expect.arrayContaining(
      ["one", join("sub", "two"), "naïve\nname"].map((path) => ({ path, change: "added" })),
    ),
  );
  expect(JSON.stringify(reports)).not.toContain('no"');
});

test("changes and removals are told where that is asked for", async () => {
  const place = realpathSync(temporaryFolder());
  writeFileSync(join(place, "a"), "1");
  writeFileSync(join(place, "b"), "1");
  const { until, next } = await watchFolder(place, { report: ["changed", "removed"] });
  await until(watched);
  writeFileSync(join(place, "a"), "22");
  rmSync(join(place, "b"));
  const changes: unknown[] = [];
  while (changes.length < 2) changes.push(...((await next()).data.files as unknown[]));
  expect(changes).toEqual(
    expect.arrayContaining([
      { path: "a", change: "changed" },
      { path: "b", change: "removed" },
    ]),
  );
});

test("a folder that is missing, comes, goes and comes again is said to be so", async () => {
  const place = join(realpathSync(temporaryFolder()), "inbox");
  const { until, next } = await watchFolder(place);
  expect(await until((problem) => problem !== undefined)).toMatchObject({
    message: `${place} is not watched: it does not exist`,
    hint: expect.stringContaining("config.json"),
  });
  mkdirSync(place);
  await until(watched);
  writeFileSync(join(place, "first"), "x");
  expect((await next()).data).toMatchObject({ count: 1, files: [{ path: "first", change: "added" }] });
  rmSync(place, { recursive: true });
  expect(await until((problem) => problem !== undefined)).toHaveProperty("hint");
  mkdirSync(place);
  await until(watched);
  writeFileSync(join(place, "second"), "x");
  expect((await next()).data).toMatchObject({ files: [{ path: "second" }] });
});

test("another folder in its place is noticed", async () => {
  const base = realpathSync(temporaryFolder());
  const place = join(base, "inbox");
  for (const name of ["inbox", "other"]) mkdirSync(join(base, name));
  const { until, next } = await watchFolder(place);
  await until(watched);
  renameSync(place, join(base, "gone"));
  renameSync(join(base, "other"), place);
  await until((problem) => problem !== undefined);
  await until(watched);
  writeFileSync(join(place, "here"), "x");
  expect((await next()).data).toMatchObject({ files: [{ path: "here" }] });
});

test("a link in it is not followed, and nothing beyond it is told", async () => {
  const base = realpathSync(temporaryFolder());
  const [place, secret] = [join(base, "inbox"), join(base, "secret")];
  for (const folder of [place, secret]) mkdirSync(folder);
  symlinkSync(secret, join(place, "way-out"));
  const { until, next, reports } = await watchFolder(place);
  await until(watched);
  writeFileSync(join(secret, "passwords"), "x");
  symlinkSync(secret, join(place, "another-way"));
  writeFileSync(join(place, "after"), "x");
  while (!JSON.stringify(reports).includes("after")) await next();
  expect(JSON.stringify(reports)).not.toContain("passwords");
});

test("what belongs to Matrx itself is not watched: neither as the folder nor inside of it", async () => {
  const base = realpathSync(temporaryFolder());
  const own = join(base, "own");
  mkdirSync(own);
  const isClosed = (path: string) => path === own || path.startsWith(`${own}/`);
  const refused = await watchFolder(own, {}, { closedNow: () => isClosed });
  expect(await refused.until(() => true)).toMatchObject({ message: expect.stringContaining("Matrx itself") });
  const { until, next, reports } = await watchFolder(base, {}, { closedNow: () => isClosed });
  await until(watched);
  writeFileSync(join(own, "journal"), "x");
  writeFileSync(join(base, "after"), "x");
  while (!JSON.stringify(reports).includes("after")) await next();
  expect(JSON.stringify(reports)).not.toContain("journal");
});

test("a link as the folder leads to where it led when the watch began, and not into Matrx itself", async () => {
  const base = realpathSync(temporaryFolder());
  const own = join(base, "own");
  mkdirSync(own);
  symlinkSync(own, join(base, "link"));
  const { until } = await watchFolder(join(base, "link"), {}, { closedNow: () => (path) => path === own });
  expect(await until(() => true)).toMatchObject({ message: expect.stringContaining("Matrx itself") });
});

test("a folder that is itself called like one that is left out is watched all the same", async () => {
  const place = join(realpathSync(temporaryFolder()), "node_modules");
  mkdirSync(place);
  const { until, next } = await watchFolder(place);
  await until(watched);
  writeFileSync(join(place, "here"), "x");
  expect((await next()).data).toMatchObject({ files: [{ path: "here" }] });
});

test("too many entries: it is let go, and said what to do", async () => {
  const place = realpathSync(temporaryFolder());
  for (let n = 0; n < 30; n++) writeFileSync(join(place, `${n}`), "");
  const { until } = await watchFolder(place, { max_entries: 20 });
  expect(await until(() => true)).toMatchObject({
    message: expect.stringContaining("more than 20 entries"),
    hint: expect.stringContaining("max_entries"),
  });
});

test.each([
  ["ENOSPC", "fs.inotify.max_user_watches"],
  ["EMFILE", "ulimit -n"],
])("the system's limit %s is said with what to do", async (code, says) => {
  const place = realpathSync(temporaryFolder());
  const watchers: FSWatcher[] = [];
  const { until } = await watchFolder(
    place,
    {},
    {
      watch: (folder, options) => {
        const watcher = watch(folder, options);
        watchers.push(watcher);
        return watcher;
      },
    },
  );
  await until(watched);
  watchers[0]?.emit("error", Object.assign(new Error("limit"), { code }));
  expect(await until((problem) => problem !== undefined)).toMatchObject({
    message: expect.stringContaining(code),
    hint: expect.stringContaining(says),
  });
  // It is tried again, and the watcher that failed is closed.
  await until(watched);
  expect(watchers[0]?.closed).toBe(true);
});

test("closing it tells what was gathered", async () => {
  const place = realpathSync(temporaryFolder());
  const watchers: FSWatcher[] = [];
  const { until, folder, reports } = await watchFolder(
    place,
    {},
    {
      times: { ...TIMES, gather: 60_000 },
      watch: (root, options) => {
        const watcher = watch(root, options);
        watchers.push(watcher);
        return watcher;
      },
    },
  );
  await until(watched);
  const [watcher] = watchers;
  if (!watcher) throw new Error("nothing is watched");
  const added = once(watcher, "add");
  writeFileSync(join(place, "a"), "x");
  await added;
  expect(reports).toEqual([]);
  await folder.close();
  expect(reports).toMatchObject([{ data: { count: 1, files: [{ path: "a" }] } }]);
  expect(watcher.closed).toBe(true);
});

test("a thousand files are counted, and the first named", () => {
  const many = Array.from({ length: 1000 }, (_, n) => ({ path: `file ${n}`, change: "added" as const }));
  const batch = withFiles({ count: 0, files: [] }, { count: 1000, files: many });
  expect(batch).toMatchObject({ count: 1000, files: { length: 20 } });
  const joined = joinBatches(
    { folder: "/in", ...batch },
    { folder: "/in", count: 5, files: many.slice(0, 5) },
  );
  expect(joined).toMatchObject({ folder: "/in", count: 1005, files: { length: 20 } });
  const odd = many.map((file) => ({ ...file, path: "\u0001".repeat(200) }));
  const data = {
    folder: "x".repeat(1024),
    ...withFiles({ count: 0, files: [] }, { count: 1000, files: odd }),
  };
  expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(LIMITS.eventDataBytes - 128);
  const long = [{ path: "x".repeat(5000), change: "added" as const }];
  expect(withFiles({ count: 0, files: [] }, { count: 1, files: long })).toEqual({ count: 1, files: [] });
});
