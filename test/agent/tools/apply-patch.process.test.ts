import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { mountDrive } from "../../helpers/drive.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { asAnotherUser, failure, WAYS, Workbench } from "./workbench.ts";

const marked = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** Names and contents of everything below home. */
function tree(bench: Workbench): Record<string, string> {
  const names = readdirSync(bench.home, { recursive: true }) as string[];
  const files = names.filter((name) => lstatSync(bench.at(name)).isFile());
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(bench.at(name), "latin1")]));
}

/** The error of a patch, after which everything is as it was. */
async function refusal(bench: Workbench, patch: string, options = {}) {
  const before = tree(bench);
  const folders = readdirSync(bench.home, { recursive: true }).sort();
  const error = await failure(bench.call("ApplyPatch", { patch }, options));
  expect(tree(bench)).toEqual(before);
  expect(readdirSync(bench.home, { recursive: true }).sort()).toEqual(folders);
  return error;
}

describe("a patch with marks", () => {
  it.each(WAYS)("adds, changes, moves and deletes files, and says so; walked %s", async (_way, platform) => {
    const bench = await Workbench.open({ platform });
    await bench.put("a.txt", "one\ntwo\nthree\n");
    await bench.put("b.txt", "old name\n");
    await bench.put("gone.txt", "x");
    const { output, metadata } = await bench.call("ApplyPatch", {
      patch: marked(
        "*** Update File: a.txt",
        "@@",
        " one",
        "-two",
        "+2",
        " three",
        "*** Add File: new/deep/c.txt",
        "+first",
        "+",
        "+third",
        "*** Update File: b.txt",
        "*** Move to: moved/b.txt",
        "@@",
        "-old name",
        "+new name",
        "*** Delete File: gone.txt",
      ),
    });
    expect(tree(bench)).toEqual({
      "a.txt": "one\n2\nthree\n",
      "moved/b.txt": "new name\n",
      "new/deep/c.txt": "first\n\nthird\n",
    });
    expect(output.split("\n").slice(0, 12)).toEqual([
      `Updated ${bench.at("a.txt")}`,
      `Added ${bench.at("new/deep/c.txt")} (13 bytes)`,
      `Moved ${bench.at("b.txt")} to ${bench.at("moved/b.txt")}`,
      `Deleted ${bench.at("gone.txt")}`,
      "",
      `--- ${bench.at("a.txt")}`,
      `+++ ${bench.at("a.txt")}`,
      "@@ -1,3 +1,3 @@",
      " one",
      "-two",
      "+2",
      " three",
    ]);
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(metadata?.files).toEqual([
      {
        path: bench.at("a.txt"),
        action: "updated",
        sha256_before: sha256("one\ntwo\nthree\n"),
        sha256: sha256("one\n2\nthree\n"),
        bytes: 12,
        lines_added: 1,
        lines_removed: 1,
      },
      { path: bench.at("new/deep/c.txt"), action: "added", bytes: 13, sha256: sha256("first\n\nthird\n") },
      expect.objectContaining({ path: bench.at("moved/b.txt"), action: "moved", from: bench.at("b.txt") }),
      { path: bench.at("gone.txt"), action: "deleted", sha256_before: sha256("x") },
    ]);
  });

  it("finds the place below the lines that it names", async () => {
    const bench = await Workbench.open();
    const part = (name: string) => `class ${name}\n  def run\n    1\n`;
    await bench.put("a.py", part("A") + part("B"));
    const change = ["-    1", "+    2"];
    const error = await refusal(bench, marked("*** Update File: a.py", "@@", "   def run", ...change));
    expect(error.message).toContain("occurs 2 times");
    expect(error.details).toMatchObject({ reason: "not_unique", lines: [2, 5] });
    await bench.call("ApplyPatch", {
      patch: marked("*** Update File: a.py", "@@ class B", "@@ def run", ...change),
    });
    expect(tree(bench)["a.py"]).toBe(`${part("A")}class B\n  def run\n    2\n`);
    await bench.call("ApplyPatch", { patch: marked("*** Update File: a.py", "@@ class B", "+  # B") });
    expect(tree(bench)["a.py"]).toBe(`${part("A")}class B\n  # B\n  def run\n    2\n`);
    await bench.put("b.py", "def go():\n  1\ndef g():\n  1\n");
    await bench.call("ApplyPatch", { patch: marked("*** Update File: b.py", "@@ def g()", "-  1", "+  2") });
    expect(tree(bench)["b.py"]).toBe("def go():\n  1\ndef g():\n  2\n");
    await bench.put("b.py", "def g(a):\n  1\ndef g(b):\n  1\n");
    const unclear = await refusal(bench, marked("*** Update File: b.py", "@@ def g(", "-  1", "+  2"));
    expect(unclear.details).toMatchObject({ reason: "not_found", header: "def g(" });
    const absent = await refusal(bench, marked("*** Update File: a.py", "@@ class C", ...change));
    expect(absent.message).toContain('The line "@@ class C" of hunk 1 was not found');
  });

  it.each([
    ["apply_patch <<'EOF'\n", "\nEOF"],
    ['apply_patch <<"PATCH"\n', "\nPATCH\n"],
    ["\napplypatch << EOF\r\n", "\nEOF\n\n"],
  ])("may come as a command's input: %j", async (before, after) => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n");
    const patch = marked("*** Update File: a", "-x", "+y");
    await bench.call("ApplyPatch", { patch: `${before}${patch}${after}` });
    expect(tree(bench).a).toBe("y\n");
  });

  it("changes the end of a file where it says so", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "x\ny\nx\n");
    await bench.call("ApplyPatch", {
      patch: marked("*** Update File: a", "@@", "-x", "+z", "*** End of File"),
    });
    expect(tree(bench).a).toBe("x\ny\nz\n");
    await bench.call("ApplyPatch", { patch: marked("*** Update File: a", "+end", "*** End of File") });
    expect(tree(bench).a).toBe("x\ny\nz\nend\n");
    const error = await refusal(bench, marked("*** Update File: a", "@@", "+anywhere"));
    expect(error.message).toContain("it is unclear where they go");
  });

  it("takes an empty line for one of the file, and blank lines before a mark for none", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n\ny\n");
    await bench.put("b", "x\n");
    await bench.call("ApplyPatch", {
      patch: `\n${marked("*** Update File: a", "@@", " x", "", "-y", "+z", "", "*** Update File: b", "-x", "+y", "")}\n\n`,
    });
    expect(tree(bench)).toEqual({ a: "x\n\nz\n", b: "y\n" });
  });

  it.each([
    [["*** Begin Patch"], 'line 2: "*** End Patch" is missing'],
    [["*** Begin Patch", "*** Update File: a", "*** End Patch"], "it changes nothing in a"],
    [["*** Begin Patch", "*** Update File: a", " x", "*** End Patch"], "line 3: this hunk changes nothing"],
    [
      ["*** Begin Patch", "*** Update File: a", "x", "*** End Patch"],
      "line 3: a line of a hunk must begin with",
    ],
    [["*** Begin Patch", "*** Add File: b", "x", "*** End Patch"], "line 3: each line of an added file must"],
    [["*** Begin Patch", "*** Rename File: a", "*** End Patch"], "line 2: a file must begin here"],
    [["*** Begin Patch", "*** Delete File: ", "*** End Patch"], "line 2: a path is missing"],
    [["*** Begin Patch", "*** End Patch"], "it contains no changes"],
    [
      ["*** Begin Patch", "*** Delete File: a", "*** End Patch", "more"],
      'line 4: nothing may follow "*** End Patch"',
    ],
    [["hello"], "it contains no changes"],
    [["@@ -1,1 +1,1 @@", "-x", "+y"], 'line 1: "---" and "+++" with the names of a file are missing'],
    [["--- a/a", "+++ b/a", "@@ -1,9 +1,9 @@", ""], "line 3: this hunk is empty"],
    [
      ["--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", "-x", "+y", "lost", " z"],
      "line 6: a line of a hunk must begin",
    ],
    [
      ["--- a/a", "+++ b/a", "@@ -1,1 +1,1 @@", "-x", "+y", "lost", "-z"],
      "line 6: a line of a hunk must begin",
    ],
    [["--- a/a", "+++ b/a", "@@ -1,9 +1,9 @@", "-x", "+y", "lost"], "line 6: a line of a hunk must begin"],
    [["--- a/a", "+++ b/c", "@@ -1,1 +1,1 @@", "-x", "+y"], "its names differ: a/a and b/c"],
    [["diff --git a/a b/a", "old mode 100644", "new mode 120000"], "a would be no ordinary file (120000)"],
  ])("or not is refused when it cannot be read: %j", async (lines, message) => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n");
    const error = await refusal(bench, lines.join("\n"));
    expect(error.code).toBe("INVALID_PARAMETERS");
    expect(error.message).toContain(message);
  });
});

