import { mkdirSync, symlinkSync } from "node:fs";
import { MatrxError } from "@matrx/shared/errors.ts";
import { describe, expect, it } from "vitest";
import { failure, Workbench } from "./workbench.ts";

describe("finding files by name", () => {
  it("puts the very name first, then what begins with it, then what holds it, without regard to case", async () => {
    const bench = await Workbench.open();
    for (const name of [
      "old-report.txt",
      "sub/deep/Report",
      "report.txt",
      "sub/REPORT.md",
      "other",
      ".report",
    ]) {
      await bench.put(name, "four");
    }
    mkdirSync(bench.at("reports"));
    symlinkSync("other", bench.at("report-link"));
    const { output, metadata } = await bench.call("search_files", { query: "report" });
    expect(output.split("\n")).toEqual([
      bench.at("sub/deep/Report"),
      bench.at("report-link"),
      bench.at("report.txt"),
      `${bench.at("reports")}/`,
      bench.at("sub/REPORT.md"),
      bench.at("old-report.txt"),
    ]);
    expect(metadata?.results).toContainEqual({
      path: bench.at("report.txt"),
      type: "file",
      size: 4,
      mtime: expect.stringMatching(/^\d{4}-/),
    });
    expect(metadata?.results).toContainEqual(expect.objectContaining({ type: "symlink" }));
    expect(metadata).toMatchObject({ path: bench.home, truncated: false });
  });

  it("takes the device document's example: a name, a path, recursive", async () => {
    const bench = await Workbench.open();
    await bench.put("Users/me/project_alpha.zip", "x");
    const input = { query: "project_alpha.zip", path: bench.at("Users"), recursive: true };
    expect((await bench.call("search_files", input)).output).toBe(bench.at("Users/me/project_alpha.zip"));
    const flat = await bench.call("search_files", { ...input, recursive: false });
    expect(flat.output).toBe("[No such name]");
    await bench.put("Users/.backup/project_beta.zip", "x");
    const hidden = await bench.call("search_files", { query: "project_beta.zip", path: bench.at("Users") });
    expect(hidden.output).toBe("[No such name. Found in what was left out: dotfiles (show_hidden=true)]");
  });

  it("takes a glob, a dotfile's name, and accents composed either way; ignored files are found too", async () => {
    const bench = await Workbench.open();
    await bench.put(".gitignore", "*.zip\n");
    for (const name of ["a.zip", "b/c.ZIP", "d.zipper", ".secret", "cafe\u0301"]) await bench.put(name, "");
    const found = async (query: string) => (await bench.call("search_files", { query })).output.split("\n");
    expect(await found("*.zip")).toEqual([bench.at("a.zip"), bench.at("b/c.ZIP")]);
    expect(await found("b/*")).toEqual([bench.at("b/c.ZIP")]);
    expect(await found(".secret")).toEqual([bench.at(".secret")]);
    expect(await found("CAF\u00c9")).toEqual([bench.at("cafe\u0301")]);
  });

  it("stops at the limit and when time runs out, and says so", async () => {
    const bench = await Workbench.open();
    for (let i = 0; i < 5; i++) await bench.put(`note-${i}`, "");
    const { output, metadata } = await bench.call("search_files", { query: "note", limit: 2 });
    expect(output).toContain("[These are the best 2; there are more. Narrow query or path, or raise limit]");
    expect(metadata).toMatchObject({ truncated: true, stopped_by: "limit" });
    const timeout = new MatrxError({ code: "TIMEOUT", message: "time", hop: "agent" });
    const signal = AbortSignal.abort(timeout);
    expect((await bench.call("search_files", { query: "note" }, { signal })).output).toContain(
      "[Time ran out",
    );
    expect((await failure(bench.call("search_files", { query: "x", path: "none" }))).code).toBe("NOT_FOUND");
  });
});
