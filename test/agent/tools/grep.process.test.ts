import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { MatrxError } from "@matrx/shared/errors.ts";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { ENGINES, linesOf, ripgrepForAll, searcher } from "../search/searching.ts";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

describe.each(ENGINES)("searching lines with %s", (engine, engines) => {
  async function opened() {
    const bench = await Workbench.open();
    return { bench, ...searcher(bench, engines) };
  }

  it("gives file:line:content, sorted by path, and facts for programs", async () => {
    const { bench, grep } = await opened();
    await bench.put("src/b.ts", "one\nconst needle = 1;\n");
    await bench.put("src/a.ts", "needle\r\n\r\n  a needle too\r\n");
    await bench.put("a.txt", "no\n");
    const result = await grep({ pattern: "needle" });
    expect(result.output.split("\n")).toEqual([
      "src/a.ts:1:needle",
      "src/a.ts:3:  a needle too",
      "src/b.ts:2:const needle = 1;",
    ]);
    expect(result.metadata).toMatchObject({ path: bench.home, files: 2, truncated: false, engine });
    expect(result.metadata?.matches).toContainEqual({ path: bench.at("src/b.ts"), line: 2, column: 7 });
    const read = await bench.call("Read", { file_path: bench.at("src/a.ts"), offset: 3, limit: 1 });
    expect(read.output).toContain("a needle too");
  });

  it("takes a pattern as regex, as it stands, without case, and one with a dash in front", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", "a.b\naxb\nA.B\n--files\n");
    const found = async (input: Record<string, unknown>) => linesOf(await grep(input));
    expect(await found({ pattern: "a.b" })).toEqual(["f:1:a.b", "f:2:axb"]);
    expect(await found({ pattern: "a.b", literal: true })).toEqual(["f:1:a.b"]);
    expect(await found({ pattern: "a.b", literal: true, case_insensitive: true })).toEqual([
      "f:1:a.b",
      "f:3:A.B",
    ]);
    expect(await found({ pattern: "--files" })).toEqual(["f:4:--files"]);
    expect(await found({ pattern: "(?<=a)x" })).toEqual(["f:2:axb"]);
    expect(await found({ pattern: "^$" })).toEqual([]);
    await bench.put("cr", "old\rnew\n");
    expect(await found({ pattern: "^new$|d$", include: "cr" })).toEqual(["cr:1:old\rnew"]);
    await bench.put("end", "no line's end");
    const { metadata } = await grep({ pattern: "$", include: "end" });
    expect(metadata?.matches).toEqual([{ path: bench.at("end"), line: 1, column: 14 }]);
    await bench.put("g", "end;\r\n\r\nend; \r\n");
    expect(await found({ pattern: ";$" })).toEqual(["g:1:end;"]);
    expect(await found({ pattern: "^$" })).toEqual(["g:2:"]);
  });

  it("searches one file, or those that include names, in any folder or in one", async () => {
    const { bench, grep } = await opened();
    for (const name of ["a.ts", "deep/b.ts", "deep/c.js", "deep/er/d.ts"]) await bench.put(name, "x\n");
    const found = async (input: Record<string, unknown>) => linesOf(await grep({ pattern: "x", ...input }));
    expect(await found({ path: "deep/c.js" })).toEqual(["c.js:1:x"]);
    expect(await found({ include: "*.ts" })).toEqual(["a.ts:1:x", "deep/b.ts:1:x", "deep/er/d.ts:1:x"]);
    expect(await found({ include: "./*.ts" })).toEqual(["a.ts:1:x"]);
    expect(await found({ include: "deep/*.{ts,js}" })).toEqual(["deep/b.ts:1:x", "deep/c.js:1:x"]);
    expect(await found({ include: "deep/**" })).toHaveLength(3);
    expect(await found({ include: "*.js,a.*" })).toEqual(["a.ts:1:x", "deep/c.js:1:x"]);
    expect(await found({ include: "deep/er/*, ./a.ts" })).toEqual(["a.ts:1:x", "deep/er/d.ts:1:x"]);
  });

  it.each(["\\Aend", "a\\z", "(?:x|\\Z)", "\\\\\\Ga"])(
    "refuses a place of the whole file: %s",
    async (pattern) => {
      const { bench, grep } = await opened();
      await bench.put("f", "a\nb\nend\n");
      const error = await failure(grep({ pattern }));
      expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pattern" } });
      expect(error.hint).toContain("^");
    },
  );

  it("takes a backslash before such a letter for itself, and all of it as it stands with literal", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", "C:\\A\n\\z\n");
    expect(linesOf(await grep({ pattern: "C:\\\\A" }))).toEqual(["f:1:C:\\A"]);
    expect(linesOf(await grep({ pattern: "\\z", literal: true }))).toEqual(["f:2:\\z"]);
  });

  it("waits for no pipe that is named .gitignore: in the folder, below it, above it, at the end of a link", async () => {
    const { bench, grep, glob } = await opened();
    mkdirSync(bench.at("repo/.git"), { recursive: true });
    for (const name of ["a", "sub/b", "sub/deep/c", "link/d"]) await bench.put(`repo/${name}`, "needle\n");
    const fifo = (name: string) => execFileSync("mkfifo", [bench.at(name)]);
    for (const name of ["repo/.gitignore", "repo/sub/.gitignore", "repo/sub/deep/pipe", "pipe"]) fifo(name);
    symlinkSync("../../pipe", bench.at("repo/link/.gitignore"));
    const all = ["a", "link/d", "sub/b", "sub/deep/c"];
    const found = await grep({ pattern: "needle", path: "repo" });
    expect(linesOf(found)).toEqual(all.map((name) => `${name}:1:needle`));
    expect(found.metadata?.truncated).toBe(false);
    const below = await grep({ pattern: "needle", path: "repo/sub/deep" });
    expect(linesOf(below)).toEqual(["c:1:needle"]);
    const { output } = await glob({ pattern: "*", path: "repo" });
    expect(
      output
        .split("\n")
        .filter((line) => !line.startsWith("["))
        .sort(),
    ).toEqual(all);
    const tree = await bench.call("DirectoryTree", { path: "repo" });
    expect(tree.output).toContain("deep/");
  });

  it("says in one line what is wrong with a pattern", async () => {
    const { grep } = await opened();
    for (const pattern of ["(foo", "[a", "a{2,1}", "*", "(?<n>a)\\k<m>", "(?P<x", "a\\"]) {
      const error = await failure(grep({ pattern }));
      expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pattern" } });
      expect(error.message).toMatch(/^pattern: [^\n~]{10,200}$/);
    }
  });

  it("searches the files of a type, and of an extension that one has", async () => {
    const { bench, grep } = await opened();
    for (const name of ["a.ts", "b.tsx", "c.js", "d.py", "sub/e.ts", ".f.ts", "Makefile", "g.mk"])
      await bench.put(name, "x\n");
    const found = async (input: Record<string, unknown>) =>
      linesOf(await grep({ pattern: "x", output: "files", ...input }));
    expect(await found({ type: "ts" })).toEqual(["a.ts", "b.tsx", "sub/e.ts"]);
    expect(await found({ type: "tsx" })).toEqual(["b.tsx"]);
    expect(await found({ type: ".py" })).toEqual(["d.py"]);
    expect(await found({ type: "make" })).toEqual(["Makefile", "g.mk"]);
    expect(await found({ type: "ts", include: "sub/**" })).toEqual(["sub/e.ts"]);
    expect(await found({ type: "ts", show_hidden: true })).toContain(".f.ts");
    const error = await failure(grep({ pattern: "x", type: "typescrip" }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { did_you_mean: "typescript" } });
    for (const type of ["constructor", "*", "toString"])
      expect((await failure(grep({ pattern: "x", type }))).code).toBe("INVALID_PARAMETERS");
  });

  it("gives only files, or how many lines match in each, and stops at max_results of them", async () => {
    const { bench, grep } = await opened();
    await bench.put("a", "x\nx\nno\nx");
    await bench.put("b/c", "no\nx\n");
    await bench.put("d", "no\n");
    await bench.put("[e]", "x\n");
    const files = await grep({ pattern: "x", output: "files" });
    expect(files.output).toBe('"[e]"\na\nb/c');
    const { matching_files: paths } = files.metadata ?? {};
    expect(paths).toEqual(["[e]", "a", "b/c"].map((name) => ({ path: bench.at(name) })));
    expect(files.metadata).toMatchObject({ files: 3, truncated: false, engine });
    const count = await grep({ pattern: "x", output: "count", context: 3 });
    expect(count.output).toBe('"[e]":1\na:3\nb/c:1\n[5 matching lines in 3 files]');
    expect(count.metadata?.matching_files).toContainEqual({ path: bench.at("a"), lines: 3 });
    expect((await grep({ pattern: "y", output: "count" })).output).toMatch(/^\[No line matches/);
    for (const output of ["files", "count"]) {
      const all: string[] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page = await grep({ pattern: "x", output, max_results: 2, after });
        expect(linesOf(page).length).toBeLessThanOrEqual(2);
        all.push(...linesOf(page));
        after = page.metadata?.next_after as string | undefined;
      }
      expect(all).toHaveLength(3);
      const one = await grep({ pattern: "x", output, max_results: 1 });
      expect(one.metadata).toMatchObject({ files: 1, truncated: true, stopped_by: "max_results" });
      expect(one.output).toContain("Stopped at 1 file; there may be more");
      expect((await grep({ pattern: "x", output, max_results: 3 })).metadata).toMatchObject({
        truncated: false,
      });
    }
  });

  it("lets a pattern go over ends of lines, and shows each line that it touches", async () => {
    const { bench, grep } = await opened();
    await bench.put("f.ts", "call({\n  a: 1,\n});\ncall({ a: 2 });\nend\n");
    await bench.put("g.ts", "call({\r\n  a: 3 });\r\n");
    const found = async (input: Record<string, unknown>) =>
      linesOf(await grep({ multiline: true, ...input }));
    expect(await found({ pattern: "call\\(\\{\\s+a: \\d", include: "f.ts" })).toEqual([
      ...["f.ts:1:call({", "f.ts:2:  a: 1,", "f.ts:4:call({ a: 2 });"],
    ]);
    expect(await found({ pattern: "\\{.*?\\}", include: "g.ts" })).toEqual([
      "g.ts:1:call({",
      "g.ts:2:  a: 3 });",
    ]);
    expect(await found({ pattern: "1,\n}", literal: true })).toEqual(["f.ts:2:  a: 1,", "f.ts:3:});"]);
    expect(await found({ pattern: "^end$", context: 1 })).toEqual(["f.ts-4-call({ a: 2 });", "f.ts:5:end"]);
    expect(await found({ pattern: "\\Acall", output: "count" })).toEqual(["f.ts:1", "g.ts:1"]);
    const { metadata } = await grep({ pattern: "1,\\n", multiline: true });
    expect(metadata?.matches).toEqual([{ path: bench.at("f.ts"), line: 2 }]);
  });

  it("shows lines before and after as they are asked for, each by itself", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", "1\n2\nhit\n4\n5\nhit\n7\n");
    const found = async (input: Record<string, unknown>) => linesOf(await grep({ pattern: "hit", ...input }));
    expect(await found({ before_context: 1 })).toEqual(["f-2-2", "f:3:hit", "--", "f-5-5", "f:6:hit"]);
    expect(await found({ after_context: 1 })).toEqual(["f:3:hit", "f-4-4", "--", "f:6:hit", "f-7-7"]);
    expect(await found({ context: 1, after_context: 0 })).toEqual(await found({ before_context: 1 }));
    expect(await found({ after_context: 1, max_results: 1 })).toEqual(["f:3:hit", "f-4-4"]);
    expect(await found({ before_context: 2, max_results: 1 })).toEqual(["f-1-1", "f-2-2", "f:3:hit"]);
  });

  it("says what paths are relative to where it is not the working directory", async () => {
    const { bench, grep } = await opened();
    await bench.put("sub/f", "x\n");
    expect((await grep({ pattern: "x" })).output).toBe("sub/f:1:x");
    expect((await grep({ pattern: "x", path: bench.home })).output).toBe("sub/f:1:x");
    const below = `f:1:x\n[Paths are relative to ${bench.at("sub")}]`;
    expect((await grep({ pattern: "x", path: "sub" })).output).toBe(below);
    expect((await grep({ pattern: "x", path: "sub/f" })).output).toBe("f:1:x");
    expect((await grep({ pattern: "y", path: "sub" })).output).not.toContain("relative");
    bench.session.cwd = bench.at("sub");
    expect((await grep({ pattern: "x" })).output).toBe("f:1:x");
    expect((await grep({ pattern: "x", path: ".." })).output).toContain(
      `sub/f:1:x\n[Paths are relative to ${bench.home}]`,
    );
  });

  it("shows context as file-line-content, with -- between groups", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n");
    const all = await grep({ pattern: "hit", context: 1 });
    expect(linesOf(all)).toEqual(["f-2-2", "f:3:hit", "f-4-4", "--", "f-7-7", "f:8:hit", "f-9-9"]);
    const one = await grep({ pattern: "hit", context: 1, max_results: 1 });
    expect(linesOf(one)).toEqual(["f-2-2", "f:3:hit", "f-4-4"]);
    expect(one.metadata).toMatchObject({ truncated: true, stopped_by: "max_results" });
  });

  it("leaves out dotfiles, binary files, what .gitignore names, and links, and says so when nothing is left", async () => {
    const { bench, grep } = await opened();
    mkdirSync(bench.at("repo/.git"), { recursive: true });
    await bench.put("repo/.gitignore", "build/\n*.log\n!keep.log\n");
    for (const name of [".hidden", "build/x", "sub/build/y", "a.log", "keep.log", "sub/z", ".git/config"]) {
      await bench.put(`repo/${name}`, "needle\n");
    }
    await bench.put("repo/sub/.gitignore", "z\n");
    await bench.put("repo/binary", Buffer.from("needle\n\0\n"));
    await bench.put("outside", "needle\n");
    symlinkSync("../outside", bench.at("repo/link"));
    const found = async (input: Record<string, unknown>) =>
      linesOf(await grep({ pattern: "needle", path: "repo", ...input }));
    expect(await found({})).toEqual(["keep.log:1:needle"]);
    expect(await found({ show_hidden: true })).toEqual([".hidden:1:needle", "keep.log:1:needle"]);
    expect(await found({ include: ".h*" })).toEqual([".hidden:1:needle"]);
    const ignored = ["a.log", "build/x", "keep.log", "sub/build/y", "sub/z"];
    expect(await found({ include_ignored: true })).toEqual(ignored.map((name) => `${name}:1:needle`));
    expect(await found({ include_ignored: true, show_hidden: true })).toContain(".git/config:1:needle");
    // A folder that is named is searched, though the repository ignores it; in others its rules hold.
    expect(await found({ path: "repo/build" })).toEqual(["x:1:needle"]);
    await bench.put("repo/sub/c.log", "needle\n");
    const inSub = await grep({ pattern: "needle", path: "repo/sub" });
    expect(inSub.output).toBe(
      "[No line matches. Found in what was left out: what .gitignore excludes (include_ignored=true)]",
    );
    const said = async (input: Record<string, unknown>) => (await grep(input)).output;
    await bench.put("repo/.env", "SECRET_NAME=1\n");
    await bench.put("repo/.git/config", "only in git\n");
    expect(await said({ pattern: "SECRET_NAME", path: "repo" })).toBe(
      "[No line matches. Found in what was left out: dotfiles (show_hidden=true)]",
    );
    expect(await said({ pattern: "SECRET_NAME", path: "repo", include: "*.txt,*.env" })).toContain(
      "dotfiles",
    );
    expect(await said({ pattern: "SECRET_NAME", path: "repo", include: "*.txt" })).toBe("[No line matches]");
    expect(await said({ pattern: "only in git", path: "repo" })).toBe("[No line matches]");
    expect(await said({ pattern: "nowhere at all", path: "repo" })).toBe("[No line matches]");
    expect(await said({ pattern: "nowhere at all", path: "repo/keep.log" })).toBe("[No line matches]");
    const all = { show_hidden: true, include_ignored: true };
    expect(await said({ pattern: "nowhere at all", path: "repo", ...all })).toBe("[No line matches]");
    expect(await said({ pattern: "needle", path: "repo", after: "zzz:1" })).toBe("[No line matches]");
  });

  it("does not tell of what is closed to all tools, though it was left out", async () => {
    const { bench, grep } = await opened();
    await bench.put("../state/.secret", "needle\n");
    await bench.put("f", "x\n");
    const around = bench.at("..");
    expect((await grep({ pattern: "needle", path: around })).output).toBe("[No line matches]");
    await bench.put(".secret", "needle\n");
    expect((await grep({ pattern: "needle", path: around })).output).toContain("dotfiles");
  });

  it("says what a pattern that found nothing cannot find", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", Buffer.from("caf\xe9\nnoir\n", "latin1"));
    const said = async (pattern: string) => (await grep({ pattern })).output;
    expect(await said("café")).toContain("Non-ASCII text is found only in UTF-8 and UTF-16");
    expect(await said("\\w+\\nnoir")).toContain("with multiline=true");
    expect(await said("rouge")).not.toMatch(/ASCII|line break/);
    const error = await failure(grep({ pattern: "caf\nnoir", literal: true }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pattern" } });
    expect(error.message).toContain("each line is searched by itself");
  });

  it("shows lines decoded as Read does, and cuts long ones around the match", async () => {
    const { bench, grep } = await opened();
    await bench.put("latin", Buffer.from("gr\xfcn needle\n", "latin1"));
    await bench.put("mark", "\ufefffirst needle\nsecond needle zwölf\n");
    await bench.put("utf16", Buffer.from("\ufeffone\nneedle zwölf 🎉\n", "utf16le"));
    await bench.put("utf16be", Buffer.from("\ufeffneedle ü\n", "utf16le").swap16());
    await bench.put("wide", `${"ä".repeat(3000)}needle${"y".repeat(3000)}\nneedle at the end`);
    const { output } = await grep({ pattern: "needle" });
    const lines = linesOf({ output });
    expect(lines.slice(0, 5)).toEqual([
      "latin:1:grün needle",
      "mark:1:first needle",
      "mark:2:second needle zwölf",
      "utf16:2:needle zwölf 🎉",
      "utf16be:1:needle ü",
    ]);
    expect(lines[5]).toMatch(/^wide:1:…ä+needley+… \[cut: the line has 9006 bytes, shown from byte \d+\]$/);
    expect(lines[5]?.length).toBeLessThan(600);
    expect(lines[6]).toBe("wide:2:needle at the end");
  });

  it("keeps odd names on one line, each unlike the others, and they can be read", async () => {
    const { bench, grep } = await opened();
    const names = [
      "two\nlines",
      "-dash",
      "\u202egnp.exe",
      "caf\u00e9",
      "cafe\u0301",
      "a:1:b",
      "[note] of ours]",
      '"quoted"',
      "caf\\xe9",
    ];
    for (const name of names) writeFileSync(bench.at(name), "needle\n");
    execFileSync("bash", ["-c", "echo needle > $'caf\\xe9'"], { cwd: bench.home });
    const result = await grep({ pattern: "needle" });
    const lines = result.output.split("\n").map((line) => line.replace(/:1:needle$/, ""));
    expect(lines.toSorted()).toEqual(
      [
        '"two\\nlines"',
        "-dash",
        '"\\u202egnp.exe"',
        "caf\u00e9",
        "cafe\u0301",
        '"a:1:b"',
        '"[note] of ours]"',
        JSON.stringify('"quoted"'),
        JSON.stringify("caf\\xe9"),
        "caf\\xe9",
      ].toSorted(),
    );
    for (const line of lines) {
      if (line === "caf\\xe9") continue;
      const file_path = line.startsWith('"') ? (JSON.parse(line) as string) : line;
      expect((await bench.call("Read", { file_path })).output).toContain("needle");
    }
  });

  it("counts folders whose names are no UTF-8, as nothing can be addressed in them", async () => {
    const { bench, grep } = await opened();
    execFileSync("bash", ["-c", "mkdir $'d\\xff' && echo needle | tee $'d\\xff/a' $'d\\xff/b' f"], {
      cwd: bench.home,
    });
    const { output, metadata } = await grep({ pattern: "needle" });
    expect(output).toBe(`f:1:needle\n[1 file or folder could not be searched]`);
    expect(metadata).toMatchObject({ unreadable: 1, truncated: false });
  });

  it("has the first of very many matching lines without holding all of them", async () => {
    const { bench, grep } = await opened();
    await bench.put("many", "a\n".repeat(6_000_000));
    const { metadata } = await grep({ pattern: "a", max_results: 1500, context: 2 });
    expect(metadata?.matches).toHaveLength(1500);
    const later = await grep({ pattern: "a", max_results: 2, after: "many:2500" });
    expect(linesOf(later)).toEqual(["many:2501:a", "many:2502:a"]);
  });

  it("stops at max_results, says so, and gives all of them page by page in order of path", async () => {
    const { bench, grep } = await opened();
    const all: string[] = [];
    for (const name of ["-x", "a/1", "a/2", "a-b", "a.txt", "b%/ü", "z\ny"]) {
      await bench.put(name, "x\nno\nx\nx\n");
      for (const line of [1, 3, 4]) all.push(`${name}:${line}`);
    }
    const first = await grep({ pattern: "x", max_results: 5 });
    expect(first.metadata).toMatchObject({ truncated: true, stopped_by: "max_results" });
    expect(first.output).toMatch(/\n\[Stopped at 5 matching lines; there may be more\. .*after=""\]$/);
    const found: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const { output, metadata } = await grep({ pattern: "x", max_results: 4, after });
      for (const { path, line } of (metadata?.matches ?? []) as { path: string; line: number }[]) {
        found.push(`${path.slice(bench.home.length + 1)}:${line}`);
      }
      after = metadata?.next_after as string | undefined;
      if (after !== undefined) expect(output).toContain(`Continue with after=${JSON.stringify(after)}`);
    }
    expect(found).toEqual(all);
    expect((await failure(grep({ pattern: "x", after: "nonsense" }))).code).toBe("INVALID_PARAMETERS");
  });

  it("tells 25,000 characters unless more is asked for, in pages that join to the whole", async () => {
    const { bench, grep } = await opened();
    for (let file = 0; file < 9; file++) await bench.put(`${file}`, `${"x".repeat(490)}\n`.repeat(11));
    const usual = await grep({ pattern: "x" });
    expect(usual.metadata).toMatchObject({ truncated: true, stopped_by: "output" });
    expect(usual.output.length).toBeLessThan(25_300);
    expect(usual.output.length).toBeGreaterThan(24_000);
    expect((await grep({ pattern: "x", max_results: 100 })).metadata).toMatchObject({ truncated: false });
    const found: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page = await grep({ pattern: "x", after });
      found.push(...linesOf(page));
      after = page.metadata?.next_after as string | undefined;
    }
    expect(found).toHaveLength(99);
    expect(new Set(found).size).toBe(99);
  });

  it("says why a pattern, a path or an include is refused", async () => {
    const { bench, grep } = await opened();
    await bench.put("f", "x\n");
    const bad = await failure(grep({ pattern: "(unclosed" }));
    expect(bad.code).toBe("INVALID_PARAMETERS");
    expect(bad.message).toMatch(/missing closing parenthesis|Unterminated group/);
    expect(bad.message, "no place beyond the pattern's end").not.toContain("at byte");
    expect((await failure(grep({ pattern: "x", path: "none" }))).code).toBe("NOT_FOUND");
    expect((await failure(grep({ pattern: "x", include: "a".repeat(2000) }))).code).toBe(
      "INVALID_PARAMETERS",
    );
    expect((await failure(grep({ pattern: "x", path: "/dev/null" }))).message).toContain("is a device");
  });

  it("gives what it found when time runs out, and ends at once when it is cancelled", async () => {
    const { bench, grep } = await opened();
    await bench.put("a", "(x+x+)+y\nxx\n");
    // Without ripgrep this line takes longer than anybody waits; ripgrep waits for rules that nobody writes.
    await bench.put("b", `${"x".repeat(5000)}\n`);
    mkdirSync(bench.at("c"));
    execFileSync("mkfifo", [bench.at("c/.gitignore")]);
    const timeout = new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" });
    const stop = new AbortController();
    setTimeout(() => stop.abort(timeout), 700);
    const partial = await grep({ pattern: "^(?:(?:x|xx)+)+(?=y)|\\(x" }, { signal: stop.signal });
    expect(partial.output).toContain("a:1:(x+x+)+y");
    expect(partial.output).toContain("[Time ran out with 1 matching line found");
    expect(partial.metadata).toMatchObject({ truncated: true, stopped_by: "time" });
    const cancel = new AbortController();
    const cancelled = new MatrxError({ code: "CANCELLED", message: "no more", hop: "agent" });
    cancel.abort(cancelled);
    expect(await failure(grep({ pattern: "x" }, { signal: cancel.signal }))).toBe(cancelled);
  });
});

