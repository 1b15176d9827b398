/**
 * File tools against a command of the same grant, which runs in the sandbox meanwhile and keeps putting something else in
 * the place of the folders and files that they are called for. Nothing that is closed or outside may be shown, named or
 * changed, and no call may wait for a pipe.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../../agent/core/tool.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { LONG } from "../../helpers/long-mode.ts";
import { NEEDS_SANDBOX } from "../sandbox/needs-sandbox.ts";
import { type CallOptions, Workbench } from "../tools/workbench.ts";
import { serve } from "../transfers/memory-stream.ts";
import { append, OPEN } from "../transfers/uploading.ts";

/** Of each kind of tool: as many calls, or as many milliseconds. */
const [CALLS_OF_A_KIND, MS_OF_A_KIND] = LONG ? [10_000, 0] : [0, 500];
/** How long one call may take, in milliseconds. Searches end by themselves after 15 seconds. */
const MOST_MS = 20_000;
const SECRET = "s3cret-canary";
/** Stands only in closed and outside folders, and is never asked for in full. */
const NAME = "canary-named.txt";
const ALMOST = "canary-name.txt";

/** What no answer may hold. The links that are listed lead to a file or are closed. */
const TELLING = new RegExp(`${SECRET}|${NAME}|"target_type":"directory"`);

type Call = readonly [tool: string, input: Record<string, unknown>];

const patch = (...lines: string[]): Call => [
  "ApplyPatch",
  { patch: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") },
];

/** The calls of one try, one after the other. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  Read: [
    ["Read", { file_path: "d/file" }],
    ["Read", { file_path: `d/${ALMOST}` }],
    ["Read", { file_path: "f" }],
  ],
  Write: [
    ["Write", { file_path: "d/file", content: "inside" }],
    ["Write", { file_path: "d/made/new", content: "inside" }],
    ["Write", { file_path: "f", content: "inside" }],
  ],
  Edit: [
    ["Edit", { file_path: "d/file", old_string: "inside", new_string: "inside!" }],
    ["Edit", { file_path: "f", old_string: "inside", new_string: "inside!" }],
    ["Edit", { file_path: `d/${ALMOST}`, old_string: "inside", new_string: "inside!" }],
  ],
  ApplyPatch: [
    patch("*** Add File: d/added", "+inside"),
    patch("*** Update File: d/file", "@@", "-inside", "+inside", "+more"),
    patch("*** Update File: d/added", "*** Move to: d/made/moved", "@@", "-inside", "+inside"),
    patch("*** Delete File: d/made/moved"),
    patch("*** Delete File: f"),
  ],
  Move: [
    ["Move", { source: "d/file", destination: "d/made/file", overwrite: true }],
    ["Move", { source: "d/made/file", destination: "d/file", overwrite: true }],
    ["Move", { source: "f", destination: "d/file", overwrite: true }],
    ["Move", { source: "d/made", destination: "d/other" }],
    ["Move", { source: "d", destination: "moved" }],
    ["Move", { source: "moved", destination: "d" }],
  ],
  Delete: [
    ["Delete", { path: "d/file", permanent: true }],
    ["Delete", { path: "f", permanent: true }],
    ["Delete", { path: "d/made", permanent: true, recursive: true }],
    ["delete_directory", { path: "d", permanent: true, recursive: true }],
  ],
  create_directory: [["create_directory", { path: "d/made/deep/deeper" }]],
  ListDirectory: [
    ["ListDirectory", { path: "d" }],
    ["ListDirectory", { path: "links" }],
    ["DirectoryTree", { path: "d" }],
  ],
  Glob: [
    ["Glob", { pattern: "**", path: "d" }],
    ["Glob", { pattern: "links/l/*" }],
    ["search_files", { query: "canary", path: "d" }],
  ],
  Grep: [
    ["Grep", { pattern: "s3cret|inside", path: "d" }],
    ["Grep", { pattern: "s3cret|inside", path: "f" }],
  ],
  Download: [
    ["FileInfo", { path: "d/file" }],
    ["Download", { path: "d/file" }],
    ["Download", { path: "f" }],
    ["Download", { path: "d" }],
  ],
  Upload: [
    ["Upload", { path: "d/file" }],
    ["Upload", { path: "f" }],
    ["Upload", { path: "d/sent" }],
  ],
};

describe("while a command keeps exchanging folders and files", NEEDS_SANDBOX, () => {
  it("file tools show and change nothing that is closed or outside, and wait for no pipe", {
    timeout: LONG ? 3 * 3600_000 : 60_000,
  }, async () => {
    const bench = await Workbench.open();
    const work = bench.at("work");
    const outside = temporaryFolder();
    const closed = [outside, path.join(work, "closed"), path.join(bench.state, "canaries")];
    for (const folder of closed) plant(folder);
    mkdirSync(path.join(work, "fixed"));
    writeFileSync(path.join(work, "fixed", ".env"), SECRET, { mode: 0o640 });
    const before = closed.map(allIn);

    const effects: GrantScope["effects"] = ["read", "write", "execute"];
    const grant: GrantScope = { id: makeGrantId(), owner: false, effects, paths: [work] };
    const policy = { denied_paths: [path.join(work, "closed"), "**/.env"] };
    const session = bench.newSession(grant);
    session.cwd = work;
    const options: CallOptions = { grant, session, policy, ...OPEN };
    const targets = JSON.stringify(closed);
    await bench.call(
      "Bash",
      { command: `node -e ${quoted(exchanger(targets))}`, run_in_background: true },
      options,
    );
    await expect.poll(() => existsSync(path.join(work, "ready"))).toBe(true);

    for (const [kind, calls] of Object.entries(CALLS)) {
      const seen = { done: 0, refused: 0 };
      const until = performance.now() + MS_OF_A_KIND;
      const isTried = () => seen.done > 0 && seen.done + seen.refused >= CALLS_OF_A_KIND;
      while (!isTried() || performance.now() < until) {
        for (const call of calls) {
          const { text, isRefused } = await inTime(saidBy(bench, call, options), call);
          expect(text, `${kind}: ${JSON.stringify(call)}`).not.toMatch(TELLING);
          seen[isRefused ? "refused" : "done"]++;
        }
      }
    }
    expect(closed.map(allIn)).toEqual(before);
    expect(readFileSync(path.join(work, "fixed", ".env"), "utf8")).toBe(SECRET);
    expect(lstatSync(path.join(work, "fixed", ".env")).mode & 0o777).toBe(0o640);
    await expectChanges(work);
  });
});

