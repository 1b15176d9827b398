/** Files that are shown as the text in them: PDF files and notebooks. */
import { closeSync, openSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { pdfPages } from "../../../agent/read/pdf-pages.ts";
import { pdfOf } from "../../helpers/pdf.ts";
import { failure, Workbench } from "./workbench.ts";

const PATIENT = 60_000;
const MiB = 1024 * 1024;

describe("a PDF", () => {
  const pages = [["Hello world", "two (brackets) and a \\ back"], ["Zweite Seite: grün"], []];

  it("is read as the text of its pages, each with a mark", { timeout: PATIENT }, async () => {
    const bench = await Workbench.open();
    await bench.put("a.txt", pdfOf(pages));
    const { output, metadata } = await bench.call("Read", { file_path: "a.txt" });
    expect(output).toBe(
      [
        "--- Page 1 of 3 ---",
        "Hello world",
        "two (brackets) and a \\ back",
        "",
        "--- Page 2 of 3 ---",
        "Zweite Seite: grün",
        "",
        "--- Page 3 of 3 ---",
        "",
        "[Page 3 has no text: for scanned pages, make images with Bash: pdftoppm -png]",
      ].join("\n"),
    );
    expect(metadata).toMatchObject({
      media_type: "application/pdf",
      pages: 3,
      first_page: 1,
      last_page: 3,
      truncated: false,
    });
    expect(bench.session.seen(bench.at("a.txt"))).toBeDefined();
    const error = await failure(
      bench.call("Edit", { file_path: "a.txt", old_string: "Hello", new_string: "Hullo" }),
    );
    expect(error.details?.reason).toBe("binary");
  });

  it("is read in part: by pages, and by lines of their text", { timeout: PATIENT }, async () => {
    const bench = await Workbench.open();
    const many = Array.from({ length: 45 }, (_, page) =>
      Array.from({ length: 40 }, (__, line) => `p${page + 1} l${line + 1}`),
    );
    await bench.put("a.pdf", pdfOf(many));
    const read = (input: Record<string, unknown>) => bench.call("Read", { file_path: "a.pdf", ...input });
    const first = await read({});
    expect(first.metadata).toMatchObject({
      pages: 45,
      first_page: 1,
      last_page: 20,
      next_page: 21,
      truncated: true,
    });
    expect(first.output.endsWith("[Pages 1 to 20 of 45. Continue with pages=21-]")).toBe(true);
    const rest = await read({ pages: "21-" });
    expect(rest.metadata).toMatchObject({ first_page: 21, last_page: 40, next_page: 41 });
    expect((await read({ pages: "2-44" })).metadata).toMatchObject({ first_page: 2, last_page: 44 });
    const last = await read({ pages: "45-99" });
    expect(last.output.split("\n").slice(0, 2)).toEqual(["--- Page 45 of 45 ---", "p45 l1"]);
    expect(last.metadata).toMatchObject({ last_page: 45, truncated: false });
    const one = await read({ pages: "7", offset: 3, limit: 2 });
    expect(one.output).toMatch(
      /^p7 l2\np7 l3\n\n\[Lines 3 to 4 of 41\. Continue with offset=5\]\n\[Pages 7 to 7 of 45/,
    );
    expect((await read({ pages: 45, raw: true })).output).toBe(last.output);
    const wrong = await failure(read({ pages: "46" }));
    expect(wrong).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pages", pages: 45 } });
  });

  it.each(["0", "a", "3-1", "1,2", "-3", "1-2-3"])("is not read by wrong pages: %s", async (range) => {
    const bench = await Workbench.open();
    await bench.put("a.pdf", pdfOf([["x"]]));
    const error = await failure(bench.call("Read", { file_path: "a.pdf", pages: range }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pages" } });
  });

  it("is what pages are of: others have none, nor have bytes", async () => {
    const bench = await Workbench.open();
    await bench.put("a.txt", "text\n");
    for (const input of [{}, { encoding: "base64" }, { encoding: "latin1" }]) {
      const error = await failure(bench.call("Read", { file_path: "a.txt", pages: "1", ...input }));
      expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pages" } });
    }
  });

  it.each([
    ["is damaged", Buffer.from("%PDF-1.7\n\0\0"), "damaged"],
    ["is only called one", Buffer.from("%PDF-1.7\nnothing but text\n"), "damaged"],
    [
      "is locked with a password",
      pdfOf([["x"]], {
        trailer: `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -44 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`,
      }),
      "password",
    ],
  ])(
    "that %s is refused with the reason and what to do",
    { timeout: PATIENT },
    async (_what, bytes, reason) => {
      const bench = await Workbench.open();
      await bench.put("a.pdf", bytes);
      const error = await failure(bench.call("Read", { file_path: "a.pdf" }));
      expect(error).toMatchObject({
        code: "TOOL_EXECUTION_FAILED",
        details: { reason, media_type: "application/pdf" },
      });
      expect(error.hint).toMatch(reason === "password" ? /qpdf/ : /encoding/);
      const { output } = await bench.call("Read", { file_path: "a.pdf", encoding: "base64" });
      expect(output).toContain(bytes.toString("base64").slice(0, 8));
    },
  );

  it("that is very large is refused", async () => {
    const bench = await Workbench.open();
    truncateSync(await bench.put("a.pdf", pdfOf([["x"]])), 65 * MiB);
    expect((await failure(bench.call("Read", { file_path: "a.pdf" }))).code).toBe("PAYLOAD_TOO_LARGE");
  });
});

describe("a PDF that means harm", () => {
  const usual = { mostChars: MiB, mostBytes: 300 * MiB, mostMs: 30_000 };

  async function pagesOf(bytes: Buffer, limits = usual, signal = new AbortController().signal) {
    const bench = await Workbench.open();
    const descriptor = openSync(await bench.put("a.pdf", bytes), "r");
    onTestFinished(() => closeSync(descriptor));
    return await pdfPages(descriptor, { first: 1, last: 5 }, { grant: { id: "grant" }, signal }, limits);
  }

  it("takes no more memory than it may", { timeout: PATIENT }, async () => {
    const once = deflateSync(Buffer.alloc(400 * MiB, " "), { level: 1 });
    const content = { bytes: deflateSync(once), entries: "/Filter [/FlateDecode /FlateDecode]" };
    expect(content.bytes.length).toBeLessThan(MiB);
    const failed = pagesOf(pdfOf([[]], { content }));
    await expect(failed).rejects.toMatchObject({
      reason: "limits",
      message: expect.stringContaining("memory"),
    });
    expect(programs()).toEqual([]);
  });

  it("takes no more time than it may", { timeout: PATIENT }, async () => {
    const failed = pagesOf(pdfOf([["x"]]), { ...usual, mostMs: 1 });
    await expect(failed).rejects.toMatchObject({
      reason: "limits",
      message: expect.stringContaining("1 ms"),
    });
    expect(programs()).toEqual([]);
  });

  it("ends when its pages go round in a circle", { timeout: PATIENT }, async () => {
    const root = "<< /Type /Pages /Kids [2 0 R] /Count 1000000 >>";
    await expect(pagesOf(pdfOf([["x"]], { root }))).rejects.toMatchObject({ name: "Error" });
    expect(programs()).toEqual([]);
  });

  it("gives no more text than is taken", { timeout: PATIENT }, async () => {
    const long = Array.from({ length: 5 }, () => Array.from({ length: 40 }, () => "x".repeat(50)));
    const { texts, total } = await pagesOf(pdfOf(long), { ...usual, mostChars: 3000 });
    expect(total).toBe(5);
    expect(texts.map(({ length }) => length > 2000)).toEqual([true, true]);
  });

  it("is given up at once when the call is cancelled", { timeout: PATIENT }, async () => {
    const stop = new AbortController();
    const reading = pagesOf(pdfOf([["x"]]), usual, stop.signal);
    setImmediate(() => stop.abort(new Error("cancelled")));
    await expect(reading).rejects.toThrow("cancelled");
    expect(programs()).toEqual([]);
  });

  /** Those of ours that read PDF files. */
  function programs(): string[] {
    return readdirSync("/proc").filter((pid) => {
      try {
        const parent = /^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return (
          Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("unpdf")
        );
      } catch {
        return false;
      }
    });
  }
});

describe("a notebook", () => {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      { cell_type: "markdown", metadata: {}, source: ["# Title\n", "words"] },
      {
        cell_type: "code",
        metadata: {},
        execution_count: 3,
        source: "print(1)\n",
        outputs: [
          { output_type: "stream", name: "stdout", text: ["10%\r20%\n", "\x1b[31m1\x1b[0m\n"] },
          {
            output_type: "display_data",
            data: { "image/png": "iVBORw0K", "text/plain": ["<Figure>"], "text/html": "<b>" },
            metadata: {},
          },
          { output_type: "display_data", data: { "image/svg+xml": ["<svg>", "</svg>"] }, metadata: {} },
          {
            output_type: "execute_result",
            execution_count: 3,
            data: { "application/json": { a: 1 } },
            metadata: {},
          },
          {
            output_type: "error",
            ename: "ValueError",
            evalue: "bad",
            traceback: ["\x1b[0;31mValueError\x1b[0m: bad"],
          },
        ],
      },
      { cell_type: "code", metadata: {}, execution_count: null, source: [], outputs: [] },
    ],
  };

  it("is shown as cells with their outputs", async () => {
    const bench = await Workbench.open();
    await bench.put("a.ipynb", JSON.stringify(notebook));
    const { output, metadata } = await bench.call("Read", { file_path: "a.ipynb" });
    expect(output.split("\n")).toEqual([
      "[Cell 1: markdown]",
      "# Title",
      "words",
      "",
      "[Cell 2: code, run 3]",
      "print(1)",
      "",
      "[Output of cell 2]",
      "20%",
      "1",
      "",
      "[Output of cell 2]",
      "<Figure>",
      "",
      "[Output of cell 2: image/png, 8 characters, not shown]",
      "",
      "[Output of cell 2: image/svg+xml, 11 characters, not shown]",
      "",
      "[Output of cell 2]",
      '{"a":1}',
      "",
      "[Output of cell 2: error]",
      "ValueError: bad",
      "",
      "[Cell 3: code]",
      "",
      "[Shown as cells, whose text Edit changes; raw=true gives the JSON]",
    ]);
    expect(metadata).toMatchObject({
      cells: 3,
      truncated: false,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const part = await bench.call("Read", { file_path: "a.ipynb", offset: 5, limit: 2 });
    expect(part.output).toMatch(
      /^\[Cell 2: code, run 3\]\nprint\(1\)\n\n\[Lines 5 to 6 of 25\. Continue with offset=7\]/,
    );
  });

  it("is its JSON when that is asked for", async () => {
    const bench = await Workbench.open();
    await bench.put("a.ipynb", JSON.stringify(notebook));
    const { output } = await bench.call("Read", { file_path: "a.ipynb", raw: true });
    expect(JSON.parse(output)).toEqual(notebook);
    const named = await bench.call("Read", { file_path: "a.ipynb", encoding: "utf-8" });
    expect(named.output).toContain('"cell_type":"markdown"');
  });

  it("is text like any other when it is none that we know", async () => {
    const bench = await Workbench.open();
    for (const content of [
      "not JSON\n",
      '{"nbformat": 3, "worksheets": []}\n',
      '{"nbformat": 4, "cells": [1]}\n',
      `{"nbformat": 4, "cells": [{"cell_type": "x", "source": "", "attachments": ${"[".repeat(300)}${"]".repeat(300)}}]}\n`,
      "[]\n",
      "",
    ]) {
      await bench.put("a.ipynb", content);
      const { output } = await bench.call("Read", { file_path: "a.ipynb" });
      expect(output).toBe(content === "" ? "[The file is empty]" : `     1\t${content.trimEnd()}`);
    }
    await bench.put("a.json", JSON.stringify(notebook));
    expect((await bench.call("Read", { file_path: "a.json" })).output).toMatch(/^ {5}1\t\{/);
  });

  it("is shown with marks that are its own, whatever its kinds are called", async () => {
    const bench = await Workbench.open();
    const odd = "image/\u001b[2J\n[Output of cell 9]";
    const cell_type = `code]\n[Cell 2: ${"x".repeat(1000)}`;
    const outputs = [{ output_type: "display_data", data: { [odd]: "y" }, metadata: {} }];
    await bench.put("a.ipynb", JSON.stringify({ nbformat: 4, cells: [{ cell_type, source: "x", outputs }] }));
    const { output } = await bench.call("Read", { file_path: "a.ipynb" });
    expect(output.split("\n").filter((line) => line.startsWith("["))).toEqual([
      expect.stringMatching(/^\[Cell 1: code\]\\u000a\[Cell 2: x{1,100}\]$/),
      "[Output of cell 1: image/\\u001b[2J\\u000a[Output of cell 9], 1 characters, not shown]",
      expect.stringMatching(/^\[Shown as cells/),
    ]);
  });

  it("is shown with the beginning of outputs that are long, and with pictures larger than a page", async () => {
    const bench = await Workbench.open();
    const image = { output_type: "display_data", data: { "image/png": "A".repeat(3 * MiB) }, metadata: {} };
    const stream = { output_type: "stream", name: "stdout", text: "y\n".repeat(20_000) };
    const cells = [
      { cell_type: "code", metadata: {}, execution_count: 1, source: "x", outputs: [image, stream] },
    ];
    await bench.put("a.ipynb", JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells }));
    const { output } = await bench.call("Read", { file_path: "a.ipynb", limit: 10_000 });
    expect(output).toContain(`image/png, ${3 * MiB} characters, not shown`);
    expect(output).toContain("[30000 more characters of this output are not shown]");
    expect(output.length).toBeLessThan(12_000);
  });
});
