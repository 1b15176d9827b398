import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { Files } from "../../../agent/fs/access.ts";
import { currentPlatform } from "../../../agent/platform/current.ts";
import { noMounts } from "../../../agent/platform/mounts.ts";
import { moveTool } from "../../../agent/tools/move.ts";
import { needsRare } from "../../helpers/parts.ts";
import { closedPaths } from "../../helpers/protected-paths.ts";
import { folderElsewhere, NEEDS_OTHER_FILE_SYSTEM } from "./other-file-system.ts";
import { asAnotherUser, failure, WAYS, Workbench } from "./workbench.ts";

describe.each(WAYS)("moving, %s", (_way, platform) => {
  it("gives a file or folder another name, and makes the folders that lack", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("a.txt", "text");
    await bench.put("folder/inner/file", "deep");
    const moved = await bench.call("Move", { source: "a.txt", destination: "new/place/b.txt" });
    expect(moved.output).toBe(`Moved ${bench.at("a.txt")} to ${bench.at("new/place/b.txt")}`);
    expect(moved.metadata).toEqual({
      source: bench.at("a.txt"),
      destination: bench.at("new/place/b.txt"),
      type: "file",
      overwrote: false,
    });
    expect(readFileSync(bench.at("new/place/b.txt"), "utf8")).toBe("text");
    expect(existsSync(bench.at("a.txt"))).toBe(false);
    await bench.call("Move", { source: "folder", destination: "other" });
    expect(readFileSync(bench.at("other/inner/file"), "utf8")).toBe("deep");
    const lacking = { source: "other", destination: "none/other", create_directories: false };
    expect((await failure(bench.call("Move", lacking))).code).toBe("NOT_FOUND");
    expect((await failure(bench.call("Move", { source: "none", destination: "x" }))).code).toBe("NOT_FOUND");
  });

  it("replaces a file only when told to, and a folder never", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("a", "new");
    await bench.put("b", "old");
    await bench.put("full/file", "x");
    mkdirSync(bench.at("empty"));
    for (const destination of ["b", "full", "empty", "full/file"]) {
      expect(await failure(bench.call("Move", { source: "a", destination }))).toMatchObject({
        code: "CONFLICT",
      });
    }
    for (const destination of ["full", "empty"]) {
      const error = await failure(bench.call("Move", { source: "a", destination, overwrite: true }));
      expect(error.hint).toContain(`write ${bench.at(destination)}/`);
    }
    const folderOnFile = await failure(
      bench.call("Move", { source: "empty", destination: "b", overwrite: true }),
    );
    expect(folderOnFile.code).toBe("CONFLICT");
    expect(readFileSync(bench.at("b"), "utf8")).toBe("old");
    const replaced = await bench.call("Move", { source: "a", destination: "b", overwrite: true });
    expect(replaced.output).toContain("replacing what was there");
    expect(readFileSync(bench.at("b"), "utf8")).toBe("new");
  });

  it("goes into a folder that is named with a slash", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("a", "x");
    await bench.put("b", "y");
    mkdirSync(bench.at("folder"));
    await bench.call("Move", { source: "a", destination: "folder/" });
    await bench.call("Move", { source: "b", destination: "fresh/" });
    expect(readFileSync(bench.at("folder/a"), "utf8")).toBe("x");
    expect(readFileSync(bench.at("fresh/b"), "utf8")).toBe("y");
  });

  it("refuses to move a folder into itself, or a thing to where it is", async () => {
    const bench = await Workbench.open({ platform });
    mkdirSync(bench.at("folder/sub"), { recursive: true });
    symlinkSync("folder", bench.at("link"));
    for (const destination of ["folder/sub/folder", "folder/", "link/new", "folder"]) {
      const error = await failure(bench.call("Move", { source: "folder", destination }));
      expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "destination" } });
    }
    expect(readdirSync(bench.at("folder"))).toEqual(["sub"]);
  });

  it("moves a link itself, also one that leads to nothing", async () => {
    const bench = await Workbench.open({ platform });
    await bench.put("file", "kept");
    symlinkSync("file", bench.at("link"));
    symlinkSync("nothing", bench.at("dangling"));
    await bench.call("Move", { source: "link", destination: "sub/link" });
    await bench.call("Move", { source: "dangling", destination: "link" });
    expect(readlinkSync(bench.at("sub/link"))).toBe("file");
    expect(readlinkSync(bench.at("link"))).toBe("nothing");
    expect(readFileSync(bench.at("file"), "utf8")).toBe("kept");
    const error = await failure(bench.call("Move", { source: "file", destination: "link" }));
    expect(error.code).toBe("CONFLICT");
  });

  it("lets one of many that want the same place have it, and the others keep theirs", async () => {
    const bench = await Workbench.open({ platform });
    // Each with turns of its own, as if they were other programs.
    const tools = [1, 2, 3, 4].map(() =>
      moveTool(new Files({ protectedPaths: closedPaths(bench.state), platform })),
    );
    const context = bench.context();
    for (const kind of ["file", "folder"]) {
      for (let round = 0; round < 25; round++) {
        for (const index of tools.keys()) {
          await bench.put(kind === "file" ? `file-from-${index}` : `folder-from-${index}/file`, `${index}`);
        }
        const outcomes = await Promise.allSettled(
          tools.map((tool, index) =>
            tool.handle({ source: `${kind}-from-${index}`, destination: `${kind}-${round}` }, context),
          ),
        );
        const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
        expect(winners).toHaveLength(1);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
        }
        const place = bench.at(kind === "file" ? `file-${round}` : `folder-${round}/file`);
        expect(readFileSync(place, "utf8")).toBe(`${winners[0]}`);
        for (const index of tools.keys())
          expect(existsSync(bench.at(`${kind}-from-${index}`))).toBe(index !== winners[0]);
      }
    }
  });
});

