import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { NOT_UTF8, ODD_NAMES, TWINS } from "../odd-names.ts";
import { failure, Workbench } from "./workbench.ts";

afterEach(() => void vi.unstubAllEnvs());

async function withTrash() {
  const bench = await Workbench.open();
  vi.stubEnv("HOME", bench.at("me"));
  vi.stubEnv("XDG_DATA_HOME", undefined);
  await bench.put("me/.profile", "");
  return bench;
}

describe.each(ODD_NAMES)("a name with %s", (_what, name) => {
  it("is the same for every tool that writes, reads, lists, moves and deletes", async () => {
    const bench = await withTrash();
    await bench.put("dir/other", "");
    const odd = bench.at("dir", name);
    await bench.call("Write", { file_path: odd, content: "one two" });
    expect(readdirSync(bench.at("dir")).sort()).toEqual([name, "other"].sort());
    expect((await bench.call("Read", { file_path: odd })).output).toContain("one two");
    await bench.call("Edit", { file_path: odd, old_string: "two", new_string: "three" });
    expect(readFileSync(odd, "utf8")).toBe("one three");

    await bench.call("Move", { source: odd, destination: bench.at("dir2", name) });
    await bench.call("Move", { source: bench.at("dir2", name), destination: `${bench.at("dir")}/` });
    expect(readFileSync(odd, "utf8")).toBe("one three");

    const { metadata } = await bench.call("Delete", { path: odd });
    expect(existsSync(odd)).toBe(false);
    await bench.call("Move", { source: String(metadata?.trash_path), destination: odd });
    expect(readFileSync(odd, "utf8")).toBe("one three");
    await bench.call("Delete", { path: odd, permanent: true });

    await bench.call("create_directory", { path: odd });
    await bench.put(path.join("dir", name, "inner"), "x");
    expect((await bench.call("ListDirectory", { path: odd })).output).toBe("inner");
    await bench.call("delete_directory", { path: odd, recursive: true, permanent: true });
    expect(readdirSync(bench.at("dir"))).toEqual(["other"]);
  });

  it("is one line of a listing, with nothing hidden in it, and spelled so that it can be asked for", async () => {
    const bench = await Workbench.open();
    for (const folder of ["files", "folders"]) await bench.put(path.join(folder, "zzz", "x"), "");
    writeFileSync(bench.at("files", name), "");
    await bench.put(path.join("folders", name, "x"), "");
    symlinkSync(name, bench.at("to"));
    for (const [folder, end] of [
      ["files", ""],
      ["folders", "/"],
    ] as const) {
      const { output, metadata } = await bench.call("ListDirectory", { path: folder, show_hidden: true });
      const lines = output.split("\n");
      expect(lines).toHaveLength(2);
      expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\u200b\u2028\ufeff\u{e0000}-\u{e007f}]/u);
      const line = lines.find((one) => one !== "zzz/") ?? "";
      const shown = line.slice(0, line.length - end.length);
      expect(shown.startsWith('"') ? JSON.parse(shown) : shown).toBe(name);
      expect(metadata?.entries).toContainEqual(expect.objectContaining({ name }));
      const after = await bench.call("ListDirectory", { path: folder, after: name, show_hidden: true });
      expect(after.metadata?.entries).not.toContainEqual(expect.objectContaining({ name }));
    }
    const { output } = await bench.call("ListDirectory", {});
    expect(output.split("\n")).toHaveLength(3);
  });

  it("stays on one line, and hides nothing, where it is said that it is not there", async () => {
    const bench = await Workbench.open();
    for (const [tool, input] of [
      ["Read", { file_path: bench.at(name) }],
      ["Move", { source: bench.at(name), destination: "x" }],
      ["Delete", { path: bench.at(name) }],
      ["ListDirectory", { path: bench.at(name) }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(error.code).toBe("NOT_FOUND");
      expect(`${error.message}${error.hint}`).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200b\u2028\ufeff]/u);
    }
  });
});