describe("a unified diff", () => {
  const diff = (...lines: string[]) => ["--- a/f.txt", "+++ b/f.txt", ...lines, ""].join("\n");

  it("adds, changes, renames and deletes files as git writes it", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    await bench.put("old.txt", "same\n");
    await bench.put("gone.txt", "a\nb");
    const { output } = await bench.call("ApplyPatch", {
      patch: [
        "diff --git a/f.txt b/f.txt",
        "index 1234567..89abcde 100644",
        "--- a/f.txt",
        "+++ b/f.txt",
        "@@ -1,3 +1,4 @@ section",
        " 1",
        "+1.5",
        " 2",
        " 3",
        "@@ -6,3 +7,2 @@",
        " 6",
        "-7",
        " 8",
        "diff --git a/old.txt b/sub/new.txt",
        "similarity index 100%",
        "rename from old.txt",
        "rename to sub/new.txt",
        "diff --git a/made.txt b/made.txt",
        "new file mode 100644",
        "--- /dev/null",
        "+++ b/made.txt",
        "@@ -0,0 +1,2 @@",
        "+x",
        "+y",
        "\\ No newline at end of file",
        "diff --git a/gone.txt b/gone.txt",
        "deleted file mode 100644",
        "--- a/gone.txt",
        "+++ /dev/null",
        "@@ -1,2 +0,0 @@",
        "-a",
        "-b",
        "\\ No newline at end of file",
        "",
      ].join("\n"),
    });
    expect(tree(bench)).toEqual({
      "f.txt": "1\n1.5\n2\n3\n4\n5\n6\n8\n",
      "made.txt": "x\ny",
      "sub/new.txt": "same\n",
    });
    expect(output).toContain(`Moved ${bench.at("old.txt")} to ${bench.at("sub/new.txt")}`);
  });

  it("is applied elsewhere only where there is one place for it", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "x\na\nb\nc\nx\na\nb\nd\n");
    await bench.call("ApplyPatch", { patch: diff("@@ -40,3 +40,3 @@", " a", "-b", "+B", " d") });
    expect(tree(bench)["f.txt"]).toBe("x\na\nb\nc\nx\na\nB\nd\n");
    await bench.put("f.txt", "x\na\nb\nx\na\nb\n");
    const error = await refusal(bench, diff("@@ -3,2 +3,2 @@", " a", "-b", "+B"));
    expect(error.message).toContain("occurs 2 times");
    await bench.call("ApplyPatch", { patch: diff("@@ -5,2 +5,2 @@", " a", "-b", "+B") });
    expect(tree(bench)["f.txt"]).toBe("x\na\nb\nx\na\nB\n");
  });

  it("is refused when a line around the change is another", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "def f():\n\treturn 1\n");
    const error = await refusal(
      bench,
      diff("@@ -1,2 +1,2 @@", " def f():", "-    return 1", "+    return 2"),
    );
    expect(error.message).toContain("The old text of hunk 1 was not found in");
    expect(error.message).toContain("indentation differs");
    const blank = await refusal(bench, diff("@@ -1,1 +1,1 @@", "- def f():", "+def g():"));
    expect(blank.code).toBe("TOOL_EXECUTION_FAILED");
    const bare = await refusal(bench, diff("@@ -1,0 +2,1 @@", "+new"));
    expect(bare.message).toContain("has only new lines");
  });

  it("keeps line ends, encoding and the missing end of the last line", async () => {
    const bench = await Workbench.open();
    const change = diff("@@ -1,3 +1,4 @@", " a", "-b", "+B", "+B2", " c");
    for (const [before, after] of [
      ["a\r\nb\r\nc\r\n", "a\r\nB\r\nB2\r\nc\r\n"],
      ["a\nb\r\nc\n", "a\nB\r\nB2\r\nc\n"],
      ["a\r\nb\nc", "a\r\nB\nB2\nc"],
    ] as const) {
      await bench.put("f.txt", before);
      await bench.call("ApplyPatch", { patch: change });
      expect(JSON.stringify(tree(bench)["f.txt"])).toBe(JSON.stringify(after));
    }
    await bench.put("f.txt", "a\nb");
    const last = ["@@ -1,2 +1,2 @@", " a", "-b", "+c"];
    await bench.call("ApplyPatch", { patch: diff(...last) });
    expect(tree(bench)["f.txt"]).toBe("a\nc");
    const ended = diff("@@ -1,2 +1,2 @@", " a", "-c", "\\ No newline at end of file", "+d");
    await bench.call("ApplyPatch", { patch: ended });
    expect(tree(bench)["f.txt"]).toBe("a\nd\n");
    await bench.put("f.txt", Buffer.from("\ufeffä\r\nb\r\n", "utf16le"));
    await bench.call("ApplyPatch", { patch: diff("@@ -1,2 +1,2 @@", " ä", "-b", "+€") });
    expect(readFileSync(bench.at("f.txt"))).toEqual(Buffer.from("\ufeffä\r\n€\r\n", "utf16le"));
    await bench.put("f.txt", Buffer.from("gr\xfcn\nb\n", "latin1"));
    await bench.call("ApplyPatch", { patch: diff("@@ -1,2 +1,2 @@", " grün", "-b", "+blaß") });
    expect(tree(bench)["f.txt"]).toBe("gr\xfcn\nbla\xdf\n");
    const lacking = await refusal(bench, diff("@@ -1,2 +1,2 @@", " grün", "-blaß", "+€"));
    expect(lacking.message).toContain('no "€"');
  });

  it("keeps the missing end of the last line when fewer lines come in its place", async () => {
    const bench = await Workbench.open();
    for (const [lines, after] of [
      [["-b", "-c", "-d", "+x", "+y"], "a\nx\ny"],
      [["-c", "-d", "+x"], "a\nb\nx"],
      [["-d", "+x", "+y"], "a\nb\nc\nx\ny"],
      [["-d"], "a\nb\nc\n"],
    ] as const) {
      await bench.put("f.txt", "a\nb\nc\nd");
      await bench.call("ApplyPatch", { patch: marked("*** Update File: f.txt", "@@", ...lines) });
      expect(JSON.stringify(tree(bench)["f.txt"])).toBe(JSON.stringify(after));
    }
  });

  it("gives lines below a last one without an end those of the file", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "a\r\nb");
    await bench.call("ApplyPatch", { patch: marked("*** Update File: f.txt", "-b", "+c", "+d") });
    expect(JSON.stringify(tree(bench)["f.txt"])).toBe(JSON.stringify("a\r\nc\r\nd"));
  });

  it("takes blank lines below a hunk for none of its own when the file has none there", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "1\n2\n3\n");
    await bench.call("ApplyPatch", { patch: `${diff("@@ -2,2 +2,2 @@", "-2", "+two")}\n\n` });
    expect(tree(bench)["f.txt"]).toBe("1\ntwo\n3\n");
  });

  it("gives lines the ends that the patch has for them, where it has those of the file", async () => {
    const bench = await Workbench.open();
    for (const [before, lines, after] of [
      ["", ["@@ -0,0 +1,2 @@", "+echo a\r", "+b"], "echo a\r\nb\n"],
      ["a\nb\n", ["@@ -1,2 +1,2 @@", "-a", "-b", "+a\r", "+b\r"], "a\r\nb\r\n"],
      ["a\r\nb\n", ["@@ -1,2 +1,2 @@", "-a\r", "+a", " b"], "a\nb\n"],
      ["a\r\nb", ["@@ -2,1 +2,1 @@", "-b", "\\ No newline at end of file", "+b\r"], "a\r\nb\r\n"],
      ["a\nb\r", ["@@ -2,1 +2,1 @@", "-b\r", "\\ No newline at end of file", "+b"], "a\nb\n"],
      ["a\nb\n", ["@@ -1,2 +1,2 @@", " a\r", "-b\r", "+c\r"], "a\nc\n"],
    ] as const) {
      await bench.put("f.txt", before);
      const { output } = await bench.call("ApplyPatch", { patch: diff(...lines) });
      expect(JSON.stringify(tree(bench)["f.txt"])).toBe(JSON.stringify(after));
      const isSameText = before.replaceAll("\r\n", "\n") === after.replaceAll("\r\n", "\n");
      expect(output.includes("[Only line ends change]"), output).toBe(isSameText);
    }
  });

  it("has carriage returns of its own where its headers have them", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "a\nb\n");
    const patch = diff("@@ -1,2 +1,2 @@", " a", "-b", "+c").replaceAll("\n", "\r\n");
    await bench.call("ApplyPatch", { patch });
    const add = marked("*** Add File: g.txt", "+x", "+y");
    await bench.call("ApplyPatch", { patch: add.replaceAll("\n", "\r\n") });
    await bench.call("ApplyPatch", { patch: marked("*** Add File: w.bat", "+echo\r", "+y\r") });
    expect(tree(bench)).toEqual({ "f.txt": "a\nc\n", "g.txt": "x\ny\n", "w.bat": "echo\r\ny\r\n" });
  });

  it("is taken with wrong counts, where place and text fit, and says so", async () => {
    const bench = await Workbench.open();
    const before = "1\n2\n3\n\n4\n5\n6\n7\n8\n9\n";
    for (const [lines, after] of [
      [["@@ -4,9 +4,9 @@", "-4", "+four"], before.replace("4", "four")],
      [["@@ -2,1 +2,1 @@", " 2", "-3", "+three", "", " 4"], before.replace("3", "three")],
      [
        ["@@ -1,7 +1,7 @@", "-1", "+one", "", "@@ -9 +9 @@", "-8", "+eight", ""],
        before.replace("1", "one").replace("8", "eight"),
      ],
      [["@@ -2,0 +2,0 @@", "-2", "+two"], before.replace("2", "two")],
      [["@@ ... @@", "-2", "+two", "@@", "-9", "+nine"], before.replace("2", "two").replace("9", "nine")],
      [["@@ -2,2 +2,2 @@", "-2", "+two", "--- ", "2.39.2"].slice(0, 3), before.replace("2", "two")],
    ] as const) {
      await bench.put("f.txt", before);
      const { output } = await bench.call("ApplyPatch", { patch: diff(...lines) });
      expect(tree(bench)["f.txt"]).toBe(after);
      expect(/hunk 1 declares \d old and \d new lines, but has/.test(output), output).toBe(
        /-\d/.test(lines[0]),
      );
    }
    await bench.put("f.txt", before);
    const two = `${diff("@@ -1,9 +1,9 @@", "-1", "+one").trimEnd()}\n${diff("@@ -1,5 +1,5 @@", "-x", "+y").replaceAll("f.txt", "g.txt")}`;
    await bench.put("g.txt", "x\n");
    await bench.call("ApplyPatch", { patch: two });
    expect(tree(bench)).toEqual({ "f.txt": before.replace("1", "one"), "g.txt": "y\n" });
    const twice = await refusal(bench, diff("@@ -7,9 +7,9 @@", "-x", "+y").replaceAll("f.txt", "g.txt"));
    expect(twice.details?.reason).toBe("not_found");
  });

  it("takes lines that look like names of a file for lines while the counts hold", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "-- a\nb\n");
    await bench.call("ApplyPatch", {
      patch: diff("@@ -1,2 +1,2 @@", "--- a", "+++ a", " b", "@@ -9 +9 @@").replace("\n@@ -9 +9 @@", ""),
    });
    expect(tree(bench)["f.txt"]).toBe("++ a\nb\n");
  });

  it("is found without regard to white space at the ends of lines, which stays as the file has it", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "a  \nb\t\nc\n");
    await bench.call("ApplyPatch", { patch: diff("@@ -1,3 +1,3 @@", " a", "-b", "+B", " c   ") });
    expect(tree(bench)["f.txt"]).toBe("a  \nB\nc\n");
    await bench.put("f.txt", "x\nx \n");
    await bench.call("ApplyPatch", { patch: marked("*** Update File: f.txt", "-x ", "+y") });
    expect(tree(bench)["f.txt"], "what fits exactly comes first").toBe("x\ny\n");
    await bench.put("f.txt", "x \nx\t\n");
    const error = await refusal(bench, marked("*** Update File: f.txt", "-x", "+y"));
    expect(error.details).toMatchObject({ reason: "not_unique", lines: [1, 2] });
  });

  it("changes two lines of a file of very many", async () => {
    const bench = await Workbench.open();
    const lines = Array.from({ length: 400_000 }, (_, index) => `line ${index}`);
    await bench.put("f.txt", lines.join("\n"));
    const patch = diff(
      "@@ -11,1 +11,1 @@",
      "-line 10",
      "+ten",
      "@@ -399998,1 +399998,1 @@",
      "-line 399997",
      "+x",
    );
    await bench.call("ApplyPatch", { patch });
    lines[10] = "ten";
    lines[399_997] = "x";
    expect(readFileSync(bench.at("f.txt"), "utf8") === lines.join("\n")).toBe(true);
  });

  it("deletes only what it names whole", async () => {
    const bench = await Workbench.open();
    await bench.put("f.txt", "a\nb\n");
    const patch = ["--- a/f.txt", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-a", ""].join("\n");
    expect((await refusal(bench, patch)).message).toContain("does not list all its content");
    const empty = "diff --git a/f.txt b/f.txt\ndeleted file mode 100644\nindex e69de29..0000000\n";
    expect((await refusal(bench, empty)).message).toContain("does not list all its content");
    await bench.put("f.txt", "");
    await bench.call("ApplyPatch", { patch: empty });
    expect(tree(bench)).toEqual({});
  });
});