function foldCase(folder: string): void {
  execFileSync("chattr", ["+F", folder], { stdio: "ignore" });
}

const CAN_FOLD = (() => {
  const probe = mkdtempSync(path.join(tmpdir(), "matrx-fold-"));
  try {
    foldCase(probe);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true });
  }
})();

/** Few file systems of Linux can, and only when they were made so. */
const NEEDS_FOLDING = needsRare(
  CAN_FOLD,
  "renaming to the other case needs a temporary folder on ext4 with casefold",
);

describe("a moved thing", () => {
  it("takes the session along that works in it", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("project/src"), { recursive: true });
    await bench.call("Bash", { command: "cd project/src" });
    await bench.call("Move", { source: bench.at("project"), destination: bench.at("renamed") });
    expect(bench.session.cwd).toBe(bench.at("renamed/src"));
    expect((await bench.call("Bash", { command: "pwd" })).output).toBe(`${bench.at("renamed/src")}\n`);
  });

  it("may be one of two names of a file", async () => {
    const bench = await Workbench.open();
    linkSync(await bench.put("a", "one file"), bench.at("b"));
    const error = await failure(bench.call("Move", { source: "a", destination: "b" }));
    expect(error.message).toContain("already exists");
    await bench.call("Move", { source: "a", destination: "b", overwrite: true });
    expect(existsSync(bench.at("a"))).toBe(false);
    expect(readFileSync(bench.at("b"), "utf8")).toBe("one file");
  });

  it("can be spelled with accents composed in the other way", async () => {
    const bench = await Workbench.open();
    await bench.put("cafe\u0301", "x");
    await bench.call("Move", { source: "caf\u00e9", destination: "caf\u00e9" });
    expect(readdirSync(bench.home)).toEqual(["caf\u00e9"]);
    await bench.put("other", "y");
    const twin = await failure(bench.call("Move", { source: "other", destination: "cafe\u0301" }));
    expect(twin.code).toBe("CONFLICT");
  });

  it("can be spelled in the other case where the system takes both for one", NEEDS_FOLDING, async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("folded"));
    foldCase(bench.at("folded"));
    writeFileSync(bench.at("folded/Readme"), "x");
    await bench.call("Move", { source: "folded/Readme", destination: "folded/README" });
    expect(readdirSync(bench.at("folded"))).toEqual(["README"]);
  });

  it("is not what a person needs: the root, the home folder, folders of the system, mount points", async () => {
    const bench = await Workbench.open();
    const destination = path.join(tmpdir(), "matrx-nowhere");
    vi.stubEnv("HOME", bench.at("me"));
    mkdirSync(bench.at("me"));
    for (const [source, why] of [
      // The agent's own state lies below it, too.
      ["/", "leads to"],
      ["/usr", "system folder"],
      ["/proc", "system folder"],
      [bench.at("me"), "it is the home folder"],
      [bench.home, "the home folder is in it"],
    ] as const) {
      const moving = await failure(bench.call("Move", { source, destination }));
      const deleting = await failure(
        bench.call("Delete", { path: source, recursive: true, permanent: true }),
      );
      for (const error of [moving, deleting]) {
        expect(error.code).toBe("PERMISSION_DENIED");
        expect(error.message).toContain(why);
      }
    }
    vi.unstubAllEnvs();
  });

  it("is not one that holds a mount point", async () => {
    const mounted = { ...currentPlatform(), mounts: () => ({ ...noMounts, points: [mountPoint] }) };
    let mountPoint = "/";
    const bench = await Workbench.open({ platform: mounted });
    mkdirSync(bench.at("folder/deep/disk"), { recursive: true });
    mountPoint = bench.at("folder/deep/disk");
    for (const source of ["folder", "folder/deep/disk"]) {
      const error = await failure(bench.call("Move", { source, destination: "elsewhere" }));
      expect(error.message).toContain("another file system is mounted");
      expect((await failure(bench.call("Delete", { path: source, recursive: true }))).code).toBe(
        "PERMISSION_DENIED",
      );
    }
  });
});

