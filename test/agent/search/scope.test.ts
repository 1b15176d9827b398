import { describe, expect, it } from "vitest";
import { darwin } from "../../../agent/platform/darwin/darwin.ts";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { windows } from "../../../agent/platform/windows/windows.ts";
import { cursorOf, cursorText, orderKey } from "../../../agent/search/cursor.ts";
import { pathPattern, splitPattern } from "../../../agent/search/path-pattern.ts";
import { openScope } from "../../../agent/search/scope.ts";
import { Workbench } from "../tools/workbench.ts";

describe("where a search looks", () => {
  it.each([
    [linux, ["/proc", "/sys", "/dev"]],
    [darwin, ["/dev", "/System/Volumes"]],
    [windows, []],
  ] as const)("leaves out what is nobody's on $name, from above", (platform, folders) => {
    expect(platform.notSearched).toEqual(folders);
  });

  it("is not such a folder unless it was named, and never what belongs to Matrx", async () => {
    const bench = await Workbench.open({ platform: linux });
    const access = await bench.files.as(bench.context());
    const leftOut = async (folder: string) => {
      const place = await access.findExisting(folder, "read");
      return (await openScope(access, place, { showHidden: false, includeIgnored: false })).leftOut;
    };
    expect(await leftOut("/")).toEqual(expect.arrayContaining([bench.state, "/proc", "/sys", "/dev"]));
    expect(await leftOut("/dev")).toEqual([]);
    expect(await leftOut(bench.home)).toEqual([]);
  });
});

describe("a place among results", () => {
  it.each([
    [Buffer.from("src/a.ts"), "src/a.ts:12"],
    [Buffer.from("100%/ü:3"), "100%25/ü:3:12"],
    [Buffer.from("two\nlines"), "two%0alines:12"],
    [Buffer.from("caf\xe9", "latin1"), "caf%e9:12"],
  ])("is a text that leads back to it: %s", (path, text) => {
    expect(cursorText({ path, line: 12 })).toBe(text);
    expect(cursorOf(text)).toEqual({ path, line: 12 });
  });

  it("stands in order name by name", () => {
    const paths = ["-x", "a/1", "a/b/c", "a-b", "a.txt", "b", "ü"];
    const keys = paths.map((path) => orderKey(Buffer.from(path)));
    expect(keys.toSorted()).toEqual(keys);
  });
});

describe("a glob", () => {
  it.each([
    ["*.ts", "/", "", "*.ts"],
    ["src/*.ts", "/", "src", "./*.ts"],
    ["src/a.ts", "/", "src", "./a.ts"],
    ["/etc/*.conf", "/", "/etc", "./*.conf"],
    ["/*", "/", "/", "./*"],
    ["{a,b}/c", "/", "", "{a,b}/c"],
    ["src/*.ts,lib/*.ts", "/", "", "src/*.ts,lib/*.ts"],
    ["a/b\\*c/d", "/", "a", "./b\\*c/d"],
    ["C:\\Users\\me\\*.txt", "\\", "C:/Users/me", "./*.txt"],
  ])("begins to choose after its folder: %s", (pattern, separator, folder, rest) => {
    expect(splitPattern(pattern, separator)).toEqual({ folder, rest });
  });

  it.each([
    ["*.ts", ["*.ts"]],
    ["src/**/*.{ts,tsx}", ["*.{ts,tsx}"]],
    ["a?[bc].md", []],
    ["a?.md", ["a*.md"]],
    ["{1..3}.txt", []],
    ["{a,ü}.ts", []],
    ["{a/b,c}.ts", []],
    ["{a,{b,c}}.ts", []],
    ["*.{d.ts,js}", ["*.{d.ts,js}"]],
    ["a,b.ts", ["a,b.ts", "a", "b.ts"]],
    ["*.ts, *.{js,mjs}", ["*.ts, *.{js,mjs}", "*.ts", "*.{js,mjs}"]],
    ["*.ts,a[bc]", []],
    ["ü*.md", ["*.md"]],
    ["a/**", []],
  ])("tells an engine a part that every match has: %s", (pattern, hints) => {
    expect(pathPattern(pattern, false).nameHints).toEqual(hints);
  });
});