describe("all or nothing", () => {
  it("changes no file when a later one does not fit", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n");
    await bench.put("b", "y\n");
    const update = ["*** Update File: a", "-x", "+z", "*** Add File: deep/new", "+x"];
    for (const other of [
      ["*** Update File: b", "-not there", "+z"],
      ["*** Update File: none", "-x", "+z"],
      ["*** Delete File: none"],
      ["*** Add File: b", "+z"],
      ["*** Update File: b", "*** Move to: a", "-y", "+z"],
      ["*** Update File: a", "-x", "+w"],
    ]) {
      await refusal(bench, marked(...update, ...other));
    }
  });

  it.each(WAYS)(
    "takes back what was done when the system refuses a later change; walked %s",
    async (_way, platform) => {
      const bench = await Workbench.open({ platform });
      const file = await bench.put("w/a", "x\n");
      linkSync(file, bench.at("a-too"));
      const gone = await bench.put("w/b", "y\n");
      const moved = await bench.put("w/m", "m\n");
      await bench.put("closed/c", "z\n");
      for (const path of [file, gone, moved]) chmodSync(path, 0o666);
      chmodSync(bench.at("w"), 0o777);
      chmodSync(bench.at("closed"), 0o555);
      const before = tree(bench);
      const inode = statSync(gone).ino;
      const steps = [
        ["*** Update File: w/a", "-x", "+changed"],
        ["*** Delete File: w/b"],
        ["*** Add File: w/new/deep/file", "+x"],
        ["*** Update File: w/m", "*** Move to: w/other/m", "-m", "+M"],
      ].flat();
      const error = await asAnotherUser(bench, () =>
        refusal(bench, marked(...steps, "*** Delete File: closed/c")),
      );
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.message).toContain(bench.at("closed/c"));
      expect(error.message).toContain("Everything was undone, so nothing was changed");
      expect(tree(bench)).toEqual(before);
      expect(statSync(gone).ino).toBe(inode);
      expect(statSync(file).nlink).toBe(2);
      expect([file, gone, moved].map((path) => statSync(path).mode & 0o777)).toEqual([0o666, 0o666, 0o666]);
      // Without the step that is refused, the others are done by this user.
      await asAnotherUser(bench, () => bench.call("ApplyPatch", { patch: marked(...steps) }));
      expect(tree(bench)).toEqual({
        "a-too": "changed\n",
        "closed/c": "z\n",
        "w/a": "changed\n",
        "w/new/deep/file": "x\n",
        "w/other/m": "M\n",
      });
    },
  );

  it("takes back what was written in place when the disk becomes full on the way", NEEDS_ROOT, async () => {
    const drive = mountDrive(1);
    const bench = await Workbench.open();
    const file = path.join(drive, "file");
    writeFileSync(file, "old\n");
    linkSync(file, path.join(drive, "link"));
    await bench.put("first", "x\n");
    const large = `+${"x".repeat(2 * 1024 * 1024)}`;
    const patch = marked("*** Update File: first", "-x", "+y", `*** Update File: ${file}`, "-old", large);
    const error = await refusal(bench, patch);
    expect(error.message).toContain("failed partway (ENOSPC)");
    expect(error.message).toContain("undone, so nothing was changed");
    expect(readFileSync(file, "utf8")).toBe("old\n");
  });

  it("takes back what was done when it is cancelled on the way", async () => {
    const bench = await Workbench.open();
    const lines = Array.from({ length: 100 }, (_, index) => [`*** Add File: dir${index}/f`, "+x"]);
    const stop = new AbortController();
    const call = bench.call("ApplyPatch", { patch: marked(...lines.flat()) }, { signal: stop.signal });
    const settled = call.then(
      () => "done",
      () => "stopped",
    );
    while (!existsSync(bench.at("dir5")) && !existsSync(bench.at("dir99"))) await new Promise(setImmediate);
    stop.abort(new Error("cancelled"));
    const end = await settled;
    expect(readdirSync(bench.home)).toHaveLength(end === "done" ? 100 : 0);
  });

  it("does not overwrite what another program made meanwhile", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n");
    const patch = marked("*** Update File: a", "-x", "+y", "*** Add File: b", "+mine");
    const turn = bench.files.mutex.runExclusive(bench.at("a"), async () => {
      await new Promise(setImmediate);
      writeFileSync(bench.at("b"), "theirs");
    });
    const error = await failure(bench.call("ApplyPatch", { patch }));
    await turn;
    expect(error.code).toBe("CONFLICT");
    expect(tree(bench)).toEqual({ a: "x\n", b: "theirs" });
  });

  it("lets patches and edits of the same files wait for each other", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "0\n");
    await bench.put("b", "0\n");
    const calls = Array.from({ length: 12 }, (_, index) => {
      const parts = [
        ["*** Update File: a", " 0", `+a${index}`],
        ["*** Update File: b", " 0", `+b${index}`],
      ];
      return bench.call("ApplyPatch", { patch: marked(...(index % 2 ? parts : parts.reverse()).flat()) });
    });
    await Promise.all(calls);
    expect(tree(bench).a?.split("\n")).toHaveLength(14);
    expect(tree(bench).b?.split("\n")).toHaveLength(14);
  });
});

