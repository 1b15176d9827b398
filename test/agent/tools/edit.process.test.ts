import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { parseInput } from "../../../agent/core/input.ts";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

/** Edits a file that holds `content`, and gives what it holds then. */
async function edited(content: string | Buffer, input: Record<string, unknown>): Promise<Buffer> {
  const bench = await Workbench.open();
  await bench.put("file", content);
  await bench.call("Edit", { file_path: "file", ...input });
  return readFileSync(bench.at("file"));
}

/** The error of an edit; the file must hold what it held. */
async function refusal(content: string | Buffer, input: Record<string, unknown>) {
  const bench = await Workbench.open();
  const file = await bench.put("file", content);
  const before = statSync(file, { bigint: true });
  const error = await failure(bench.call("Edit", { file_path: "file", ...input }));
  expect(readFileSync(file)).toEqual(Buffer.from(content));
  expect(statSync(file, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  expect(readdirSync(bench.home)).toEqual(["file"]);
  return error;
}

describe("editing a file", () => {
  it("replaces the one text, and shows what changed", async () => {
    const bench = await Workbench.open();
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}.`);
    const file = await bench.put("notes.txt", `${lines.join("\n")}\n`);
    const { output, metadata } = await bench.call("Edit", {
      file_path: "notes.txt",
      old_string: "line 20.\nline 21.",
      new_string: "line 20.\nbetween\nline 21!",
    });
    expect(output).toBe(
      [
        `Edited ${file}: 1 replacement, at line 20`,
        "@@ -18,7 +18,8 @@",
        " line 18.",
        " line 19.",
        " line 20.",
        "-line 21.",
        "+between",
        "+line 21!",
        " line 22.",
        " line 23.",
        " line 24.",
      ].join("\n"),
    );
    const now = readFileSync(file);
    expect(now.toString()).toBe(
      `${lines.slice(0, 20).join("\n")}\nbetween\nline 21!\n${lines.slice(21).join("\n")}\n`,
    );
    expect(metadata).toEqual({
      path: file,
      replacements: 1,
      first_line: 20,
      lines_added: 2,
      lines_removed: 1,
      bytes: now.length,
      sha256: createHash("sha256").update(now).digest("hex"),
      encoding: "utf-8",
      eol: "lf",
      atomic: true,
      diff_cut: false,
    });
  });

  it("takes a text out, and puts one in at the ends of the file", async () => {
    expect(String(await edited("one two three", { old_string: " two", new_string: "" }))).toBe("one three");
    expect(String(await edited("one", { old_string: "one", new_string: "zero\none" }))).toBe("zero\none");
    expect(String(await edited("a\nb", { old_string: "b", new_string: "b\nc\n" }))).toBe("a\nb\nc\n");
    expect(String(await edited("x", { old_string: "x", new_string: "" }))).toBe("");
  });

  it("takes neither text for a pattern", async () => {
    const content = String(await edited("a.c(x) abc", { old_string: "a.c(x)", new_string: "$& $1 \\n $$" }));
    expect(content).toBe("$& $1 \\n $$ abc");
  });

  it("bounds the diff, and says that it was cut", async () => {
    const bench = await Workbench.open();
    await bench.put("many", "old\n".repeat(250));
    const { output, metadata } = await bench.call("Edit", {
      file_path: "many",
      old_string: "old",
      new_string: "new",
      replace_all: true,
    });
    expect(output).toContain("250 replacements, the first at line 1");
    expect(output).toContain("more lines of this diff are not shown; read the file to see them");
    expect(output.length).toBeLessThan(20_000);
    expect(metadata).toMatchObject({ diff_cut: true, lines_added: 250, lines_removed: 250 });
    await bench.put("more", "old\n".repeat(5000));
    const large = await bench.call("Edit", {
      file_path: "more",
      old_string: "old",
      new_string: "new",
      replace_all: true,
    });
    expect(large.output).toContain("The change is too large to show by line");
    expect(readFileSync(bench.at("more"), "utf8")).toBe("new\n".repeat(5000));
  });

  it("does not show what the file holds to a grant that may not read", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "the secret\nname\n");
    const grant = { ...bench.owner, id: makeGrantId(), effects: ["write" as const] };
    const { output } = await bench.call(
      "Edit",
      { file_path: "file", old_string: "name", new_string: "n" },
      { grant },
    );
    expect(output).toBe(`Edited ${bench.at("file")}: 1 replacement, at line 2`);
    const absent = await failure(
      bench.call("Edit", { file_path: "file", old_string: "then", new_string: "x" }, { grant }),
    );
    expect(absent.message).toBe(`old_string was not found in ${bench.at("file")}. Nothing was changed`);
  });
});

describe("a text that is not unique", () => {
  it("is refused with the lines of all its occurrences", async () => {
    const error = await refusal("x\none\ny one\n\none one\n", { old_string: "one", new_string: "1" });
    expect(error.message).toContain("old_string occurs 4 times in");
    expect(error.message).toContain("lines 2, 3, 5. Nothing was changed");
    expect(error.details).toMatchObject({ reason: "not_unique", occurrences: 4, lines: [2, 3, 5] });
    expect(error.hint).toContain("replace_all");
    const many = await refusal("a\n".repeat(100), { old_string: "a", new_string: "b" });
    expect(many.message).toContain("19, 20 and further on");
  });

  it("is replaced everywhere with replace_all, or when all of them were expected", async () => {
    const all = { old_string: "one", new_string: "two" };
    expect(String(await edited("one one\none", { ...all, replace_all: true }))).toBe("two two\ntwo");
    expect(String(await edited("one one\none", { ...all, expected_replacements: 3 }))).toBe("two two\ntwo");
    const both = { ...all, expected_replacements: 3, replace_all: true };
    expect(String(await edited("one one\none", both))).toBe("two two\ntwo");
    for (const expected_replacements of [1, 2, 4]) {
      for (const replace_all of [true, false]) {
        const error = await refusal("one one\none", { ...all, expected_replacements, replace_all });
        expect(error.code).toBe("TOOL_EXECUTION_FAILED");
        expect(error.details).toMatchObject({ occurrences: 3, lines: [1, 2] });
      }
    }
  });

  it("is not unique when it overlaps itself; replace_all takes it from the left", async () => {
    const error = await refusal("baaab", { old_string: "aa", new_string: "x" });
    expect(error.message).toContain("2 times");
    expect(error.message).toContain("some of them overlapping");
    expect(String(await edited("baaab", { old_string: "aa", new_string: "x", replace_all: true }))).toBe(
      "bxab",
    );
  });

  it("is found out in a long text that repeats itself without end", async () => {
    const error = await refusal("a".repeat(200_000), { old_string: "a".repeat(150_000), new_string: "b" });
    expect(error.details).toMatchObject({ occurrences: 50_001 });
  });
});

describe("a text that is not there", () => {
  it("is refused with the closest lines", async () => {
    const error = await refusal("const a = 1;\nconst total = sum(items);\nreturn total;\n", {
      old_string: "const total = sum(item);",
      new_string: "x",
    });
    expect(error.message).toContain("The closest lines are:\n  line 2 (");
    expect(error.message).toContain("%): const total = sum(items);");
    expect(error.details).toMatchObject({ reason: "not_found" });
  });

  it("is refused with the line up to which it fits", async () => {
    const content = "if a:\n  b()\n\nif a:\n  c()\n  d()\n";
    const error = await refusal(content, { old_string: "if a:\n  c()\n  e()", new_string: "x" });
    expect(error.message).toContain('it matches from line 4 on, but line 6 is "  d()"');
    const end = await refusal("a\nb", { old_string: "a\nb\nc", new_string: "x" });
    expect(end.message).toContain("it matches from line 1 on, but line 3 is not there: the file ends");
  });

  it("is refused in good time though everything is alike", async () => {
    const content = "a\n".repeat(100_000);
    const error = await refusal(content, { old_string: `${content}b`, new_string: "x" });
    expect(error.details).toMatchObject({ reason: "not_found" });
  });

  it.each([
    ["    return 1;", "\treturn 1;", "indentation differs (the file has 1 tab, old_string has 4 spaces)"],
    ["return 1;", "return 1;  ", undefined],
    ["if (a)\n  b();", "if (a)  \n  b();", "white space at the end of the line differs"],
    ["say “yes”", 'say "yes"', "characters that look alike"],
    ["10 km", "10\u202fkm", "characters that look alike"],
    ["café", "cafe\u0301", "characters that look alike"],
    ["     2\tb\n     3\tc", "b\nc", "includes the line numbers that Read shows"],
  ])("is told from what is nearly so: %j", async (old_string, content, why) => {
    if (why === undefined) {
      expect(String(await edited(`a\n${content}\n`, { old_string, new_string: "x" }))).toBe("a\nx  \n");
      return;
    }
    const error = await refusal(`a\n${content}\n`, { old_string, new_string: "x" });
    expect(error.message).toContain("line 2 is similar");
    expect(error.message).toContain(why);
  });
});

describe("wrong parameters", () => {
  it.each([
    [{ old_string: "a" }, "new_string: is missing"],
    [{ new_string: "a" }, "old_string: is missing"],
    [{}, "old_string: is missing"],
    [{ old_string: "", new_string: "a" }, "old_string: it is empty"],
    [{ old_string: "a", new_string: "a" }, "nothing would change"],
    [{ old_string: "\ud83d", new_string: "a" }, "half a character"],
    [{ old_string: "a", new_string: "\ude00" }, "half a character"],
    [
      { edits: [{ old_string: "a", new_string: "b" }], old_string: "a" },
      "old_string: can't be combined with edits",
    ],
    [{ edits: [{ old_string: "a", new_string: "b" }], replace_all: true }, "replace_all: can't be combined"],
    [
      {
        edits: [
          { old_string: "a", new_string: "b" },
          { old_string: "", new_string: "b" },
        ],
      },
      "edits[1].old_string: it is empty",
    ],
  ])("are refused: %j", async (input, message) => {
    const error = await refusal("a", input);
    expect(error.code).toBe("INVALID_PARAMETERS");
    expect(error.message).toContain(message);
    expect(error.hint).toBeTruthy();
  });

  it("are named when they are unknown", async () => {
    const bench = await Workbench.open();
    const input = { file_path: "x", old_sting: "a", new_string: "b" };
    const error = await failure(Promise.resolve().then(() => parseInput(bench.tool("Edit"), input)));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", hint: 'Did you mean "old_string"?' });
  });
});

describe("several edits at once", () => {
  it("are all matched against the file as it was", async () => {
    const edits = [
      { old_string: "three", new_string: "one" },
      { old_string: "one", new_string: "two" },
      { old_string: "two", new_string: "three", replace_all: true },
    ];
    expect(String(await edited("one two three two", { edits }))).toBe("two three one three");
  });

  it("may touch, and not overlap", async () => {
    const edits = [
      { old_string: "ab", new_string: "1" },
      { old_string: "cd", new_string: "2" },
    ];
    expect(String(await edited("abcd", { edits }))).toBe("12");
    const error = await refusal("abcd", { edits: [...edits, { old_string: "bc", new_string: "3" }] });
    expect(error.message).toContain("edits[0].old_string and edits[2].old_string change the same text");
  });

  it("are made all or none", async () => {
    const edits = [
      { old_string: "a", new_string: "1" },
      { old_string: "z", new_string: "2" },
    ];
    const error = await refusal("abc", { edits });
    expect(error.message).toContain("edits[1].old_string was not found in");
  });
});

describe("line ends", () => {
  it.each([
    [
      "the file's, for a text given with others",
      "a\r\nb\r\nc\r\n",
      "b\nc",
      "x\ny\nz",
      "a\r\nx\r\ny\r\nz\r\n",
    ],
    ["the file's, though the new text has others", "a\nb\nc\n", "b\r\nc", "x\r\ny", "a\nx\ny\n"],
    ["those of the line, for a text within one", "a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"],
    ["those of the line before, at the end", "a\r\nb", "b", "x\ny\n", "a\r\nx\r\ny\r\n"],
    ["those given, where the file has none", "a", "a", "x\r\ny", "x\r\ny"],
    [
      "each line's own, where they are mixed",
      "a\nb\r\nc\nd\r\n",
      "a\nb\nc\nd",
      "a\nb\nnew\nc\nD",
      "a\nb\r\nnew\r\nc\nD\r\n",
    ],
    ["each line's own, when lines go", "a\nb\r\nc\nd\r\ne", "a\nb\nc\nd\ne", "a\nc\nd\ne", "a\nc\nd\r\ne"],
    ["of a line that is taken out, gone", "a\r\nb\nc\r\n", "b\n", "", "a\r\nc\r\n"],
    ["a lone return, untouched", "a\rb\r\nc\n", "b\nc", "x\ny", "a\rx\r\ny\n"],
  ])("are %s", async (_what, content, old_string, new_string, expected) => {
    expect(JSON.stringify(String(await edited(content, { old_string, new_string })))).toBe(
      JSON.stringify(expected),
    );
  });

  it("are looked for once in a long line that is cut at every comma", async () => {
    const long = "value,".repeat(99_000);
    const after = await edited(`${long}\r\n`, { old_string: ",", new_string: ",\n", replace_all: true });
    expect(String(after)).toBe(`${"value,\r\n".repeat(99_000)}\r\n`);
  });

  it("are each line's own in a long piece, too", async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index % 10}${index % 3 ? "\n" : "\r\n"}`);
    const old = lines.join("");
    const input = { old_string: `<${old}>`, new_string: `<${old}new\n>` };
    const after = String(await edited(`<${old}>`, input));
    expect(after === `<${old}new\n>`).toBe(true);
  });

  it("alone are no change", async () => {
    const error = await refusal("a\r\nb\r\n", { old_string: "a\r\nb", new_string: "a\nb" });
    expect(error.message).toContain("Nothing would change");
    expect(error.hint).toContain("A file keeps its line ends");
  });
});

