import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { MatrxError } from "@matrx/shared/errors.ts";
import { describe, expect, it } from "vitest";
import { ENGINES, linesOf, searcher } from "../search/searching.ts";
import { failure, Workbench } from "./workbench.ts";

describe.each(ENGINES)("finding files with %s", (_name, engines) => {
  async function opened(...names: string[]) {
    const bench = await Workbench.open();
    for (const [index, name] of names.entries()) {
      await bench.put(name, "");
      // The first is the newest.
      utimesSync(bench.at(name), 2_000_000_000 - index, 2_000_000_000 - index);
    }
    const { glob } = searcher(bench, engines);
    const found = async (pattern: string, input: Record<string, unknown> = {}) =>
      linesOf(await glob({ pattern, ...input }));
    return { bench, glob, found };
  }

  it("shows as many long paths as an answer has room for, and says so", async () => {
    const bench = await Workbench.open();
    const folder = Array.from({ length: 12 }, () => "f".repeat(250)).join("/");
    await bench.put(`${folder}/0.ts`, "");
    for (let n = 1; n < 900; n++) writeFileSync(bench.at(folder, `${n}.ts`), "");
    const { glob } = searcher(bench, engines);
    const { output, metadata } = await glob({ pattern: "*.ts", limit: 900 });
    expect(output).toMatch(/\[These are the newest \d+; there is no room for more\./);
    expect(metadata).toMatchObject({ truncated: true, stopped_by: "output" });
    expect(output.length).toBeGreaterThan(1024 * 1024);
    const usual = await glob({ pattern: "*.ts" });
    expect(usual.output.length).toBeLessThan(25_200);
    expect(usual.output.length).toBeGreaterThan(20_000);
    expect(usual.metadata).toMatchObject({ truncated: true, stopped_by: "output" });
    const named = await bench.call("search_files", { query: ".ts", limit: 5000 });
    expect(named.metadata).toMatchObject({ truncated: true, stopped_by: "output" });
    expect(named.output.length).toBeLessThan(3 * 1024 * 1024);
  });

  it("gives paths relative to the directory, newest first, with facts for programs", async () => {
    const { bench, glob } = await opened("b.ts", "sub/c.ts", "a.ts", "d.js");
    const { output, metadata } = await glob({ pattern: "**/*.ts" });
    expect(output.split("\n")).toEqual(["b.ts", "sub/c.ts", "a.ts"]);
    expect(metadata).toMatchObject({ path: bench.home, truncated: false });
    expect(metadata?.files).toContainEqual({
      path: bench.at("b.ts"),
      size: 0,
      mtime: "2033-05-18T03:33:20.000Z",
    });
  });

  it("knows *, ?, **, braces and classes; a pattern without / matches in any folder", async () => {
    const { bench, found } = await opened(
      "a.ts",
      "src/b.ts",
      "src/deep/c.tsx",
      "src/d.js",
      "ü.md",
      "[id].ts",
    );
    expect(await found("*.ts")).toEqual(["a.ts", "src/b.ts", "[id].ts"]);
    expect(await found("./*.ts")).toEqual(["a.ts", "[id].ts"]);
    expect(await found("src/*.ts")).toEqual(["src/b.ts"]);
    expect(await found("src/**")).toEqual(["src/b.ts", "src/deep/c.tsx", "src/d.js"]);
    expect(await found("**/*.{tsx,js}")).toEqual(["src/deep/c.tsx", "src/d.js"]);
    expect(await found("{src,none}/[a-b].ts")).toEqual(["src/b.ts"]);
    expect(await found("?.md")).toEqual(["ü.md"]);
    expect(await found("u\u0308.md")).toEqual(["ü.md"]);
    expect(await found("[id].ts")).toEqual(["[id].ts"]);
    expect(await found("\\[id\\].ts")).toEqual(["[id].ts"]);
    expect(await found("b.ts", { path: "src" })).toEqual(["b.ts"]);
    const above = [bench.at("a.ts"), bench.at("[id].ts")];
    expect(await found("../*.ts", { path: "src" })).toEqual(above);
    expect(await found(bench.at("src/*.js"))).toEqual(["d.js"]);
    expect(await found(bench.at("src/d.js"), { path: "none-at-all" })).toEqual(["d.js"]);
  });

  it("finds what is in a folder with brackets in its name, with wildcards around it", async () => {
    const { found } = await opened(
      "app/[slug]/page.tsx",
      "app/[...all]/[id]/page.tsx",
      "app/[[...opt]]/x.tsx",
      "app/{id}/y.tsx",
      "app/(group)/[slug].tsx",
    );
    expect(await found("app/[slug]/*.tsx")).toEqual(["app/[slug]/page.tsx"]);
    expect(await found("app/[...all]/**/*.{ts,tsx}")).toEqual(["app/[...all]/[id]/page.tsx"]);
    expect(await found("**/[id]/*")).toEqual(["app/[...all]/[id]/page.tsx"]);
    expect(await found("app/[[...opt]]/*.tsx")).toEqual(["app/[[...opt]]/x.tsx"]);
    expect(await found("app/{id}/*")).toEqual(["app/{id}/y.tsx"]);
    expect(await found("app/(group)/[slug].*")).toEqual(["app/(group)/[slug].tsx"]);
    expect(await found("app/\\[slug\\]/*.tsx")).toEqual(["app/[slug]/page.tsx"]);
  });

  it("takes signs literally that only other globs know", async () => {
    const { found } = await opened("file(1).txt", "file1.txt", "c++.md", "a|b", "!x", "@(y)", "-z", "a b+");
    for (const name of ["file(1).txt", "c++.md", "a|b", "!x", "@(y)", "-z", "a b+"]) {
      expect(await found(name)).toEqual([name]);
    }
    expect(await found("c++.*")).toEqual(["c++.md"]);
    expect(await found("file(?).txt")).toEqual(["file(1).txt"]);
  });

  it("reads ~ as the home folder", async () => {
    const { glob } = await opened();
    const { output } = await glob({ pattern: "~/no-such-folder-of-a-test/*.txt" });
    expect(output).toBe(`[${path.join(homedir(), "no-such-folder-of-a-test")} does not exist]`);
  });

  it("leaves out dotfiles that are not named, ignored files, folders and links", async () => {
    const { bench, found, glob } = await opened(
      ".env",
      ".github/ci.yml",
      "x/.cache/y.yml",
      "a.log",
      "b.yml",
      "deps/c.yml",
      ".git/d.yml",
    );
    await bench.put(".gitignore", "*.log\n/deps\n");
    symlinkSync("b.yml", bench.at("link.yml"));
    symlinkSync("x", bench.at("linked"));
    mkdirSync(bench.at("folder.yml"));
    expect(await found("**/*.yml")).toEqual(["b.yml"]);
    expect(await found(".env*")).toEqual([".env"]);
    expect(await found(".github/**")).toEqual([".github/ci.yml"]);
    expect(await found("**/.git*/*.yml")).toEqual([".github/ci.yml"]);
    expect(await found("*.yml", { show_hidden: true })).toEqual([
      ".github/ci.yml",
      "x/.cache/y.yml",
      "b.yml",
    ]);
    expect(await found("*.{yml,log}", { include_ignored: true })).toEqual(["a.log", "b.yml", "deps/c.yml"]);
    expect(await found("deps/*")).toEqual(["deps/c.yml"]);
    expect(await found("b.yml,*.env")).toEqual(["b.yml"]);
    const said = async (pattern: string) => (await glob({ pattern })).output;
    expect(await said("*.none")).toBe("[No file matches. Links are not followed, such as linked]");
    expect(await said("./*.none")).toBe("[No file matches]");
    expect(await said("./link.*")).toBe("[No file matches. A link does, and links are not found: link.yml]");
    expect(await said("./lin*/*.yml")).toBe("[No file matches. Links are not followed, such as linked]");
    expect(await said("*.log")).toMatch(
      /^\[No file matches\. Found in what was left out: what .*include_ignored=true\)\]$/,
    );
    expect(await said("y.*")).toMatch(
      /^\[No file matches\. Found in what was left out: dotfiles \(show_hidden=true\)\]$/,
    );
  });

  it("keeps odd names on one line", async () => {
    const { bench, found } = await opened("two\nlines", "\u202ex", "caf\u00e9");
    execFileSync("bash", ["-c", "touch -d @1 $'caf\\xe9'"], { cwd: bench.home });
    expect(await found("*")).toEqual(['"two\\nlines"', '"\\u202ex"', "caf\u00e9", "caf\\xe9"]);
  });

  it("stops at the limit with the newest, and says how to go on", async () => {
    const { bench, glob } = await opened();
    for (let i = 0; i < 1200; i++) {
      writeFileSync(bench.at(`f${i}`), "");
      utimesSync(bench.at(`f${i}`), 1_000_000 + ((i * 7) % 1200), 1_000_000 + ((i * 7) % 1200));
    }
    const { output, metadata } = await glob({ pattern: "f*", limit: 3 });
    const newest = [1199, 1198, 1197].map((time) => `f${(time * 343) % 1200}`);
    expect(output.split("\n")).toEqual([
      ...newest,
      "[These are the newest 3; there are more. Narrow pattern or path, or raise limit]",
    ]);
    expect(metadata).toMatchObject({ truncated: true, stopped_by: "limit" });
    expect((await glob({ pattern: "f*" })).metadata?.files).toHaveLength(1000);
    expect((await glob({ pattern: "f*", limit: 1200 })).metadata).toMatchObject({ truncated: false });
  });

  it("says what is wrong with a path, and gives what it has when time runs out", async () => {
    const { bench, glob } = await opened("file", "a");
    expect((await failure(glob({ pattern: "*", path: "none" }))).code).toBe("NOT_FOUND");
    expect((await failure(glob({ pattern: "*", path: "file" }))).message).toContain("is a file");
    expect((await failure(glob({ pattern: "./" }))).code).toBe("INVALID_PARAMETERS");
    const timeout = new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" });
    const late = await glob({ pattern: "*" }, { signal: AbortSignal.abort(timeout) });
    expect(late.output).toMatch(/^\[Time ran out: /);
    expect(late.metadata).toMatchObject({ truncated: true, stopped_by: "time", path: bench.home });
  });
});
