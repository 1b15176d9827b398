/** Searching by name walks through folders itself: it finds all, leads nowhere else, and ends when it is told to. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { openByIdentity } from "../../../agent/platform/directory.ts";
import { nothingMissed, type Run } from "../../../agent/search/engine.ts";
import { openScope } from "../../../agent/search/scope.ts";
import { type Wish, walk } from "../../../agent/search/walk.ts";
import { needs } from "../../helpers/parts.ts";
import { Workbench } from "../tools/workbench.ts";
import { ENGINES, linesOf, searcher } from "./searching.ts";

const WAYS = [
  ["by descriptors", currentPlatform()],
  ["by identity", { ...currentPlatform(), openDirectory: openByIdentity }],
] as const;

const OPEN_FILES = needs(existsSync("/proc/self/fd"), "what a process has open can only be seen on Linux");

afterEach(() => void vi.restoreAllMocks());

/** Each look at the clock takes longer than a drive should. */
function slowDrive(): void {
  let time = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    time += 11;
    return time;
  });
}

describe.each(WAYS)("with folders opened %s", (_name, platform) => {
  const name = fc.constantFrom("a", "b", "A", "ab", "ü", "x y", ".h", "a-", "a.b", "[e]", "two\nlines");
  const entry = fc.record({
    names: fc.array(name, { minLength: 1, maxLength: 5 }),
    kind: fc.constantFrom("file", "folder", "link"),
  });

  it("all of a tree is found, the higher first, then name by name, also on a slow drive", async () => {
    const bench = await Workbench.open({ platform });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 40 }), fc.boolean(), async (entries, isSlow) => {
        const root = bench.at(`tree-${number++}`);
        mkdirSync(root);
        for (const { names, kind } of entries) put(path.join(root, ...names), kind);
        if (isSlow) slowDrive();
        const { metadata } = await bench.call("search_files", {
          query: "*",
          path: root,
          show_hidden: true,
          limit: 5000,
        });
        vi.restoreAllMocks();
        const found = metadata?.results as { path: string; type: string }[];
        expect(found.map((one) => [one.path, one.type])).toEqual(allOf(root));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("what lies very deep is found too, and no folder stays open", async () => {
    const bench = await Workbench.open({ platform });
    const levels = 80;
    for (const branch of ["b", "c"]) {
      for (const level of [1, 63, 64, 65, 66, levels])
        await bench.put(`${`${branch}/`.repeat(level)}leaf`, "");
    }
    const before = openBelow(bench.home);
    const { metadata } = await bench.call("search_files", { query: "leaf" });
    expect(metadata?.results).toHaveLength(12);
    expect((await bench.call("search_files", { query: "c/" })).metadata?.results).toHaveLength(85);
    expect(openBelow(bench.home)).toEqual(before);
  });

  it("a walk ends when it is told to, or left, and leaves no folder open", async () => {
    const bench = await Workbench.open({ platform });
    for (let i = 0; i < 20; i++) await bench.put(`folder-${i}/below/file`, "");
    const controller = new AbortController();
    let parts = 0;
    for await (const _some of walk(await runIn(bench, controller.signal), { deep: true, ordered: false })) {
      parts++;
      if (parts === 5) controller.abort();
    }
    expect(parts).toBe(5);
    expect(openBelow(bench.home)).toEqual([]);
    const run = await runIn(bench, new AbortController().signal);
    for await (const { above } of walk(run, { deep: true, ordered: false })) {
      if (above !== "") break;
    }
    expect(openBelow(bench.home)).toEqual([]);
  });
});

describe("a walk", () => {
  it("is in order of path when it should be, and knows how deep it goes", async () => {
    const bench = await Workbench.open();
    for (const file of ["a/b/c", "a/1", "a-b", "a.txt", "b"]) await bench.put(file, "");
    const walked = async (wish: Wish) => {
      const paths: string[] = [];
      const run = await runIn(bench, new AbortController().signal);
      for await (const { above, entries } of walk(run, wish))
        paths.push(...entries.map((entry) => `${above}${entry.name}`));
      return paths;
    };
    expect(await walked({ deep: true, ordered: true })).toEqual([
      "a",
      "a/1",
      "a/b",
      "a/b/c",
      "a-b",
      "a.txt",
      "b",
    ]);
    expect(await walked({ deep: false, ordered: true })).toEqual(["a", "a-b", "a.txt", "b"]);
  });

  it(
    "that runs out of time in the middle gives what was found until then, and says so",
    OPEN_FILES,
    async () => {
      const bench = await Workbench.open();
      for (let i = 0; i < 1500; i++) {
        mkdirSync(bench.at(`needle-${i}/below`), { recursive: true });
        writeFileSync(bench.at(`needle-${i}/below/needle`), "");
      }
      const controller = new AbortController();
      const answer = bench.call(
        "search_files",
        { query: "needle", limit: 5000 },
        { signal: controller.signal },
      );
      while (openBelow(bench.at("needle-")).length === 0) await turn();
      controller.abort(new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" }));
      const { output, metadata } = await answer;
      const results = metadata?.results as unknown[];
      expect(metadata).toMatchObject({ truncated: true, stopped_by: "time" });
      expect(output).toContain("[Time ran out: these are the best");
      expect(results.length).toBeGreaterThan(0);
      expect(results.length).toBeLessThan(3000);
      expect(openBelow(bench.home)).toEqual([]);
    },
  );

  it("leads nowhere else while a program swaps the folders on its way for links", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 60; i++) {
      await bench.put(`open/sub/deep/far/file-${i}`, "");
      await bench.put(`open/sub/deep-${i}/file`, "");
      await bench.put(`shut/deep/far/outside-${i}`, "");
      await bench.put(`shut/deep-${i}/outside`, "");
    }
    const policy = { allowed_paths: [bench.at("open")] };
    symlinkSync("../shut", bench.at("open/link"));
    symlinkSync("../../shut/deep", bench.at("open/sub/link"));
    const swap = `
      const { renameSync } = require("node:fs");
      process.chdir(${JSON.stringify(bench.at("open"))});
      process.stdout.write("ready");
      const pause = new Int32Array(new SharedArrayBuffer(4));
      for (let i = 0; ; i++) {
        const swapped = i % 2 ? "sub" : "sub/deep";
        const link = swapped === "sub" ? "link" : "sub/link";
        renameSync(swapped, "kept"); renameSync(link, swapped);
        Atomics.wait(pause, 0, 0, Math.random() * 2);
        renameSync(swapped, link); renameSync("kept", swapped);
        Atomics.wait(pause, 0, 0, Math.random() * 2);
      }`;
    const racer = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    await once(racer.stdout, "data");
    let inside = 0;
    try {
      for (const until = performance.now() + 2000; performance.now() < until; ) {
        const options = { query: "*", path: "open", limit: 1000 };
        const { output, metadata } = await bench.call("search_files", options, { policy });
        if (output.includes("file-")) inside++;
        expect(output).not.toContain("outside");
        expect(JSON.stringify(metadata)).not.toContain("outside");
      }
    } finally {
      racer.kill("SIGKILL");
      if (racer.exitCode === null && racer.signalCode === null) await once(racer, "exit");
    }
    expect(inside).toBeGreaterThan(0);
  });
});