describe("the limits of a caller", () => {
  it("hold for both ends, and for the allowed folder itself", async () => {
    const bench = await Workbench.open();
    await bench.put("open/file", "inside");
    await bench.put("shut/file", "outside");
    symlinkSync("../shut", bench.at("open/out"));
    symlinkSync("../shut/none", bench.at("open/dangling"));
    const policy = { allowed_paths: [bench.at("open")] };
    for (const [source, destination] of [
      ["open/file", "shut/new"],
      ["open/file", "open/out/new"],
      ["open/file", "open/out/"],
      ["open/out/file", "open/new"],
      ["shut/file", "open/new"],
      ["open/none/../../shut/file", "open/new"],
      ["open", "open-renamed"],
      ["open", "open/inner"],
    ] as const) {
      const error = await failure(bench.call("Move", { source, destination }, { policy }));
      expect(error.code).toBe("PERMISSION_DENIED");
    }
    // The links themselves lie inside.
    await bench.call("Move", { source: "open/out", destination: "open/renamed" }, { policy });
    await bench.call(
      "Move",
      { source: "open/file", destination: "open/dangling", overwrite: true },
      { policy },
    );
    expect(lstatSync(bench.at("open/dangling")).isFile()).toBe(true);
    expect(readdirSync(bench.at("shut"))).toEqual(["file"]);
  });

  it("include what belongs to Matrx itself: not moved, not replaced, not carried off with its folder", async () => {
    const bench = await Workbench.open();
    writeFileSync(path.join(bench.state, "key"), "secret");
    await bench.put("file", "x");
    const above = path.dirname(bench.state);
    for (const [source, destination] of [
      [path.join(bench.state, "key"), "stolen"],
      [bench.state, "stolen"],
      [above, `${above}-moved`],
      ["file", path.join(bench.state, "key")],
      ["file", path.join(bench.state, "new")],
    ] as const) {
      const error = await failure(bench.call("Move", { source, destination, overwrite: true }));
      expect(error.code).toBe("PERMISSION_DENIED");
    }
    expect(readFileSync(path.join(bench.state, "key"), "utf8")).toBe("secret");
  });

  it("include the rights of the agent's user", async () => {
    const bench = await Workbench.open();
    await bench.put("folder/file", "x");
    chmodSync(bench.at("folder"), 0o555);
    await asAnotherUser(bench, async () => {
      const error = await failure(bench.call("Move", { source: "folder/file", destination: "folder/new" }));
      expect(error.code).toBe("PERMISSION_DENIED");
    });
    expect(readdirSync(bench.at("folder"))).toEqual(["file"]);
  });
});