describe("what a patch may do", () => {
  const taking = [
    ["deletes", marked("*** Delete File: a")],
    ["moves", marked("*** Update File: a", "*** Move to: b")],
    ["deletes, as a diff,", "--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"],
    ["renames, as a diff,", "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"],
  ] as const;

  it.each(taking)("is what Delete may do, when it %s a file", async (_does, patch) => {
    const bench = await Workbench.open();
    await bench.put("a", "x\n");
    const grant = { ...bench.owner, id: makeGrantId(), effects: ["read" as const, "write" as const] };
    const allowed_tools = ["ApplyPatch", "Edit"];
    for (const options of [
      { grant },
      { policy: { allowed_tools } },
      { relayPolicy: { allowed_tools } },
      { grant: { ...bench.owner, tools: ["ApplyPatch"] } },
    ]) {
      const error = await refusal(bench, patch, options);
      expect(error.code).toBe("PERMISSION_DENIED");
      expect(error.message).toContain(
        "This patch deletes or moves files, which needs the same permission as Delete",
      );
    }
    await bench.call("ApplyPatch", { patch: marked("*** Update File: a", "-x", "+y") }, { grant });
    expect(tree(bench)).toEqual({ a: "y\n" });
  });

  it("is held to the folders that are allowed, and closed to what is protected", async () => {
    const bench = await Workbench.open();
    mkdirSync(bench.at("open"));
    await bench.put("open/f", "x\n");
    await bench.put("shut", "x\n");
    symlinkSync("../shut", bench.at("open/link"));
    const policy = { allowed_paths: [bench.at("open")] };
    const fits = ["*** Update File: open/f", "-x", "+y"];
    for (const other of [
      ["*** Update File: shut", "-x", "+y"],
      ["*** Update File: open/link", "-x", "+y"],
      ["*** Add File: open/../new", "+y"],
      ["*** Delete File: shut"],
      ["*** Update File: open/f", "*** Move to: moved"],
    ]) {
      const patch = marked(...(other[0] === fits[0] ? other : [...fits, ...other]));
      expect((await refusal(bench, patch, { policy })).code).toBe("PERMISSION_DENIED");
    }
    const own = marked("*** Add File: ../state/x", "+y");
    expect((await refusal(bench, own)).code).toBe("PERMISSION_DENIED");
    await bench.call(
      "ApplyPatch",
      { patch: marked("*** Update File: f", "-x", "+y"), path: "open" },
      { policy },
    );
    expect(tree(bench)["open/f"]).toBe("y\n");
  });

  it("is nothing to a link that it would delete, and keeps one that it changes", async () => {
    const bench = await Workbench.open();
    await bench.put("target", "x\n");
    symlinkSync("target", bench.at("link"));
    for (const change of [["*** Delete File: link"], ["*** Update File: link", "*** Move to: new"]]) {
      const error = await refusal(bench, marked(...change));
      expect(error.message).toContain("is a symbolic link, not a file");
      expect(error.hint).toContain("Delete");
      expect(lstatSync(bench.at("link")).isSymbolicLink()).toBe(true);
    }
    await bench.call("ApplyPatch", { patch: marked("*** Update File: link", "-x", "+y") });
    expect(readFileSync(bench.at("target"), "utf8")).toBe("y\n");
    expect(lstatSync(bench.at("link")).isSymbolicLink()).toBe(true);
  });

  it("says where a text is that a hunk has at the wrong place", async () => {
    const bench = await Workbench.open();
    await bench.put("f", "one\ntwo\nthree\nfour\n");
    const wrong = async (...lines: string[]) => await refusal(bench, marked("*** Update File: f", ...lines));
    const order = await wrong("@@", "-three", "+3", "@@", "-one", "+1");
    expect(order.message).toContain("is at line 1 of");
    expect(order.message).toContain("above or within the hunk before it. Nothing was changed");
    expect(order.hint).toContain("in the order of its lines");
    const header = await wrong("@@ three", "-two", "+2");
    expect(header.message).toContain('above the line "@@ three"');
    const end = await wrong("@@", "-two", "+2", "*** End of File");
    expect(end.message).toContain("is at line 2 of");
    expect(end.message).toContain("not at the end of the file");
    const diff = ["--- a/f", "+++ b/f", "@@ -4 +4 @@", "-four", "+4", "@@ -1 +1 @@", "-one", "+1", ""];
    expect((await refusal(bench, diff.join("\n"))).details?.reason).toBe("misplaced");
  });

  it("makes a file a program, or one no more, besides its other changes, and undoes that too", async () => {
    const bench = await Workbench.open();
    const modesOf = (...names: string[]) =>
      names.map((name) => (statSync(bench.at("w", name)).mode & 0o777).toString(8));
    const modes = { "run.sh": 0o640, data: 0o755, old: 0o600 };
    for (const [name, mode] of Object.entries(modes)) {
      await bench.put(`w/${name}`, "x\n");
      chmodSync(bench.at("w", name), mode);
      // It takes the owner to change a mode, and root is refused nothing.
      if (process.geteuid?.() === 0) chownSync(bench.at("w", name), 65_534, 65_534);
    }
    await bench.put("closed/f", "x\n");
    chmodSync(bench.at("w"), 0o777);
    chmodSync(bench.at("closed"), 0o555);
    const headers = (name: string, young: string, from: string, to: string) => [
      `diff --git a/w/${name} b/w/${young}`,
      `old mode ${from}`,
      `new mode ${to}`,
    ];
    const hunk = (name: string, young: string) => [
      `--- a/w/${name}`,
      `+++ b/w/${young}`,
      "@@ -1 +1 @@",
      "-x",
      "+y",
    ];
    const steps = [
      headers("run.sh", "run.sh", "100644", "100755"),
      [...headers("data", "data", "100755", "100644"), ...hunk("data", "data")],
      [
        ...headers("old", "new", "100644", "100755"),
        "rename from w/old",
        "rename to w/new",
        ...hunk("old", "new"),
      ],
    ].flat();
    const patch = (...lines: string[]) => `${[...steps, ...lines].join("\n")}\n`;
    const preview = await bench.tool("ApplyPatch").preview?.({ patch: patch() }, bench.context());
    expect(preview?.diff).toContain("old mode 100644\nnew mode 100755");
    const refused = ["--- a/closed/f", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"];
    const error = await asAnotherUser(bench, () => refusal(bench, patch(...refused)));
    expect(error.message).toContain("Everything was undone");
    expect(modesOf("run.sh", "data", "old")).toEqual(["640", "755", "600"]);
    const { output, metadata } = await bench.call("ApplyPatch", { patch: patch() });
    expect(modesOf("run.sh", "data", "new")).toEqual(["750", "644", "700"]);
    expect(readFileSync(bench.at("w/new"), "utf8")).toBe("y\n");
    expect(output).toContain(`Updated ${bench.at("w/run.sh")}, now executable`);
    expect(output).toContain(`Updated ${bench.at("w/data")}, no longer executable`);
    expect(metadata?.files).toMatchObject([{ executable: true }, { executable: false }, { action: "moved" }]);
    const again = await bench.call("ApplyPatch", {
      patch: headers("run.sh", "run.sh", "100644", "100755").join("\n"),
    });
    expect(again.output).toBe(`${bench.at("w/run.sh")} is as the patch sets it already`);
  });

  it("takes files away last, so that an agent that dies on the way has taken none", async () => {
    const bench = await Workbench.open();
    await bench.put("gone", "x\n");
    await bench.put("kept", "x\n");
    const changed: (string | null)[] = [];
    const isGone = Promise.withResolvers<void>();
    const watcher = watch(bench.home, (_, name) => {
      changed.push(name);
      if (name === "gone") isGone.resolve();
    });
    try {
      const patch = marked("*** Delete File: gone", "*** Update File: kept", "-x", "+y");
      const { metadata } = await bench.call("ApplyPatch", { patch });
      expect(metadata?.files).toMatchObject([{ action: "deleted" }, { action: "updated" }]);
      await isGone.promise;
    } finally {
      watcher.close();
    }
    expect(changed.indexOf("kept")).toBeGreaterThan(-1);
    expect(changed.indexOf("kept")).toBeLessThan(changed.indexOf("gone"));
  });

  it("keeps mode and hard links of a file that it moves", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("run.sh", "x\n");
    chmodSync(file, 0o750);
    linkSync(file, bench.at("hard"));
    const patch = marked("*** Update File: run.sh", "*** Move to: bin/run.sh", "-x", "+y");
    await bench.call("ApplyPatch", { patch });
    expect(tree(bench)).toEqual({ "bin/run.sh": "y\n", hard: "y\n" });
    expect(statSync(bench.at("bin/run.sh"))).toMatchObject({ nlink: 2 });
    expect(statSync(bench.at("hard")).mode & 0o777).toBe(0o750);
  });

  it("is bounded", async () => {
    const bench = await Workbench.open();
    truncateSync(await bench.put("large", "x\n"), 16 * 1024 ** 2 + 1);
    const large = await refusal(bench, marked("*** Update File: large", "-x", "+y"));
    expect(large.code).toBe("PAYLOAD_TOO_LARGE");
    const many = Array.from({ length: 201 }, (_, index) => [`*** Add File: ${index}`, "+x"]);
    expect((await refusal(bench, marked(...many.flat()))).code).toBe("PAYLOAD_TOO_LARGE");
  });

  it("takes no longer for lines that all look alike: nothing else runs meanwhile", async () => {
    const bench = await Workbench.open();
    await bench.put("alike", "a\n".repeat(500_000));
    const alike = Array.from({ length: 100_000 }, () => " a");
    const absent = await refusal(bench, marked("*** Update File: alike", "@@", ...alike, "-b", "+c"));
    expect(absent.details?.reason).toBe("not_found");
    const headers = Array.from({ length: 100_000 }, () => "@@ a");
    const below = await refusal(bench, marked("*** Update File: alike", ...headers, "-b", "+c"));
    expect(below.details?.reason).toBe("not_found");
    const blanks = "\n".repeat(500_000);
    const empty = await refusal(bench, marked("*** Update File: alike", "@@", blanks, "-b", "+c"));
    expect(empty.details?.reason).toBe("not_found");
    const many = Array.from({ length: 2001 }, () => ["@@", "-b", "+c"]).flat();
    const hunks = await refusal(bench, marked("*** Update File: alike", ...many));
    expect(hunks.code).toBe("PAYLOAD_TOO_LARGE");
  });
});