describe.each(ENGINES)("on a drive that is slow to answer, with %s", (_name, engines) => {
  it("the same files are found, newest first", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 200; i++) await bench.put(`folder-${i % 7}/file-${i}`, "");
    const { glob } = searcher(bench, engines);
    const quick = linesOf(await glob({ pattern: "**/file-*" }));
    slowDrive();
    expect(linesOf(await glob({ pattern: "**/file-*" }))).toEqual(quick);
    expect(quick).toHaveLength(200);
  });
});

function put(place: string, kind: "file" | "folder" | "link"): void {
  try {
    mkdirSync(path.dirname(place), { recursive: true });
    if (kind === "file") writeFileSync(place, "");
    else if (kind === "folder") mkdirSync(place);
    else symlinkSync("..", place);
  } catch {
    // Something else stands there, or a link on the way.
  }
}

/** By depth, then name by name in order of bytes. */
function allOf(root: string): [string, string][] {
  const found: { path: string; names: string[]; type: string }[] = [];
  const visit = (folder: string, above: string[]) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const names = [...above, entry.name];
      const type = entry.isDirectory() ? "directory" : entry.isFile() ? "file" : "symlink";
      found.push({ path: path.join(folder, entry.name), names, type });
      if (entry.isDirectory()) visit(path.join(folder, entry.name), names);
    }
  };
  visit(root, []);
  const inOrder = found.toSorted((a, b) => a.names.length - b.names.length || byNames(a.names, b.names));
  return inOrder.map((one) => [one.path, one.type]);
}

function byNames(a: string[], b: string[]): number {
  const differs = a.findIndex((name, index) => name !== b[index]);
  return differs < 0 ? 0 : Buffer.compare(Buffer.from(a[differs] ?? ""), Buffer.from(b[differs] ?? ""));
}

async function runIn(bench: Workbench, signal: AbortSignal): Promise<Run> {
  const access = await bench.files.as(bench.context());
  const place = await access.findExisting(bench.home, "read");
  const scope = await openScope(access, place, { showHidden: false, includeIgnored: true });
  return { scope, missed: nothingMissed(), signal };
}

/** What this process has open there, as far as the system shows it. */
function openBelow(start: string): string[] {
  if (!existsSync("/proc/self/fd")) return [];
  return readdirSync("/proc/self/fd").flatMap((number) => {
    try {
      const place = readlinkSync(`/proc/self/fd/${number}`);
      return place.startsWith(start) ? [place] : [];
    } catch {
      return [];
    }
  });
}