describe("encodings", () => {
  const swapped = (text: string) => Buffer.from(text, "utf16le").swap16();

  it.each([
    ["UTF-8 with a mark", Buffer.from("\ufeffgrün\nrot\n"), Buffer.from("\ufeffgrün\nblaß €\n"), "utf-8-bom"],
    [
      "UTF-16, little end first",
      Buffer.from("\ufeffgrün\r\nrot\r\n", "utf16le"),
      Buffer.from("\ufeffgrün\r\nblaß €\r\n", "utf16le"),
      "utf-16le",
    ],
    ["UTF-16, big end first", swapped("\ufeffgrün\nrot\n"), swapped("\ufeffgrün\nblaß €\n"), "utf-16be"],
    [
      "Windows-1252",
      Buffer.from([0x93, 0xfc, 0x94, 10, ...Buffer.from("rot\n")]),
      Buffer.from([0x93, 0xfc, 0x94, 10, ...Buffer.from("bla"), 0xdf, 32, 0x80, 10]),
      "windows-1252",
    ],
  ])("keeps %s", async (_what, before, after, encoding) => {
    const bench = await Workbench.open();
    await bench.put("file", before);
    const input = { file_path: "file", old_string: "rot", new_string: "blaß €" };
    const { output, metadata } = await bench.call("Edit", input);
    expect(readFileSync(bench.at("file"))).toEqual(after);
    expect(metadata?.encoding).toBe(encoding);
    expect(output).toContain("-rot\n+blaß €");
  });

  it("refuses a character that the file's encoding lacks, and says which", async () => {
    const error = await refusal(Buffer.from("gr\xfcn rot", "latin1"), {
      old_string: "rot",
      new_string: "10 €",
    });
    expect(error.message).toContain('is in latin1, which has no "€" (U+20AC); new_string contains it');
    expect(error.hint).toContain("iconv");
    const old = await refusal(Buffer.from("gr\xfcn rot", "latin1"), { old_string: "日", new_string: "x" });
    expect(old.message).toContain('which has no "日"');
  });

  it("keeps one encoding in a file of Latin-1 that ends in its only letter beyond ASCII", async () => {
    const before = Buffer.from("Menu: caf\xe9", "latin1");
    const after = await edited(before, { old_string: "Menu", new_string: "Menü" });
    expect(after).toEqual(Buffer.from("Menü: café", "latin1"));
  });

  it("leaves what is no UTF-8 in a file of UTF-8 as it is", async () => {
    const damaged = Buffer.concat([
      Buffer.from("weiß grün schön "),
      Buffer.from([0xff, 0xc3]),
      Buffer.from("\nrot\n"),
    ]);
    const after = await edited(damaged, { old_string: "rot", new_string: "blau" });
    expect(after).toEqual(Buffer.concat([damaged.subarray(0, -4), Buffer.from("blau\n")]));
    const shown = await refusal(damaged, { old_string: "schön \ufffd", new_string: "x" });
    expect(shown.hint).toContain("give text without them");
  });

  it("finds no character within another one, where the caller says what the file is in", async () => {
    // The second byte of the first two characters is a backslash by itself.
    const bytes = Buffer.from([0x83, 0x5c, 0x95, 0x5c, 0x5c, 0x0a]);
    const change = { old_string: "\\", new_string: "表", encoding: "shift_jis" };
    expect(await edited(bytes, change)).toEqual(Buffer.from([0x83, 0x5c, 0x95, 0x5c, 0x95, 0x5c, 0x0a]));
    const bench = await Workbench.open();
    await bench.put("file", bytes);
    const { output } = await bench.call("Read", { file_path: "file", encoding: "shift_jis" });
    expect(output).toBe("     1\tソ表\\");
  });

  it("takes text without a mark for UTF-16 only when told", async () => {
    const bytes = Buffer.from("one\ntwo\n", "utf16le");
    const error = await refusal(bytes, { old_string: "one", new_string: "1" });
    expect(error.message).toContain("is not text");
    expect(error.hint).toContain("encoding");
    const after = await edited(bytes, { old_string: "one", new_string: "1", encoding: "utf-16le" });
    expect(after.toString("utf16le")).toBe("1\ntwo\n");
  });
});

