/** Notebooks that are changed: by the text of their cells, as it is shown, and without another byte of theirs. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failure, Workbench } from "./workbench.ts";

/** As Jupyter writes it: one blank deep, each line of a cell by itself. */
const JUPYTER = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# Title\\n",
    "words"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {"tags":   ["x"]},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "c = 3\\n"
     ]
    }
   ],
   "source": [
    "a = 1\\n",
    "b = 2\\n",
    "print(\\"\\u00fc\\", b)"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

/** Puts a notebook there, calls a tool, and gives what is there then. */
async function changed(content: string, tool: string, input: Record<string, unknown>): Promise<string> {
  const bench = await Workbench.open();
  await bench.put("a.ipynb", content);
  await bench.call(tool, input);
  return readFileSync(bench.at("a.ipynb"), "utf8");
}

/** The error of a call, after which the notebook is as it was. */
async function refusal(content: string, tool: string, input: Record<string, unknown>) {
  const bench = await Workbench.open();
  await bench.put("a.ipynb", content);
  const error = await failure(bench.call(tool, input));
  expect(readFileSync(bench.at("a.ipynb"), "utf8")).toBe(content);
  return error;
}

const edit = (old_string: string, new_string: string, more = {}) => ({
  file_path: "a.ipynb",
  old_string,
  new_string,
  ...more,
});
const update = (...lines: string[]) => ({
  patch: ["*** Begin Patch", "*** Update File: a.ipynb", ...lines, "*** End Patch"].join("\n"),
});

describe("a notebook that is edited", () => {
  it("gets quotes and line ends as its JSON spells them, and keeps every other byte", async () => {
    expect(await changed(JUPYTER, "Edit", edit("b = 2", 'b = "two"\nc = 4'))).toBe(
      JUPYTER.replace('    "b = 2\\n",\n', '    "b = \\"two\\"\\n",\n    "c = 4\\n",\n'),
    );
  });

  it("is searched over several lines of a cell, as they are shown", async () => {
    expect(await changed(JUPYTER, "Edit", edit('b = 2\nprint("ü", b)', "print(b)"))).toBe(
      JUPYTER.replace('    "b = 2\\n",\n    "print(\\"\\u00fc\\", b)"\n', '    "print(b)"\n'),
    );
  });

  it.each([
    ["a line at the end", 'print("ü", b)', 'print("ü", b)\nmore', '", b)"\n', '", b)\\n",\n    "more"\n'],
    ["a line at the beginning", "a = 1", "# first\na = 1", '"a = 1\\n"', '"# first\\n",\n    "a = 1\\n"'],
    ["nothing for a line", "a = 1\n", "", '    "a = 1\\n",\n', ""],
    [
      "text in an empty cell",
      "[Cell 3: code]",
      "[Cell 3: code]\nd = 5\ne = 6",
      '"source": []',
      '"source": [\n    "d = 5\\n",\n    "e = 6"\n   ]',
    ],
    [
      "nothing in all of a cell",
      "[Cell 1: markdown]\n# Title\nwords",
      "[Cell 1: markdown]",
      '[\n    "# Title\\n",\n    "words"\n   ]',
      "[]",
    ],
    [
      "one word below the line that names its cell",
      "[Cell 1: markdown]\n# Title",
      "[Cell 1: markdown]\n# Name",
      "# Title",
      "# Name",
    ],
  ])("gets %s", async (_what, old, young, from, to) => {
    const result = await changed(JUPYTER, "Edit", edit(old, young));
    expect(result).toBe(JUPYTER.replace(from, () => to));
  });

  it("keeps its JSON in ASCII, if it was", async () => {
    const result = await changed(JUPYTER, "Edit", edit("a = 1", "ß = 1"));
    expect(result).toBe(JUPYTER.replace("a = 1", "\\u00df = 1"));
    const plain = JUPYTER.replace("\\u00fc", "ü");
    expect(await changed(plain, "Edit", edit("a = 1", "ß = 1"))).toBe(plain.replace("a = 1", "ß = 1"));
  });

  it("keeps a cell of one string that, and its last line end, which is not shown", async () => {
    const compact = '\ufeff{"nbformat":4,"cells":[{"source":"a\\r\\nb\\n","cell_type":"raw"}],"metadata":{}}';
    expect(await changed(compact, "Edit", edit("b", "b\nc"))).toBe(
      compact.replace('"a\\r\\nb\\n"', '"a\\r\\nb\\r\\nc\\n"'),
    );
  });

  it("answers with lines as Read numbers them, and what changed", async () => {
    const bench = await Workbench.open();
    await bench.put("a.ipynb", JUPYTER);
    const { output, metadata } = await bench.call("Edit", edit("b = 2", "b = 3"));
    expect(output).toContain("1 replacement, at line 7\n@@ -4,7 +4,7 @@");
    expect(output).toContain('-b = 2\n+b = 3\n print("ü", b)\n \n [Output of cell 2]');
    expect(metadata).toMatchObject({ first_line: 7, encoding: "utf-8", lines_added: 1, lines_removed: 1 });
    const { output: line } = await bench.call("Read", { file_path: "a.ipynb", offset: 7, limit: 1 });
    expect(line).toContain("b = 3");
  });

  it("says what would be more than a cell's text", async () => {
    const across = await refusal(JUPYTER, "Edit", edit("words\n\n[Cell 2: code, run 3]\na", "x"));
    expect(across).toMatchObject({ details: { reason: "not_in_cells" } });
    expect(across.message).toContain("more of");
    const output = await refusal(JUPYTER, "Edit", edit("c = 3", "c = 4"));
    expect(output.message).toContain("is in an output");
    const twice = await refusal(JUPYTER, "Edit", edit("o", "0"));
    expect(twice.details?.reason).toBe("not_unique");
    const nowhere = await refusal(JUPYTER, "Edit", edit("b = 22", "x"));
    expect(nowhere.message).toContain("The closest lines are:\n  line 7");
  });

  it("can be changed in its JSON, if it stays a notebook", async () => {
    expect(await changed(JUPYTER, "Edit", edit('"metadata": {},\n "nb', '"metadata": {"k": 1},\n "nb'))).toBe(
      JUPYTER.replace('"metadata": {},\n "nb', '"metadata": {"k": 1},\n "nb'),
    );
    const broken = await refusal(JUPYTER, "Edit", edit('"nbformat": 4', '"nbformat": "4'));
    expect(broken.message).toContain("would no longer be a notebook that can be read");
    expect(broken.hint).toContain('line ends and quotes are written \\n and \\"');
    expect((await refusal(JUPYTER, "Edit", edit('"nbformat": 4', '"nbformat": 3'))).code).toBe(
      "TOOL_EXECUTION_FAILED",
    );
    const named = edit("b = 2", 'b = "2"', { encoding: "utf-8" });
    expect((await refusal(JUPYTER, "Edit", named)).details?.reason).toBe("not_a_notebook");
  });

  it("can be mended where it is broken", async () => {
    expect(await changed('{"cells": [', "Edit", edit("[", "[1"))).toBe('{"cells": [1');
  });

  it("stays one, and shows the new text, whatever is put in place of whatever", async () => {
    const bench = await Workbench.open();
    const text = fc.string({ unit: fc.constantFrom("a", "\n", '"', "\\", "ü", "\t", "\r\n", "\u2028", "[") });
    const cells = fc.array(fc.record({ text, isList: fc.boolean() }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(cells, text, fc.nat(), async (made, young, seed) => {
        const chosen = seed % made.length;
        const old = `<${seed}>`;
        const sources = made.map((cell, index) => (index === chosen ? `${cell.text}${old}x` : cell.text));
        const listed = (source: string) => source.match(/[^\n]*\n|[^\n]+/g) ?? [];
        const notebook = {
          cells: sources.map((source, index) => ({
            cell_type: "raw",
            source: made[index]?.isList ? listed(source) : source,
          })),
          nbformat: 4,
        };
        await bench.put("a.ipynb", JSON.stringify(notebook, undefined, seed % 3));
        await bench.call("Edit", edit(old, `(${young})`));
        const found = JSON.parse(readFileSync(bench.at("a.ipynb"), "utf8")) as typeof notebook;
        const plain = (source: string) => source.replaceAll("\r\n", "\n");
        const wanted = sources.map((source) => plain(source.replace(old, () => `(${young})`)));
        expect(found.cells.map(({ source }) => plain([source].flat().join("")))).toEqual(wanted);
        expect(found.cells.map(({ source }) => typeof source)).toEqual(
          notebook.cells.map(({ source }) => typeof source),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("a notebook that is patched", () => {
  it("takes hunks of what is shown", async () => {
    const patch = update(
      "@@",
      " [Cell 2: code, run 3]",
      "-a = 1",
      "+a = 10",
      " b = 2",
      "@@",
      " words",
      "+more",
    );
    const swapped = update(
      "@@",
      " words",
      "+more",
      "@@",
      " [Cell 2: code, run 3]",
      "-a = 1",
      "+a = 10",
      " b = 2",
    );
    const expected = JUPYTER.replace('"a = 1', '"a = 10').replace('"words"', '"words\\n",\n    "more"');
    expect(await changed(JUPYTER, "ApplyPatch", swapped)).toBe(expected);
    expect((await refusal(JUPYTER, "ApplyPatch", patch)).code).toBe("TOOL_EXECUTION_FAILED");
  });

  it.each([
    ["the only lines of a cell", ["-# Title", "-words"], '[\n    "# Title\\n",\n    "words"\n   ]', "[]"],
    [
      "the last line of a cell",
      [" # Title", "-words"],
      '    "# Title\\n",\n    "words"\n',
      '    "# Title"\n',
    ],
    ["the last line of all", [" [Cell 3: code]", "+x"], '"source": []', '"source": [\n    "x"\n   ]'],
  ])("may change %s", async (_what, lines, from, to) => {
    expect(await changed(JUPYTER, "ApplyPatch", update("@@", ...lines))).toBe(
      JUPYTER.replace(from, () => to),
    );
  });

  it("takes hunks of its JSON, if it stays a notebook", async () => {
    const json = update("@@", '-    "words"', '+    "word"');
    expect(await changed(JUPYTER, "ApplyPatch", json)).toBe(JUPYTER.replace("words", "word"));
    const broken = await refusal(JUPYTER, "ApplyPatch", update("@@", '-    "words"', '+    "word'));
    expect(broken.details?.reason).toBe("not_a_notebook");
  });
});

describe("a notebook that is written", () => {
  it("must be JSON, and stay a notebook", async () => {
    const write = (content: string) => ({ file_path: "a.ipynb", content });
    expect((await refusal(JUPYTER, "Write", write("b = 2\n"))).details?.reason).toBe("not_a_notebook");
    expect((await refusal(JUPYTER, "Write", write("{}"))).message).toContain("a notebook that can be read");
    expect((await refusal(JUPYTER, "Write", write(""))).code).toBe("TOOL_EXECUTION_FAILED");
    expect(await changed("broken", "Write", write(JUPYTER))).toBe(JUPYTER);
    const bench = await Workbench.open();
    const none = await failure(bench.call("Write", { file_path: "new/a.ipynb", content: "b = 2" }));
    expect(none.message).toContain("would not be JSON");
    const added = { patch: "*** Begin Patch\n*** Add File: b.ipynb\n+b = 2\n*** End Patch" };
    expect((await failure(bench.call("ApplyPatch", added))).details?.reason).toBe("not_a_notebook");
    await bench.call("Write", { file_path: "empty.ipynb", content: "" });
  });
});