/** What stands in a closed folder: the same names as in the exchanged one, and one of its own. */
function plant(folder: string): void {
  mkdirSync(path.join(folder, "made"), { recursive: true });
  for (const name of ["file", "added", "made/file", "picture.png", NAME]) {
    writeFileSync(path.join(folder, name), SECRET, { mode: 0o640 });
  }
}

/** All that can be known of what is in a folder. */
function allIn(folder: string): unknown {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return ["", ...names].map((name) => {
    const { mode, mtimeMs, ctimeMs, ino, size } = lstatSync(path.join(folder, name));
    return { name, mode, mtimeMs, ctimeMs, ino, size };
  });
}

interface Said {
  readonly text: string;
  readonly isRefused: boolean;
}

/** All that the caller gets to know, also by the stream. */
async function saidBy(bench: Workbench, [tool, input]: Call, options: CallOptions): Promise<Said> {
  try {
    const result = await bench.call(tool, input, options);
    if (tool === "Upload") return { text: await upload(bench, result, options), isRefused: false };
    const text = JSON.stringify([result.output, result.metadata]);
    if (!result.stream) return { text, isRefused: false };
    const { stream } = await serve(result);
    return { text: text + Buffer.concat(stream.pieces).toString("latin1"), isRefused: false };
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    return { text: JSON.stringify(error.shape()), isRefused: true };
  }
}

async function upload(bench: Workbench, begun: ToolResult, options: CallOptions): Promise<string> {
  const id = String(begun.metadata?.upload);
  try {
    await append(bench, id, 0, [Buffer.from("inside")], options);
    const { output, metadata } = await bench.call("UploadCommit", { upload: id }, options);
    return JSON.stringify([output, metadata]);
  } catch (error) {
    await bench.call("UploadAbort", { upload: id }, options).catch(() => undefined);
    throw error;
  }
}

async function inTime<T>(result: Promise<T>, call: Call): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${JSON.stringify(call)} hangs`)), MOST_MS);
  try {
    return await Promise.race([result, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The command was not stopped by what the tools did. */
async function expectChanges(work: string): Promise<void> {
  const state = () => lstatSync(work).ctimeMs;
  const before = state();
  await expect.poll(state).not.toBe(before);
}

/** At times as fast as it can, and at times so slowly that a call falls in between. */
function exchanger(targets: string): string {
  return `
    const fs = require("node:fs");
    const { execFileSync } = require("node:child_process");
    const targets = ${targets};
    const hold = (most) => { for (const end = performance.now() + most * Math.random(); performance.now() < end;); };
    const one = (list) => list[Math.floor(Math.random() * list.length)];
    // The tools may have taken what it wants to move, or put something there.
    const attempt = (act) => { try { act(); } catch {} };
    const clear = (name) => fs.rmSync(name, { recursive: true, force: true });
    const makeFolder = (name) => {
      fs.mkdirSync(name + "/made", { recursive: true });
      for (const file of ["file", "made/file"]) fs.writeFileSync(name + "/" + file, "inside");
    };
    const files = [
      (name) => fs.symlinkSync(one(targets) + "/file", name),
      (name) => fs.symlinkSync("fixed/.env", name),
      (name) => execFileSync("mkfifo", [name]),
      (name) => fs.linkSync("plain", name),
      (name) => fs.mkdirSync(name),
    ];
    const folders = [
      (name) => fs.symlinkSync(one(targets), name),
      (name) => fs.symlinkSync(one(targets), name),
      (name) => makeFolder(name),
    ];
    const exchange = (name, make, makeOther, most) => {
      attempt(() => { if (!fs.lstatSync(name, { throwIfNoEntry: false })) make(name); });
      attempt(() => { clear(name + ".other"); makeOther(name + ".other"); });
      attempt(() => clear(name + ".kept"));
      for (let turn = 0; turn < 10; turn++) {
        attempt(() => fs.renameSync(name, name + ".kept"));
        attempt(() => fs.renameSync(name + ".other", name));
        hold(most);
        attempt(() => fs.renameSync(name, name + ".other"));
        attempt(() => fs.renameSync(name + ".kept", name));
        hold(most);
      }
    };
    const point = (target) => attempt(() => {
      attempt(() => fs.unlinkSync("links/next"));
      fs.symlinkSync(target, "links/next");
      fs.renameSync("links/next", "links/l");
    });
    fs.mkdirSync("links");
    fs.writeFileSync("plain", "inside");
    makeFolder("d");
    fs.writeFileSync("ready", "");
    for (;;) {
      const most = Math.random() < 0.5 ? 0 : 2;
      exchange("d", makeFolder, one(folders), most);
      exchange("f", (name) => fs.writeFileSync(name, "inside"), one(files), most);
      for (let turn = 0; turn < 10; turn++) {
        point("../plain");
        hold(most);
        point(one(targets));
        hold(most);
      }
    }`;
}

function quoted(script: string): string {
  return `'${script.replaceAll("'", `'\\''`)}'`;
}
