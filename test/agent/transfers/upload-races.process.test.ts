/** Uploads when something happens at the worst moment: each is made to happen between two steps of the tool. */
import { linkSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApprovedState } from "../../../agent/core/approved-state.ts";
import { parseInput } from "../../../agent/core/input.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import type { Platform } from "../../../agent/platform/platform.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { append, begin, partsIn } from "./uploading.ts";

/** A platform that calls `before` when a tool has made sure of an entry, and is about to use it. */
function pausingAt(name: RegExp, before: () => Promise<void> | void): Platform {
  const platform = currentPlatform();
  return {
    ...platform,
    async openDirectory(canonical, inspect) {
      const folder = await platform.openDirectory(canonical, inspect);
      return {
        ...{ self: folder.self, at: (entry) => folder.at(entry), entry: (bytes) => folder.entry(bytes) },
        openFolder: (entry, look) => folder.openFolder(entry, look),
        async confirm(entry, opened) {
          await folder.confirm(entry, opened);
          if (name.test(entry)) await before();
        },
        close: () => folder.close(),
        [Symbol.asyncDispose]: () => folder.close(),
      };
    },
  };
}

/** As `pausingAt`, of the part, from when the test says. */
async function racing(input: Record<string, unknown>) {
  let before: () => Promise<void> | void = () => undefined;
  let seen = 0;
  const platform = pausingAt(/\.part$/, async () => {
    // The first time, the part is opened; the second time, it is about to be renamed.
    if (++seen === 2) await before();
  });
  const bench = await Workbench.open({ platform });
  const upload = await begin(bench, input);
  await append(bench, upload, 0, [Buffer.from("ours")]);
  seen = 0;
  const commit = (act: typeof before) => {
    before = act;
    return bench.call("UploadCommit", { upload });
  };
  return { bench, upload, commit };
}

test.each([{}, { if_absent: true }])(
  "a file made just before the last step stays: %j",
  async (conditions) => {
    const { bench, commit } = await racing({ path: "a.txt", ...conditions });
    const error = await failure(commit(() => writeFileSync(bench.at("a.txt"), "theirs")));
    expect(error.code).toBe("CONFLICT");
    expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("theirs");
    expect(partsIn(bench.home)).toHaveLength(1);
  },
);

test("an abort that comes during the last step is told that it was too late", async () => {
  const { bench, upload, commit } = await racing({ path: "a.txt" });
  let aborting: Promise<unknown> | undefined;
  await commit(async () => {
    aborting = failure(bench.call("UploadAbort", { upload }));
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  });
  expect(await aborting).toMatchObject({ code: "NOT_FOUND" });
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
});

test("a part with a second name is no longer trusted", async () => {
  const bench = await Workbench.open();
  const upload = await begin(bench, { path: "a.txt" });
  linkSync(bench.at(...partsIn(bench.home)), bench.at("second"));
  for (const tool of ["UploadInfo", "UploadCommit"])
    expect(await failure(bench.call(tool, { upload }))).toMatchObject({ code: "NOT_FOUND" });
});

test("what a person allowed must be so when the upload begins", async () => {
  const bench = await Workbench.open();
  const path = await bench.put("a.txt", "old");
  const tool = bench.tool("Upload");
  const state = { path, named: path, intent: "write", kind: "file", stamp: "another" } as const;
  const context = { ...bench.context(), approved: new ApprovedState(bench.home, [state]) };
  const error = await failure(tool.handle(parseInput(tool, { path }), context));
  expect(error).toMatchObject({ code: "CONFLICT", details: { reason: "changed_since_approved" } });
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
});

test("an upload that cannot begin leaves nothing", async () => {
  const full = Object.assign(new Error("full"), { code: "ENOSPC", syscall: "open" });
  const platform = { ...currentPlatform(), makeSuccessor: () => Promise.reject(full) };
  const bench = await Workbench.open({ platform });
  await bench.put("a.txt", "old");
  const error = await failure(begin(bench, { path: "a.txt" }));
  expect(error).toMatchObject({ details: { system_code: "ENOSPC" } });
  expect(readdirSync(bench.home)).toEqual(["a.txt"]);
  expect(readdirSync(join(bench.state, "uploads"))).toEqual([]);
});

test("a file that another program writes meanwhile is not lost", async () => {
  const bench = await Workbench.open();
  const path = await bench.put("a.txt", "old");
  const { metadata } = await bench.call("FileInfo", { path });
  const upload = await begin(bench, { path, if_etag: metadata?.etag });
  const before = statSync(path);
  writeFileSync(path, "new");
  expect(statSync(path).ino).toBe(before.ino);
  expect(await failure(bench.call("UploadCommit", { upload }))).toMatchObject({ code: "CONFLICT" });
  expect(readFileSync(path, "utf8")).toBe("new");
});