describe("the file that is edited", () => {
  it("keeps mode, link and hard link", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("run.sh", "old");
    chmodSync(file, 0o751);
    symlinkSync("run.sh", bench.at("link"));
    await bench.call("Edit", { file_path: "link", old_string: "old", new_string: "new" });
    expect(lstatSync(bench.at("link")).isSymbolicLink()).toBe(true);
    linkSync(file, bench.at("hard"));
    await bench.call("Edit", { file_path: "hard", old_string: "new", new_string: "newer" });
    expect(readFileSync(file, "utf8")).toBe("newer");
    expect(statSync(file)).toMatchObject({ nlink: 2 });
    expect(statSync(file).mode & 0o777).toBe(0o751);
  });

  it("is edited only as it was expected", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "one");
    const change = { file_path: "file", old_string: "one", new_string: "two" };
    const sha = createHash("sha256").update("one").digest("hex");
    expect((await failure(bench.call("Edit", { ...change, expected_sha256: "0".repeat(64) }))).code).toBe(
      "CONFLICT",
    );
    await bench.call("Edit", { ...change, expected_sha256: sha.toUpperCase() });
    expect(readFileSync(bench.at("file"), "utf8")).toBe("two");
  });

  it("gets every one of many edits at the same time", async () => {
    const bench = await Workbench.open();
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await bench.put("file", names.join(" "));
    symlinkSync("file", bench.at("link"));
    const calls = names.map((name, index) =>
      bench.call("Edit", {
        file_path: index % 2 ? "file" : "link",
        old_string: name,
        new_string: `(${index})`,
      }),
    );
    await Promise.all(calls);
    expect(readFileSync(bench.at("file"), "utf8")).toBe(names.map((_, index) => `(${index})`).join(" "));
  });

  it("may hold very many blanks in a row: what a text differs in is found at the same time", async () => {
    const bench = await Workbench.open();
    await bench.put("blanks", `a${" ".repeat(500_000)}b\nc\t\n`);
    const absent = { file_path: "blanks", old_string: "not there", new_string: "x" };
    expect(await failure(bench.call("Edit", absent))).toMatchObject({ details: { reason: "not_found" } });
    const end = await failure(bench.call("Edit", { ...absent, old_string: "c  " }));
    expect(end).toMatchObject({ details: { line: 2 } });
  });

  it("is not edited at more places than are held at once, of all edits together", async () => {
    const bench = await Workbench.open();
    await bench.put("many", "ab\n".repeat(60_000));
    const edits = ["a", "b"].map((old_string) => ({ old_string, new_string: "c", replace_all: true }));
    const error = await failure(bench.call("Edit", { file_path: "many", edits }));
    expect(error).toMatchObject({ details: { reason: "too_many", limit: 100_000 } });
  });

  it("must be an ordinary text file of a size that can be edited", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("folder"));
    truncateSync(await bench.put("large", "x"), 16 * 1024 ** 2 + 1);
    await bench.put("program", Buffer.from("\x7fELF\0\0"));
    await bench.put("picture", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
    symlinkSync("/dev/zero", bench.at("zero"));
    const errorOf = (file_path: string) =>
      failure(bench.call("Edit", { file_path, old_string: "x", new_string: "y" }));
    expect((await errorOf("folder")).message).toContain("is a folder");
    expect(await errorOf("large")).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      details: { limit_bytes: 16 * 1024 ** 2 },
    });
    expect((await errorOf("program")).message).toContain("is not text (application/x-elf, 6 bytes)");
    expect((await errorOf("picture")).message).toContain("image/png");
    expect((await errorOf("zero")).message).toContain("a device");
    expect((await errorOf("folde")).message).toContain("Did you mean");
  });

  it("must be one that the grant and the system let be written", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("file", "x");
    mkdirSync(bench.at("open"));
    symlinkSync("../file", bench.at("open/link"));
    const policy = { allowed_paths: [bench.at("open")] };
    const change = { old_string: "x", new_string: "y" };
    for (const file_path of ["file", "open/link", "open/../file"]) {
      const error = await failure(bench.call("Edit", { file_path, ...change }, { policy }));
      expect(error.code).toBe("PERMISSION_DENIED");
    }
    chmodSync(file, 0o444);
    await asAnotherUser(bench, async () => {
      expect((await failure(bench.call("Edit", { file_path: file, ...change }))).code).toBe(
        "PERMISSION_DENIED",
      );
    });
    expect(readFileSync(file, "utf8")).toBe("x");
  });

  it("is untouched when the call was cancelled", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("file", "old");
    const signal = AbortSignal.abort(new Error("cancelled"));
    const call = bench.call("Edit", { file_path: "file", old_string: "old", new_string: "new" }, { signal });
    await expect(call).rejects.toThrow("cancelled");
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(bench.home)).toEqual(["file"]);
  });
});