describe("two names that look the same", () => {
  it("are two files, each reached by its own bytes", async () => {
    const bench = await withTrash();
    const [composed, apart] = TWINS;
    for (const name of TWINS) writeFileSync(bench.at(name), name.normalize("NFD") + name.length);
    for (const name of TWINS) {
      expect((await bench.call("Read", { file_path: name })).output).toContain(`${name.length}`);
    }
    await bench.call("Move", { source: apart, destination: "moved" });
    expect(readFileSync(bench.at("moved"), "utf8")).toContain("5");
    expect(lstatSync(bench.at(composed)).isFile()).toBe(true);
    // Only one is left: now either spelling means it.
    await bench.call("Delete", { path: apart });
    expect(existsSync(bench.at(composed))).toBe(false);
  });

  it("are both named when a third spelling could mean either", async () => {
    const bench = await Workbench.open();
    for (const name of ["o\u0302\u0323", "o\u0323\u0302"]) await bench.put(name, "x");
    for (const [tool, input] of [
      ["Read", { file_path: "ộ" }],
      ["Delete", { path: "ộ" }],
      ["Move", { source: "ộ", destination: "x" }],
      ["Move", { source: "o\u0302\u0323", destination: "ộ" }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(error).toMatchObject({
        code: "CONFLICT",
        details: { names: expect.arrayContaining(["o\u0302\u0323"]) },
      });
    }
  });
});

describe.each(NOT_UTF8)("a name of the bytes %j", (bytes, shell, shown) => {
  const inShell = (bench: Workbench, script: string) =>
    execFileSync("bash", ["-c", script], { cwd: bench.home });

  it("is listed on one line, and its bytes are told", async () => {
    const bench = await Workbench.open();
    inShell(bench, `touch ${shell}`);
    const { output, metadata } = await bench.call("ListDirectory", {});
    expect(output).toBe(shown);
    expect(metadata?.entries).toEqual([
      expect.objectContaining({ name_base64: bytes.toString("base64"), size: 0 }),
    ]);
  });

  it("is refused with the command that gives it another one, which works", async () => {
    const bench = await Workbench.open();
    inShell(bench, `echo found > ${shell}`);
    const spelled = bytes
      .toString("latin1")
      .replace(/[\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
    for (const name of [spelled, bytes.toString("utf8")]) {
      for (const [tool, input] of [
        ["Read", { file_path: name }],
        ["Delete", { path: name }],
        ["Move", { source: name, destination: "x" }],
        ["ListDirectory", { path: name }],
      ] as const) {
        const error = await failure(bench.call(tool, input));
        expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { shell_name: shell } });
        expect(error.hint).toContain(`mv -- ${shell} `);
      }
    }
    await bench.call("Bash", { command: `mv -- ${shell} NEW-NAME` });
    expect((await bench.call("Read", { file_path: "NEW-NAME" })).output).toContain("found");
  });

  it("goes with the folder that holds it, and does not hide the name that only looks like it", async () => {
    const bench = await withTrash();
    inShell(bench, `mkdir -p dir/${shell} && touch dir/${shell}/${shell}`);
    const looksLike = textLike(bytes);
    await bench.put(path.join("dir", looksLike), "literal");
    const { output } = await bench.call("ListDirectory", { path: "dir" });
    expect(new Set(output.split("\n")).size).toBe(2);
    expect((await bench.call("Read", { file_path: bench.at("dir", looksLike) })).output).toContain("literal");
    const { metadata } = await bench.call("Delete", { path: "dir", recursive: true });
    await bench.call("Move", { source: String(metadata?.trash_path), destination: "back" });
    await bench.call("Delete", { path: "back", recursive: true, permanent: true });
    expect(readdirSync(bench.home)).toEqual(["me"]);
  });
});

function textLike(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}

describe("what no name can be", () => {
  it.each([
    ["a\0b", "NUL"],
    ["\ud800", "half a character"],
    ["C:\\Users\\me", "Windows path"],
    ["\\\\server\\share", "Windows network path"],
    ["n".repeat(256), "too long"],
    [`${"d/".repeat(3000)}x`, ""],
  ])("is refused by every tool: %j", async (name, why) => {
    const bench = await Workbench.open();
    for (const [tool, input] of [
      ["Read", { file_path: name }],
      ["Write", { file_path: name, content: "x" }],
      ["ListDirectory", { path: name }],
      ["create_directory", { path: name }],
      ["Move", { source: name, destination: "x" }],
      ["Move", { source: ".", destination: name }],
      ["Delete", { path: name }],
      ["delete_directory", { path: name }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect(["INVALID_PARAMETERS", "PERMISSION_DENIED"]).toContain(error.code);
      expect(error.message).toContain(why);
    }
    expect(readdirSync(bench.home)).toEqual([]);
  });
});