describe("searching lines", () => {
  it("does not open another program's pipe that a link called .gitignore leads to, and ends there", async () => {
    const bench = await Workbench.open();
    const { grep, glob } = searcher(bench, await ripgrepForAll(bench));
    const pipe = path.join(temporaryFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      symlinkSync(pipe, bench.at(".gitignore"));
      await bench.put("a", "needle");
      const policy = { allowed_paths: [bench.home] };
      const { output, metadata } = await grep({ pattern: "needle" }, { policy });
      expect(output).toContain("[A named pipe kept the search waiting, with 0 matching lines found");
      expect(metadata).toMatchObject({ truncated: true, stopped_by: "pipe" });
      const newest = await glob({ pattern: "*" }, { policy });
      expect(newest.output).toContain("[A named pipe kept the search waiting: these are the newest 0");
      // Throws if it was given an end, and is gone.
      const end = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
      writeFileSync(end, "for cat");
      closeSync(end);
      expect(await text(reader.stdout)).toBe("for cat");
    } finally {
      reader.kill("SIGKILL");
    }
  });

  it("names what could not be read by number", async () => {
    const bench = await Workbench.open();
    await bench.put("open", "needle\n");
    await bench.put("shut", "needle\n");
    mkdirSync(bench.at("closed"), { mode: 0o000 });
    execFileSync("chmod", ["000", bench.at("shut")]);
    const { grep } = searcher(bench, await ripgrepForAll(bench));
    await asAnotherUser(bench, async () => {
      const { output, metadata } = await grep({ pattern: "needle" });
      expect(output.split("\n")[0]).toBe("open:1:needle");
      expect(output).toContain("[2 files or folders could not be searched]");
      expect(metadata).toMatchObject({ unreadable: 2, truncated: false });
    });
    execFileSync("chmod", ["755", bench.at("closed")]);
  });

  it("takes no trouble with a file for one with the pattern, whatever its name and however many they are", async () => {
    const bench = await Workbench.open();
    await bench.put("open", "needle\n");
    const long = "x".repeat(200);
    for (let number = 0; number < 1500; number++)
      chmodSync(await bench.put(`${long}${number}`, "needle\n"), 0);
    chmodSync(await bench.put("two\nlines", "needle\n"), 0);
    const { grep } = searcher(bench, await ripgrepForAll(bench));
    await asAnotherUser(bench, async () => {
      const { output, metadata } = await grep({ pattern: "needle" });
      expect(output.split("\n")[0]).toBe("open:1:needle");
      expect(metadata?.unreadable).toBeGreaterThan(1000);
    });
  });

  it("keeps every line of the other files where one has a NUL, and says that this one was not searched whole", async () => {
    const bench = await Workbench.open();
    const { grep } = searcher(bench, ENGINES[0][1]);
    await bench.put("a.log", `needle one\n${"x\n".repeat(100_000)}\0\nneedle two\n`);
    await bench.put("b.log", "needle three\nneedle four\n");
    await bench.put("c", "needle five\n\0");
    await bench.put("d.log", "needle six\n");
    const found = await grep({ pattern: "needle", after: "" });
    expect(found.output.split("\n")).toEqual([
      "a.log:1:needle one",
      "b.log:1:needle three",
      "b.log:2:needle four",
      "d.log:1:needle six",
      "[1 file with a NUL byte searched only up to it: give one as path to search all of it]",
    ]);
    const named = await grep({ pattern: "needle", path: "a.log" });
    expect(linesOf(named)).toEqual(["a.log:1:needle one", "a.log:100003:needle two"]);
  });

  it("leaves no ripgrep behind when it has enough, or is cancelled", async () => {
    const bench = await Workbench.open();
    const { grep } = searcher(bench, ENGINES[0][1]);
    await bench.put("long", "needle\n".repeat(2_000_000));
    await grep({ pattern: "needle", max_results: 3 });
    expect(processesIn(bench.home)).toEqual([]);
    const cancel = new AbortController();
    const reason = new MatrxError({ code: "CANCELLED", message: "no more", hop: "agent" });
    const search = failure(grep({ pattern: "never there" }, { signal: cancel.signal }));
    setTimeout(() => cancel.abort(reason), 5);
    const outcome = await search.catch(() => "finished before");
    expect([reason, "finished before"]).toContain(outcome);
    expect(processesIn(bench.home)).toEqual([]);
  });
});

/** Numbers of the processes that work in a folder. */
function processesIn(folder: string): number[] {
  const worksThere = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && worksThere(pid))
    .map(Number);
}