describe("a program that swaps a folder for a link all the time", () => {
  it("never gets a file from outside edited, patched, deleted or made", async () => {
    const bench = await Workbench.open();
    for (const folder of ["open/sub", "shut"]) mkdirSync(bench.at(folder), { recursive: true });
    await bench.put("open/sub/file", "text 0");
    await bench.put("shut/file", "text 0");
    const policy = { allowed_paths: [bench.at("open")] };
    const swap = `
      const fs = require("node:fs");
      process.chdir(${JSON.stringify(bench.home)});
      fs.symlinkSync("../shut", "open/link");
      process.stdout.write("ready");
      // A patch makes the folder that it lacks for a moment; that one goes.
      const take = (from) => {
        for (;;) {
          try { return fs.renameSync(from, "open/sub"); } catch {}
          try { fs.rmSync("open/sub", { recursive: true, force: true }); } catch {}
        }
      };
      for (;;) {
        fs.renameSync("open/sub", "open/kept"); take("open/link");
        fs.renameSync("open/sub", "open/link"); take("open/kept");
      }`;
    const racer = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
    await once(racer.stdout, "data");
    try {
      const done = { edits: 0, patches: 0, refused: 0 };
      const attempt = async (kind: "edits" | "patches", tool: string, input: Record<string, unknown>) => {
        try {
          await bench.call(tool, input, { policy });
          done[kind]++;
        } catch (error) {
          if (!(error instanceof Error && "code" in error)) throw error;
          done.refused++;
        }
      };
      const until = performance.now() + 2000;
      while (performance.now() < until) {
        const change = { old_string: `text ${done.edits}`, new_string: `text ${done.edits + 1}` };
        await attempt("edits", "Edit", { file_path: "open/sub/file", ...change });
        const add = "*** Begin Patch\n*** Add File: open/sub/new\n+x\n*** End Patch";
        await attempt("patches", "ApplyPatch", { patch: add });
        const gone = "*** Begin Patch\n*** Delete File: open/sub/new\n*** End Patch";
        await attempt("patches", "ApplyPatch", { patch: gone });
      }
      expect(done.edits).toBeGreaterThan(0);
      expect(done.patches).toBeGreaterThan(0);
      expect(done.refused).toBeGreaterThan(0);
      expect(racer.exitCode).toBeNull();
    } finally {
      racer.kill("SIGKILL");
      if (racer.exitCode === null && racer.signalCode === null) await once(racer, "exit");
    }
    expect(readFileSync(bench.at("shut/file"), "utf8")).toBe("text 0");
    expect(readdirSync(bench.at("shut"))).toEqual(["file"]);
  });
});
