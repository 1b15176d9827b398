import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { openByIdentity } from "../../../agent/platform/directory.ts";
import type { Platform } from "../../../agent/platform/platform.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";
import { folderElsewhere, NEEDS_OTHER_FILE_SYSTEM } from "../tools/other-file-system.ts";
import { asAnotherUser, type BenchOptions, failure, WAYS, Workbench } from "../tools/workbench.ts";

afterEach(() => void vi.unstubAllEnvs());

/** A device whose user lives in a folder of his own, where his trash is. */
async function withHome(options: BenchOptions = {}) {
  const bench = await Workbench.open(options);
  mkdirSync(bench.at("me"));
  vi.stubEnv("HOME", bench.at("me"));
  vi.stubEnv("XDG_DATA_HOME", undefined);
  return { bench, trash: bench.at("me/.local/share/Trash") };
}

describe.each(WAYS)("deleting, %s", (_way, platform) => {
  it("puts a file into the trash, from where Move brings it back", async () => {
    const { bench, trash } = await withHome({ platform });
    const file = await bench.put("work/a report 100%.txt", "precious");
    const { output, metadata } = await bench.call("Delete", { path: "work/a report 100%.txt" });
    const lies = path.join(trash, "files/a report 100%.txt");
    expect(output).toBe(`Moved ${file} to the trash. It is now at ${lies}; Move can restore it.`);
    expect(metadata).toEqual({ deleted_path: file, type: "file", permanent: false, trash_path: lies });
    expect(existsSync(file)).toBe(false);
    const note = readFileSync(path.join(trash, "info/a report 100%.txt.trashinfo"), "utf8");
    const [head, where, when] = note.split("\n");
    expect(head).toBe("[Trash Info]");
    expect(where).toBe(`Path=${bench.at("work")}/a%20report%20100%25.txt`);
    expect(when).toMatch(/^DeletionDate=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    expect(Math.abs(Date.parse(when?.slice("DeletionDate=".length) ?? "") - Date.now())).toBeLessThan(60_000);
    for (const folder of ["", "files", "info"])
      expect(statSync(path.join(trash, folder)).mode & 0o777).toBe(0o700);
    await bench.call("Move", { source: lies, destination: file });
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(readdirSync(path.join(trash, "info"))).toEqual([]);
  });

  it("keeps things of the same name apart, also those left there without a note", async () => {
    const { bench, trash } = await withHome({ platform });
    mkdirSync(path.join(trash, "files/a.txt"), { recursive: true });
    for (const content of ["1", "2", "3"]) {
      await bench.put("a.txt", content);
      await bench.call("Delete", { path: "a.txt" });
    }
    expect(readdirSync(path.join(trash, "files")).sort()).toEqual(["a 2.txt", "a 3.txt", "a 4.txt", "a.txt"]);
    expect(readdirSync(path.join(trash, "info")).sort()).toEqual(
      ["a 2.txt", "a 3.txt", "a 4.txt"].map((name) => `${name}.trashinfo`),
    );
    expect(readFileSync(path.join(trash, "files/a 3.txt"), "utf8")).toBe("2");
  });

  it("needs recursive for a folder that is not empty", async () => {
    const { bench, trash } = await withHome({ platform });
    await bench.put("full/sub/file", "x");
    mkdirSync(bench.at("empty"));
    for (const tool of ["Delete", "delete_directory"]) {
      for (const permanent of [false, true]) {
        const error = await failure(bench.call(tool, { path: "full", permanent }));
        expect(error).toMatchObject({ code: "CONFLICT" });
        expect(error.hint).toContain("recursive: true");
      }
    }
    await bench.call("delete_directory", { path: "empty" });
    await bench.call("delete_directory", { path: "full", recursive: true });
    expect(readdirSync(path.join(trash, "files")).sort()).toEqual(["empty", "full"]);
    expect(readFileSync(path.join(trash, "files/full/sub/file"), "utf8")).toBe("x");
  });

  it("removes for good when told to, with odd names, and follows no link", async () => {
    const { bench } = await withHome({ platform });
    await bench.put("kept/file", "x");
    await bench.put("tree/a/b/c/file", "x");
    await bench.put("tree/.hidden", "x");
    symlinkSync("../kept", bench.at("tree/link"));
    symlinkSync(bench.at("kept"), bench.at("tree/a/link"));
    symlinkSync("kept", bench.at("alone"));
    if (platform.openDirectory !== openByIdentity) {
      execFileSync("bash", ["-c", "mkdir $'tree/\\xff' && touch $'tree/\\xff/\\xfe\\n'"], {
        cwd: bench.home,
      });
    }
    const { output, metadata } = await bench.call("Delete", {
      path: "tree",
      recursive: true,
      permanent: true,
    });
    const entries = platform.openDirectory === openByIdentity ? 8 : 10;
    expect(output).toBe(`Deleted ${bench.at("tree")} for good, ${entries} entries in all`);
    expect(metadata).toMatchObject({ permanent: true, removed: entries });
    await bench.call("Delete", { path: "alone", permanent: true });
    await bench.call("Delete", { path: "kept/", permanent: true, recursive: true });
    expect(readdirSync(bench.home)).toEqual(["me"]);
  });
});

describe("deleting", () => {
  it("takes large folders away whole, also while their list is read", async () => {
    const { bench } = await withHome();
    mkdirSync(bench.at("many"));
    for (let i = 0; i < 3000; i++) writeFileSync(bench.at(`many/${i}`), "");
    const { metadata } = await bench.call("Delete", { path: "many", recursive: true, permanent: true });
    expect(metadata?.removed).toBe(3001);
    expect(existsSync(bench.at("many"))).toBe(false);
  });

  it("says what went when it is cancelled on the way", async () => {
    const { bench } = await withHome();
    mkdirSync(bench.at("many"));
    for (let i = 0; i < 3000; i++) writeFileSync(bench.at(`many/${i}`), "");
    const cancel = new AbortController();
    const reason = new MatrxError({ code: "CANCELLED", message: "The call was cancelled", hop: "agent" });
    const input = { path: "many", recursive: true, permanent: true };
    const deleting = failure(bench.call("Delete", input, { signal: cancel.signal }));
    await expect.poll(() => readdirSync(bench.at("many")).length, { interval: 1 }).toBeLessThan(2990);
    cancel.abort(reason);
    const error = await deleting;
    const left = readdirSync(bench.at("many")).length;
    expect(error.code).toBe("CANCELLED");
    expect(error.message).toContain(`${3000 - left} entries of ${bench.at("many")} were deleted before`);
  });

  it("leaves alone what is too deep to be walked", async () => {
    const { bench } = await withHome();
    const deep = Array.from({ length: 450 }, () => "d").join("/");
    mkdirSync(bench.at(deep), { recursive: true });
    const error = await failure(bench.call("Delete", { path: "d", recursive: true, permanent: true }));
    expect(error.message).toContain("more than 400 levels deep");
    expect(existsSync(bench.at(deep))).toBe(true);
  });

  it("of directories leaves files and links alone", async () => {
    const { bench } = await withHome();
    await bench.put("file", "x");
    mkdirSync(bench.at("folder"));
    symlinkSync("folder", bench.at("link"));
    for (const [name, kind] of [
      ["file", "a file"],
      ["link", "a symlink"],
    ] as const) {
      const error = await failure(bench.call("delete_directory", { path: name, recursive: true }));
      expect(error.message).toContain(`is ${kind}, not a directory`);
    }
    expect((await failure(bench.call("delete_directory", { path: "none" }))).code).toBe("NOT_FOUND");
    expect(readdirSync(bench.home).sort()).toEqual(["file", "folder", "link", "me"]);
  });

  it("is refused for the folder that the session works in", async () => {
    const { bench } = await withHome();
    await bench.put("project/src/file", "x");
    await bench.call("Bash", { command: "cd project/src" });
    const project = bench.at("project");
    const error = await failure(bench.call("Delete", { path: project, recursive: true }));
    expect(error).toMatchObject({ code: "CONFLICT" });
    expect(error.message).toContain("it contains the session's working directory");
    await bench.call("Delete", { path: project, recursive: true }, { session: bench.newSession() });
    expect(existsSync(project)).toBe(false);
  });

  it("stays within the limits of the caller, who is not told where the trash is", async () => {
    const { bench, trash } = await withHome();
    for (const file of ["open/file", "shut/file"]) await bench.put(file, "x");
    symlinkSync("../shut", bench.at("open/out"));
    symlinkSync("../shut/none", bench.at("open/dangling"));
    const policy = { allowed_paths: [bench.at("open")] };
    for (const target of ["shut/file", "open/out/file", "open", "shut", "me", "open/../shut/file"]) {
      for (const permanent of [false, true]) {
        const input = { path: target, recursive: true, permanent };
        expect((await failure(bench.call("Delete", input, { policy }))).code).toBe("PERMISSION_DENIED");
      }
    }
    const { output, metadata } = await bench.call("Delete", { path: "open/file" }, { policy });
    expect(output).toBe(
      `Moved ${bench.at("open/file")} to the trash. The owner of the device can restore it.`,
    );
    expect(JSON.stringify(metadata)).not.toContain("Trash");
    for (const name of ["open/out", "open/dangling"]) {
      await bench.call("Delete", { path: name, permanent: true }, { policy });
    }
    expect(readdirSync(bench.at("open"))).toEqual([]);
    expect(readdirSync(bench.at("shut"))).toEqual(["file"]);
    expect(existsSync(path.join(trash, "files/file"))).toBe(true);
  });

  it("never takes what belongs to Matrx itself, nor a folder that holds it, nor another name of it", async () => {
    const { bench } = await withHome();
    const key = path.join(bench.state, "key");
    writeFileSync(key, "secret");
    const { Files } = await import("../../../agent/fs/access.ts");
    const { deleteTool } = await import("../../../agent/tools/delete.ts");
    for (const target of [key, bench.state, path.dirname(bench.state), "../state/key", "../state"]) {
      const input = { path: target, recursive: true, permanent: true };
      expect((await failure(bench.call("Delete", input))).code).toBe("PERMISSION_DENIED");
    }
    linkSync(key, bench.at("other-name"));
    const tool = deleteTool(new Files({ protectedPaths: closedPaths(key) }));
    const linked = await failure(tool.handle({ path: "other-name", permanent: true }, bench.context()));
    expect(linked.message).toContain("belongs to Matrx itself");
    expect(readFileSync(key, "utf8")).toBe("secret");
  });
});

describe("a program that swaps folders for links all the time", () => {
  it("gets nothing outside moved or deleted, neither on the way nor inside a tree", async () => {
    const { bench } = await withHome();
    for (const folder of ["open/sub/deep", "open/tree", "shut"])
      mkdirSync(bench.at(folder), { recursive: true });
    for (const file of ["shut/victim", "shut/deep"]) await bench.put(file, "outside");
    const policy = { allowed_paths: [bench.at("open")] };
    const swap = `
      const fs = require("node:fs");
      process.chdir(${JSON.stringify(bench.at("open"))});
      fs.symlinkSync("../shut", "link");
      const quietly = (action) => { try { action(); } catch {} };
      process.stdout.write("ready");
      for (;;) {
        fs.renameSync("sub", "kept"); fs.renameSync("link", "sub");
        fs.renameSync("sub", "link"); fs.renameSync("kept", "sub");
        quietly(() => fs.mkdirSync("fresh/y", { recursive: true }));
        quietly(() => fs.renameSync("fresh", "tree/x"));
        quietly(() => fs.renameSync("tree/x", "aside"));
        quietly(() => fs.symlinkSync("../../shut", "tree/x"));
        quietly(() => fs.rmSync("aside", { recursive: true }));
        quietly(() => fs.mkdirSync("tree"));
      }`;
    const racer = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    await once(racer.stdout, "data");
    const seen = { done: 0, refused: 0 };
    const attempt = async (tool: string, input: Record<string, unknown>) => {
      try {
        await bench.call(tool, input, { policy });
        seen.done++;
      } catch (error) {
        if (!(error instanceof Error && "code" in error)) throw error;
        seen.refused++;
      }
    };
    try {
      const until = performance.now() + 3000;
      while (performance.now() < until) {
        await attempt("Write", {
          file_path: "open/sub/victim",
          content: "inside",
          create_directories: false,
        });
        await attempt("Delete", { path: "open/sub/victim", permanent: true });
        await attempt("Move", { source: "open/sub/victim", destination: "open/stolen", overwrite: true });
        await attempt("Delete", { path: "open/tree", permanent: true, recursive: true });
      }
    } finally {
      racer.kill("SIGKILL");
      if (racer.exitCode === null && racer.signalCode === null) await once(racer, "exit");
    }
    expect(seen.done).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
    expect(readdirSync(bench.at("shut")).sort()).toEqual(["deep", "victim"]);
    expect(readFileSync(bench.at("shut/victim"), "utf8")).toBe("outside");
  });
});

/** Without the trash at the top of the file system, which root may make. */
function onlyHomeTrash(): Platform {
  const platform = currentPlatform();
  const { trash } = platform;
  if (trash.by !== "folder") return platform;
  return { ...platform, trash: { by: "folder", folders: (asked) => trash.folders(asked).slice(0, 1) } };
}

describe("the trash", () => {
  it("refuses what lies in it already", async () => {
    const { bench, trash } = await withHome();
    await bench.put("file", "x");
    await bench.call("Delete", { path: "file" });
    const lies = path.join(trash, "files/file");
    const error = await failure(bench.call("Delete", { path: lies }));
    expect(error.message).toContain("is already in the trash");
    await bench.call("Delete", { path: lies, permanent: true });
    expect(existsSync(lies)).toBe(false);
  });

  it("takes a name of 255 bytes, and one full of odd characters", async () => {
    const { bench, trash } = await withHome();
    const long = `${"ä".repeat(125)}.text`;
    const odd = "-a\n\u202e\"b'.txt";
    for (const name of [long, odd]) {
      await bench.put(name, "x");
      await bench.call("Delete", { path: bench.at(name) });
    }
    const files = readdirSync(path.join(trash, "files"));
    const notes = readdirSync(path.join(trash, "info"));
    expect(notes.sort()).toEqual(files.map((name) => `${name}.trashinfo`).sort());
    expect(files.some((name) => name.startsWith("ää") && name.endsWith(".text"))).toBe(true);
    const note = readFileSync(path.join(trash, `info/${odd}.trashinfo`), "utf8");
    expect(note.split("\n")).toHaveLength(4);
    expect(decodeURIComponent(/^Path=(.*)$/m.exec(note)?.[1] ?? "")).toBe(bench.at(odd));
  });

  it("that cannot be used is said, with the way out, and nothing is lost", async () => {
    const { bench } = await withHome({ platform: onlyHomeTrash() });
    vi.stubEnv("HOME", bench.at("nobody"));
    await bench.put("folder/file", "x");
    const error = await failure(bench.call("Delete", { path: "folder", recursive: true }));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED" });
    expect(error.message).toContain("nothing was deleted");
    expect(error.hint).toContain("permanent: true");
    expect(readFileSync(bench.at("folder/file"), "utf8")).toBe("x");
  });

  it("is not reached through a link that someone laid in its place", async () => {
    const { bench, trash } = await withHome({ platform: onlyHomeTrash() });
    mkdirSync(bench.at("trap/files"), { recursive: true });
    mkdirSync(path.dirname(trash), { recursive: true });
    symlinkSync(bench.at("trap"), trash);
    await bench.put("file", "x");
    const error = await failure(bench.call("Delete", { path: "file" }));
    expect(error.message).toContain("a link or a forbidden folder is in its place");
    expect(readdirSync(bench.at("trap/files"))).toEqual([]);
    expect(readFileSync(bench.at("file"), "utf8")).toBe("x");
  });

  it("is left out when the user has no right to move the thing there", async () => {
    const { bench } = await withHome();
    await bench.put("locked/file", "x");
    chmodSync(bench.at("locked"), 0o555);
    chmodSync(bench.at("me"), 0o777);
    await asAnotherUser(bench, async () => {
      const error = await failure(bench.call("Delete", { path: "locked/file" }));
      expect(error.code).toBe("PERMISSION_DENIED");
    });
    expect(existsSync(bench.at("locked/file"))).toBe(true);
    const notes = path.join(bench.at("me"), ".local/share/Trash/info");
    if (existsSync(notes)) expect(readdirSync(notes)).toEqual([]);
  });
});

describe("the trash of another file system", NEEDS_OTHER_FILE_SYSTEM, () => {
  it("is the user's own folder at its top", async () => {
    const { bench } = await withHome();
    const elsewhere = await folderElsewhere();
    const top = path.dirname(elsewhere);
    const own = path.join(top, `.Trash-${process.getuid?.()}`);
    const wasThere = existsSync(own);
    writeFileSync(path.join(elsewhere, "file"), "x");
    const { metadata } = await bench.call("Delete", { path: path.join(elsewhere, "file") });
    const lies = String(metadata?.trash_path);
    expect(lies.startsWith(path.join(own, "files"))).toBe(true);
    const noteFile = lies.replace("/files/", "/info/").concat(".trashinfo");
    expect(readFileSync(noteFile, "utf8")).toContain(`\nPath=${path.relative(top, elsewhere)}/file\n`);
    expect(readFileSync(lies, "utf8")).toBe("x");
    await bench.call("Delete", { path: wasThere ? lies : own, permanent: true, recursive: true });
  });
});
