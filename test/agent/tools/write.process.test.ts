import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

const patchOf = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe("writing a file", () => {
  it("makes it, with its folders, and says so", async () => {
    const bench = await Workbench.open();
    const made = await bench.call("Write", { file_path: "a/b/c.txt", content: "grün\n" });
    expect(made.output).toBe(`Created ${bench.at("a/b/c.txt")} (6 bytes)`);
    expect(made.metadata).toMatchObject({ bytes: 6, created: true, path: bench.at("a/b/c.txt") });
    expect(readFileSync(bench.at("a/b/c.txt"), "utf8")).toBe("grün\n");
    const again = await bench.call("Write", { file_path: "a/b/c.txt", content: "" });
    expect(again.output).toBe(`Overwrote ${bench.at("a/b/c.txt")} (0 bytes, 0 lines added, 1 removed)`);
    expect(again.metadata).toMatchObject({ lines_added: 0, lines_removed: 1 });
    expect(statSync(bench.at("a/b/c.txt")).size).toBe(0);
    expect(readdirSync(bench.at("a/b"))).toEqual(["c.txt"]);
  });

  it("makes no folder when told not to", async () => {
    const bench = await Workbench.open();
    const error = await failure(
      bench.call("Write", { file_path: "a/b", content: "x", create_directories: false }),
    );
    expect(error.code).toBe("NOT_FOUND");
    expect(readdirSync(bench.home)).toEqual([]);
  });

  it("makes no folder when it fails", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("a"));
    const broken = { file_path: "a/b/c/n.ipynb", content: "no notebook" };
    await expect(bench.call("Write", broken)).rejects.toThrow("n.ipynb would");
    expect(readdirSync(bench.at("a"))).toEqual([]);
  });

  it("keeps the mode of what it replaces", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("run.sh", "old");
    chmodSync(file, 0o751);
    await bench.call("Write", { file_path: file, content: "new" });
    expect(statSync(file).mode & 0o7777).toBe(0o751);
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  it("keeps mode and owner of what another user has", NEEDS_ROOT, async () => {
    const bench = await Workbench.open();
    const file = await bench.put("run.sh", "old");
    chmodSync(file, 0o751);
    chownSync(file, 1234, 4321);
    await bench.call("Write", { file_path: file, content: "new" });
    const { mode, uid, gid } = statSync(file);
    expect([mode & 0o7777, uid, gid]).toEqual([0o751, 1234, 4321]);
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  it("parts no hard links, and leaves a link a link", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("one", "a longer old content");
    linkSync(file, bench.at("two"));
    symlinkSync("one", bench.at("link"));
    const hard = await bench.call("Write", { file_path: "two", content: "through the hard link" });
    expect(hard.metadata?.atomic).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("through the hard link");
    expect(statSync(file).nlink).toBe(2);
    await bench.call("Write", { file_path: "link", content: "short" });
    expect(lstatSync(bench.at("link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(bench.at("two"), "utf8")).toBe("short");
  });

  it("follows a dangling link within reach, and makes its target", async () => {
    const bench = await Workbench.open();
    symlinkSync("target", bench.at("link"));
    await bench.call("Write", { file_path: "link", content: "x" });
    expect(readFileSync(bench.at("target"), "utf8")).toBe("x");
    expect(lstatSync(bench.at("link")).isSymbolicLink()).toBe(true);
  });

  describe("that this session knows", () => {
    const sha = (text: string) => hash("sha256", text);

    /** What a Write over it ends with, after which it is as it was. */
    async function refusal(bench: Workbench, file: string, input: Record<string, unknown> = {}) {
      const before = readFileSync(bench.at(file));
      const error = await failure(bench.call("Write", { file_path: file, content: "mine", ...input }));
      expect(readFileSync(bench.at(file))).toEqual(before);
      return error;
    }

    it.each([
      ["read", async (bench: Workbench) => void (await bench.call("Read", { file_path: "f" }))],
      ["read a line of", async (bench) => void (await bench.call("Read", { file_path: "f", limit: 1 }))],
      ["written", async (bench) => void (await bench.call("Write", { file_path: "f", content: "a\nb\n" }))],
      [
        "edited",
        async (bench) =>
          void (await bench.call("Edit", { file_path: "f", old_string: "a", new_string: "x" })),
      ],
      [
        "patched",
        async (bench) =>
          void (await bench.call("ApplyPatch", { patch: patchOf("*** Update File: f", "-a", "+x") })),
      ],
      [
        "made by a patch",
        async (bench) => {
          await bench.call("Delete", { path: "f", permanent: true });
          await bench.call("ApplyPatch", { patch: patchOf("*** Add File: f", "+a", "+b") });
        },
      ],
      [
        "moved",
        async (bench) => {
          await bench.call("Read", { file_path: "f" });
          await bench.call("Move", { source: "f", destination: "g" });
          await bench.call("Move", { source: "g", destination: "f" });
        },
      ],
      [
        "read as bytes",
        async (bench) => void (await bench.call("Read", { file_path: "f", encoding: "base64" })),
      ],
    ] satisfies [string, (bench: Workbench) => Promise<void>][])(
      "as it %s it, is not replaced when it changed since",
      async (_how, know) => {
        const bench = await Workbench.open();
        await bench.put("f", "a\nb\n");
        await know(bench);
        writeFileSync(bench.at("f"), "theirs\n");
        const error = await refusal(bench, "f");
        expect(error).toMatchObject({
          code: "CONFLICT",
          details: { reason: "changed", sha256: sha("theirs\n") },
        });
        expect(error.hint).toContain("expected_sha256");
        await bench.call("Write", { file_path: "f", content: "mine", expected_sha256: sha("theirs\n") });
        await bench.call("Write", { file_path: "f", content: "mine again" });
        expect(readFileSync(bench.at("f"), "utf8")).toBe("mine again");
      },
    );

    it("is not replaced when a command of the session changed it, until it was read again", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a");
      await bench.call("Read", { file_path: "f" });
      await bench.call("Bash", { command: "printf b > f" });
      expect((await refusal(bench, "f")).details?.sha256).toBe(sha("b"));
      await bench.call("Read", { file_path: "f" });
      await bench.call("Write", { file_path: "f", content: "mine" });
    });

    it("is replaced when another session, or nobody, read it", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a");
      await bench.call("Read", { file_path: "f" }, { session: bench.newSession() });
      writeFileSync(bench.at("f"), "b");
      await bench.call("Write", { file_path: "f", content: "mine" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("mine");
    });

    it("is replaced with a word for an AI that has not read it, and without one if it has", async () => {
      const bench = await Workbench.open();
      const ai: GrantScope = { ...bench.owner, id: makeGrantId(), owner: false };
      const options = { grant: ai, session: bench.newSession(ai) };
      const write = async (content: string, more = {}) =>
        (await bench.call("Write", { file_path: "f", content, ...more }, options)).output;
      expect(await write("")).not.toContain("not read");
      await bench.put("f", "theirs");
      await bench.put("g", "theirs");
      const unread = await bench.call("Write", { file_path: "g", content: "mine" }, options);
      expect(unread.output).toContain(
        `[This session had not read what was there before; its SHA-256 was ${sha("theirs")}]`,
      );
      expect((await failure(bench.call("Write", { file_path: "f", content: "x" }, options))).code).toBe(
        "CONFLICT",
      );
      expect(await write("x", { expected_sha256: sha("theirs") })).not.toContain("not read");
      expect(await write("y")).not.toContain("not read");
      await bench.put("h", "theirs");
      const own = await bench.call("Write", { file_path: "h", content: "mine" });
      expect(own.output).not.toContain("not read");
    });

    it("is replaced when it was only touched, copied back, or holds already what is to be written", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a");
      await bench.call("Read", { file_path: "f" });
      utimesSync(bench.at("f"), 1, 1);
      await bench.call("Write", { file_path: "f", content: "b" });
      writeFileSync(bench.at("copy"), "b");
      renameSync(bench.at("copy"), bench.at("f"));
      await bench.call("Write", { file_path: "f", content: "c" });
      writeFileSync(bench.at("f"), "d");
      await bench.call("Write", { file_path: "f", content: "d" });
      await bench.call("Write", { file_path: "f", content: "e" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("e");
    });

    it("is made anew when it is gone", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a");
      await bench.call("Read", { file_path: "f" });
      rmSync(bench.at("f"));
      expect((await bench.call("Write", { file_path: "f", content: "b" })).metadata?.created).toBe(true);
    });

    it("is known by size, time and identity when it is large, and told with its hash", async () => {
      const bench = await Workbench.open();
      const large = "x".repeat(2 * 1024 ** 2);
      await bench.put("f", large);
      await bench.call("Read", { file_path: "f", limit: 1 });
      await bench.call("Move", { source: "f", destination: "g" });
      await bench.call("Write", { file_path: "g", content: large });
      const changed = `${large.slice(1)}y`;
      writeFileSync(bench.at("g"), changed);
      utimesSync(bench.at("g"), 1, 1);
      expect((await refusal(bench, "g")).details?.sha256).toBe(sha(changed));
    });
  });

  describe("that is not written as most are", () => {
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

    it.each([
      [
        "a byte order mark and CRLF",
        Buffer.from("\ufeffa\r\n"),
        Buffer.from("\ufeffb\r\nü\r\n"),
        "in utf-8 with a byte order mark and CRLF line ends",
      ],
      ["UTF-16 and CRLF", utf16("a\r\n"), utf16("b\r\nü\r\n"), "in utf-16le with CRLF line ends"],
      ["UTF-16, big end first", utf16("a\n").swap16(), utf16("b\nü\n").swap16(), "in utf-16be"],
      ["Latin-1", Buffer.from("\xe9\n", "latin1"), Buffer.from("b\n\xfc\n", "latin1"), "in latin1"],
      ["CRLF alone", Buffer.from("a\r\n"), Buffer.from("b\r\nü\r\n"), "with CRLF line ends"],
      [
        "line ends of both kinds",
        Buffer.from("ü\r\na\nc\n"),
        Buffer.from("b\r\nü\r\n"),
        "with CRLF line ends",
      ],
    ])("keeps %s, says so, and knows then what is there", async (_what, before, after, words) => {
      const bench = await Workbench.open();
      await bench.put("f", before);
      const { output, metadata } = await bench.call("Write", { file_path: "f", content: "b\nü\n" });
      expect(readFileSync(bench.at("f"))).toEqual(after);
      expect(output.endsWith(`, written ${words}`)).toBe(true);
      expect(metadata).toMatchObject({ bytes: after.length, sha256: hash("sha256", after) });
      expect((await bench.call("Write", { file_path: "f", content: "c\n" })).metadata?.created).toBe(false);
    });

    it("shows the person who decides what it becomes", async () => {
      const bench = await Workbench.open();
      await bench.put("f", utf16("a\r\nb\r\n"));
      const input = { file_path: "f", content: "a\nc\n" };
      const preview = await bench.tool("Write").preview?.(input, bench.context());
      expect(preview?.summary).toContain("1 line added, 1 removed (14 bytes)");
      expect(preview?.diff).toContain(" a\n-b\n+c");
    });

    it("keeps each line's own end where they are mixed", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a\nb\r\nc\n");
      await bench.call("Write", { file_path: "f", content: "a\nb\nnew\nc\n" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("a\nb\r\nnew\r\nc\n");
    });

    it("is written with the line ends and the mark that the content has of its own", async () => {
      const bench = await Workbench.open();
      await bench.put("f", "a\nb\n");
      await bench.call("Write", { file_path: "f", content: "\ufeffa\r\nb\r\n" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("\ufeffa\r\nb\r\n");
      await bench.call("Write", { file_path: "f", content: "\ufeffc\r\nd\n" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("\ufeffc\r\nd\n");
    });

    it("is refused a character that its encoding lacks, unless another encoding is named", async () => {
      const bench = await Workbench.open();
      const before = Buffer.from("gr\xfcn\r\n", "latin1");
      await bench.put("f", before);
      const error = await failure(bench.call("Write", { file_path: "f", content: "10 €\n" }));
      expect(error.message).toContain('is in latin1, which has no "€" (U+20AC); content contains it');
      expect(error.hint).toContain("encoding=utf-8");
      expect(readFileSync(bench.at("f"))).toEqual(before);
      await bench.call("Write", { file_path: "f", content: "10 €\n", encoding: "utf-8" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("10 €\r\n");
      await bench.call("Write", { file_path: "new", content: "€\n", encoding: "utf-16le" });
      expect(readFileSync(bench.at("new"))).toEqual(utf16("€\n"));
    });

    it("is known by its beginning when it is large", async () => {
      const bench = await Workbench.open();
      await bench.put("f", utf16("line\r\n".repeat(1_500_000)));
      await bench.call("Write", { file_path: "f", content: "short\n" });
      expect(readFileSync(bench.at("f"))).toEqual(utf16("short\r\n"));
    });

    it("is replaced as it is given where it was no text", async () => {
      const bench = await Workbench.open();
      await bench.put("f", Buffer.from([0, 1, 2, 13, 10]));
      await bench.call("Write", { file_path: "f", content: "a\n" });
      expect(readFileSync(bench.at("f"), "utf8")).toBe("a\n");
    });
  });

  it("writes only over the content that was expected", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "one");
    const { metadata } = await bench.call("Read", { file_path: "file" });
    const expected_sha256 = metadata?.sha256;
    await bench.call("Write", { file_path: "file", content: "two", expected_sha256 });
    const stale = await failure(
      bench.call("Write", { file_path: "file", content: "three", expected_sha256 }),
    );
    expect(stale.code).toBe("CONFLICT");
    expect(readFileSync(bench.at("file"), "utf8")).toBe("two");
    const absent = await failure(bench.call("Write", { file_path: "none", content: "x", expected_sha256 }));
    expect(absent.code).toBe("CONFLICT");
  });

  it("lets one of several that expect the same content write", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "one");
    const { metadata } = await bench.call("Read", { file_path: "file" });
    const expected_sha256 = metadata?.sha256;
    const contents = ["two", "three", "four"];
    const calls = contents.map((content) =>
      bench.call("Write", { file_path: "file", content, expected_sha256 }),
    );
    const ends = await Promise.allSettled(calls);
    // Which of them is first is not promised; that it is one, and the file is its, is.
    const written = contents.filter((_, index) => ends[index]?.status === "fulfilled");
    expect(written).toEqual([readFileSync(bench.at("file"), "utf8")]);
  });

  it("makes no file of a name that ends like a folder's", async () => {
    const bench = await Workbench.open();
    const error = await failure(bench.call("Write", { file_path: "folder/", content: "x" }));
    expect(error.message).toContain("is a folder");
    expect(existsSync(bench.at("folder"))).toBe(false);
  });

  it("writes in place where something is mounted on the file", NEEDS_ROOT, async () => {
    const bench = await Workbench.open();
    const file = await bench.put("file", "old");
    const source = await bench.put("source", "old");
    execFileSync("mount", ["--bind", source, file]);
    try {
      const { metadata } = await bench.call("Write", { file_path: file, content: "new" });
      expect(metadata?.atomic).toBe(false);
      expect(readFileSync(file, "utf8")).toBe("new");
    } finally {
      execFileSync("umount", [file]);
    }
  });

  it(
    "says that a file written in place is neither old nor new when the disk is full",
    NEEDS_ROOT,
    async () => {
      const drive = mountDrive(1);
      const bench = await Workbench.open();
      const file = path.join(drive, "file");
      writeFileSync(file, "old");
      linkSync(file, path.join(drive, "link"));
      const content = "x".repeat(2 * 1024 * 1024);
      const error = await failure(bench.call("Write", { file_path: file, content }));
      expect(error.message).toContain("failed partway (ENOSPC): it now has part of the new content");
    },
  );

  it("writes in place where the folder takes no new file, and not at all where the file is read-only", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("folder/file", "old");
    const closed = await bench.put("folder/closed", "old");
    chmodSync(file, 0o666);
    chmodSync(closed, 0o444);
    chmodSync(bench.at("folder"), 0o555);
    const before = statSync(file);
    await asAnotherUser(bench, async () => {
      const { metadata } = await bench.call("Write", { file_path: file, content: "new" });
      expect(metadata?.atomic).toBe(false);
      const error = await failure(bench.call("Write", { file_path: closed, content: "new" }));
      expect(error.code).toBe("PERMISSION_DENIED");
    });
    chmodSync(bench.at("folder"), 0o755);
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readFileSync(closed, "utf8")).toBe("old");
    expect(statSync(file)).toMatchObject({ ino: before.ino, uid: before.uid });
  });

  it("refuses what is no file, and text that is no text", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("folder"));
    expect((await failure(bench.call("Write", { file_path: "folder", content: "" }))).message).toContain(
      "is a folder",
    );
    expect((await failure(bench.call("Write", { file_path: "/", content: "" }))).message).toContain(
      "is a folder",
    );
    expect((await failure(bench.call("Write", { file_path: "/dev/null", content: "" }))).message).toContain(
      "a device",
    );
    const half = await failure(bench.call("Write", { file_path: "x", content: "\ud800" }));
    expect(half).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "content" } });
  });

  it("changes nothing and leaves nothing when it was cancelled", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "old");
    const signal = AbortSignal.abort(new Error("cancelled"));
    await expect(bench.call("Write", { file_path: "file", content: "new" }, { signal })).rejects.toThrow(
      "cancelled",
    );
    expect(readFileSync(bench.at("file"), "utf8")).toBe("old");
    expect(readdirSync(bench.home)).toEqual(["file"]);
  });
});

describe("create_directory", () => {
  it("makes a folder with its parents, in the words of the device document", async () => {
    const bench = await Workbench.open();
    const { metadata, output } = await bench.call("create_directory", { path: "a/b" });
    expect(metadata).toEqual({
      created_path: bench.at("a/b"),
      message: "Directory created successfully",
      created: true,
    });
    expect(output).toContain(bench.at("a/b"));
    expect(statSync(bench.at("a/b")).isDirectory()).toBe(true);
    const again = await bench.call("create_directory", { path: "a/b" });
    expect(again.metadata).toMatchObject({ message: "Directory already exists", created: false });
    expect((await bench.call("create_directory", { path: "/" })).metadata?.created).toBe(false);
  });

  it("says what stands in the way", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "x");
    expect((await failure(bench.call("create_directory", { path: "file" }))).code).toBe("CONFLICT");
    expect((await failure(bench.call("create_directory", { path: "x/y", recursive: false }))).code).toBe(
      "NOT_FOUND",
    );
    expect((await failure(bench.call("create_directory", { path: "C:/Users/me" }))).message).toContain(
      "Windows path",
    );
  });
});