describe("moving to another file system", NEEDS_OTHER_FILE_SYSTEM, () => {
  it("keeps content, mode, times and links of a whole tree", async () => {
    const bench = await Workbench.open();
    const elsewhere = await folderElsewhere();
    await bench.put("tree/sub/script", "#!/bin/sh\n");
    await bench.put("tree/large", Buffer.alloc(3_000_001, "x"));
    chmodSync(bench.at("tree/sub/script"), 0o751);
    chmodSync(bench.at("tree/sub"), 0o2750);
    symlinkSync("sub/script", bench.at("tree/link"));
    execFileSync("bash", ["-c", "echo odd > $'tree/caf\\xe9'"], { cwd: bench.home });
    utimesSync(bench.at("tree/sub/script"), 1_000_000_000, 1_100_000_000.5);
    utimesSync(bench.at("tree/sub"), 1_000_000_000, 1_200_000_000);
    const { output, metadata } = await bench.call("Move", { source: "tree", destination: `${elsewhere}/` });
    expect(output).toContain("copied to another file system");
    expect(metadata).toMatchObject({ copied_entries: 6, copied_bytes: 3_000_015 });
    const there = (name: string) => path.join(elsewhere, "tree", name);
    expect(existsSync(bench.at("tree"))).toBe(false);
    expect(readFileSync(there("large")).length).toBe(3_000_001);
    expect(statSync(there("sub/script")).mode & 0o7777).toBe(0o751);
    expect(statSync(there("sub/script")).mtimeMs).toBe(1_100_000_000_500);
    expect(statSync(there("sub")).mode & 0o7777).toBe(0o2750);
    expect(statSync(there("sub")).mtimeMs).toBe(1_200_000_000_000);
    expect(readlinkSync(there("link"))).toBe("sub/script");
    expect(readdirSync(there(""), "latin1").sort()).toEqual(["caf\xe9", "large", "link", "sub"]);
    expect(readdirSync(elsewhere)).toEqual(["tree"]);
  });

  it("replaces nothing unless told to", async () => {
    const bench = await Workbench.open();
    const elsewhere = await folderElsewhere();
    writeFileSync(path.join(elsewhere, "file"), "old");
    await bench.put("file", "new");
    const destination = path.join(elsewhere, "file");
    expect((await failure(bench.call("Move", { source: "file", destination }))).code).toBe("CONFLICT");
    await bench.call("Move", { source: "file", destination, overwrite: true });
    expect(readFileSync(destination, "utf8")).toBe("new");
    expect(readdirSync(elsewhere)).toEqual(["file"]);
  });

  it("leaves all as it was when a part cannot be taken along", async () => {
    const bench = await Workbench.open();
    const elsewhere = await folderElsewhere();
    await bench.put("tree/a", "x");
    execFileSync("mkfifo", [bench.at("tree/pipe")]);
    const error = await failure(
      bench.call("Move", { source: "tree", destination: path.join(elsewhere, "tree") }),
    );
    expect(error.message).toContain("a named pipe");
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readdirSync(bench.at("tree")).sort()).toEqual(["a", "pipe"]);
  });

  it("leaves all as it was when the source cannot be removed, and says what is left when a part of it can", async () => {
    const bench = await Workbench.open();
    const elsewhere = await folderElsewhere();
    chmodSync(elsewhere, 0o777);
    for (const folder of ["all/locked", "some/free"]) await bench.put(`${folder}/file`, "x");
    for (const folder of ["some/free", "all/locked"]) chmodSync(bench.at(folder), 0o777);
    for (const folder of ["some", "all/locked", "all"]) chmodSync(bench.at(folder), 0o555);
    await asAnotherUser(bench, async () => {
      const whole = { source: "all", destination: path.join(elsewhere, "all") };
      expect((await failure(bench.call("Move", whole))).code).toBe("PERMISSION_DENIED");
      expect(readdirSync(elsewhere)).toEqual([]);
      const part = await failure(
        bench.call("Move", { source: "some", destination: path.join(elsewhere, "some") }),
      );
      expect(part.message).toContain("The copy is complete");
      expect(part.details).toMatchObject({ removed: 1 });
    });
    expect(readFileSync(bench.at("all/locked/file"), "utf8")).toBe("x");
    expect(readFileSync(path.join(elsewhere, "some/free/file"), "utf8")).toBe("x");
    for (const folder of ["some", "all/locked", "all"]) chmodSync(bench.at(folder), 0o755);
  });

  it("leaves all as it was when it is cancelled on the way", async () => {
    const bench = await Workbench.open();
    const elsewhere = await folderElsewhere();
    await bench.put("tree/large", Buffer.alloc(64 * 1024 * 1024, "x"));
    await bench.put("tree/small", "x");
    const cancel = new AbortController();
    const reason = new Error("cancelled");
    const moving = bench.call(
      "Move",
      { source: "tree", destination: path.join(elsewhere, "tree") },
      { signal: cancel.signal },
    );
    void moving.catch(() => undefined);
    await expect.poll(() => readdirSync(elsewhere).length, { interval: 1 }).toBe(1);
    cancel.abort(reason);
    await expect(moving).rejects.toBe(reason);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readdirSync(bench.at("tree")).sort()).toEqual(["large", "small"]);
  });
});
