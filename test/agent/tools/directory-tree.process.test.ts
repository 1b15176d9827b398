import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { MatrxError } from "@matrx/shared/errors.ts";
import { describe, expect, it } from "vitest";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

describe("a directory as a tree", () => {
  async function planted() {
    const bench = await Workbench.open();
    for (const name of ["src/a.ts", "src/lib/b.ts", "README.md", ".hidden", "build/out"])
      await bench.put(name, "xyz");
    await bench.put(".gitignore", "build/\n");
    symlinkSync("src", bench.at("link"));
    mkdirSync(bench.at("empty"));
    return bench;
  }

  it("is shown as indented lines", async () => {
    const bench = await planted();
    const { output, metadata } = await bench.call("DirectoryTree", {});
    expect(output.split("\n")).toEqual([
      `${bench.home}/`,
      "  README.md",
      "  empty/",
      "  link -> src",
      "  src/",
      "    a.ts",
      "    lib/",
      "      b.ts",
    ]);
    expect(metadata).toMatchObject({ path: bench.home, entries: 7, truncated: false });
    const all = await bench.call("DirectoryTree", { show_hidden: true, include_ignored: true });
    for (const name of [".hidden", ".gitignore", "build/", "  out"])
      expect(all.output).toContain(`\n  ${name}`);
  });

  it("is given as JSON that can be parsed", async () => {
    const bench = await planted();
    const { output } = await bench.call("DirectoryTree", { format: "json", path: "src" });
    expect(JSON.parse(output)).toEqual({
      name: bench.at("src"),
      type: "directory",
      truncated: false,
      children: [
        { name: "a.ts", type: "file", size: 3 },
        { name: "lib", type: "directory", children: [{ name: "b.ts", type: "file", size: 3 }] },
      ],
    });
  });

  it("is cut at depth and at max_entries, upper levels first, and says so", async () => {
    const bench = await planted();
    const flat = await bench.call("DirectoryTree", { depth: 1 });
    expect(flat.output).toContain("\n  src/ …");
    expect(flat.metadata).toMatchObject({ truncated: false });
    for (let i = 0; i < 50; i++) await bench.put(`many/${String(i).padStart(2, "0")}`, "");
    const cut = await bench.call("DirectoryTree", { max_entries: 10 });
    expect(cut.output).toContain("\n  src/ …\n");
    expect(cut.output).toContain("\n  many/\n    00\n");
    expect(cut.output).toContain("\n    … 45 more\n");
    expect(cut.output).toMatch(
      /\n\[Cut at 10 entries\. To see more, give the path .* or raise max_entries\]$/,
    );
    const whole = await bench.call("DirectoryTree", { path: "src", max_entries: 3 });
    expect(whole.metadata).toMatchObject({ entries: 3, truncated: false });
    expect(cut.metadata).toMatchObject({ entries: 10, truncated: true, stopped_by: "max_entries" });
    const json = await bench.call("DirectoryTree", { max_entries: 10, format: "json" });
    expect(JSON.parse(json.output)).toMatchObject({
      truncated: true,
      note: expect.stringContaining("Cut at 10"),
    });
  });

  it("shows 200 entries unless told otherwise", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 201; i++) await bench.put(String(i), "");
    expect((await bench.call("DirectoryTree", {})).metadata).toMatchObject({ entries: 200, truncated: true });
    const all = await bench.call("DirectoryTree", { max_entries: 201 });
    expect(all.metadata).toMatchObject({ entries: 201, truncated: false });
  });

  it("shows what could not be read as such", async () => {
    const bench = await planted();
    mkdirSync(bench.at("locked"));
    chmodSync(bench.at("locked"), 0o000);
    await asAnotherUser(bench, async () => {
      expect((await bench.call("DirectoryTree", {})).output).toContain("\n  locked/ [permission denied]");
    });
    chmodSync(bench.at("locked"), 0o755);
  });

  it("keeps odd names on one line each", async () => {
    const bench = await Workbench.open();
    await bench.put("two\nlines/\u202ex", "");
    execFileSync("bash", ["-c", "touch $'caf\\xe9'"], { cwd: bench.home });
    expect((await bench.call("DirectoryTree", {})).output.split("\n").slice(1)).toEqual([
      "  caf\\xe9",
      '  "two\\nlines"/',
      '    "\\u202ex"',
    ]);
  });

  it("says that it is empty, no directory, not there, or that time ran out", async () => {
    const bench = await planted();
    expect((await bench.call("DirectoryTree", { path: "empty" })).output).toContain(
      "[The directory is empty",
    );
    expect((await failure(bench.call("DirectoryTree", { path: "README.md" }))).message).toContain(
      "is not a directory",
    );
    expect((await failure(bench.call("DirectoryTree", { path: "none" }))).code).toBe("NOT_FOUND");
    const timeout = new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" });
    const late = await bench.call("DirectoryTree", {}, { signal: AbortSignal.abort(timeout) });
    expect(late.output).toContain("[Time ran out after 0 entries.");
  });
});
