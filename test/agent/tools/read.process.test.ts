import { execFileSync, spawn } from "node:child_process";
import { createHash, hash } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync, truncateSync } from "node:fs";
import { open } from "node:fs/promises";
import net from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encode } from "../../../agent/text/encodings.ts";
import { redAndBlue } from "../../helpers/pictures.ts";
import { readPng } from "../../helpers/png.ts";
import { asAnotherUser, failure, Workbench } from "./workbench.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("reading a text", () => {
  it("gives numbered lines, and facts about the file", async () => {
    const bench = await Workbench.open();
    await bench.put("notes.txt", "one\ntwo\n\nfour\n");
    const { output, metadata } = await bench.call("Read", { file_path: "notes.txt" });
    expect(output).toBe("     1\tone\n     2\ttwo\n     3\t\n     4\tfour");
    expect(metadata).toMatchObject({
      path: bench.at("notes.txt"),
      start_line: 1,
      end_line: 4,
      total_lines: 4,
      truncated: false,
      encoding: "utf-8",
      eol: "lf",
      size: 14,
      sha256: createHash("sha256").update("one\ntwo\n\nfour\n").digest("hex"),
    });
    expect(bench.session.seen(bench.at("notes.txt"))).toMatchObject({
      stat: { size: 14n },
      sha256: metadata?.sha256,
    });
  });

  it("goes on page by page, each naming the next offset", async () => {
    const bench = await Workbench.open();
    await bench.put("long.txt", lines(1, 5000).replaceAll("line ", ""));
    const first = await bench.call("Read", { file_path: "long.txt" });
    expect(first.output).toContain("\n  2000\t2000\n\n[Lines 1 to 2000 of 5000. Continue with offset=2001]");
    const second = await bench.call("Read", { file_path: "long.txt", offset: 2001, limit: 2 });
    expect(second.output).toMatch(/^ {2}2001\t2001\n {2}2002\t2002\n/);
    expect(second.metadata).toMatchObject({
      start_line: 2001,
      end_line: 2002,
      next_offset: 2003,
      truncated: true,
    });
  });

  it("ends a page at 25,000 characters, line numbers and line ends among them, or with a limit at 100,000", async () => {
    const bench = await Workbench.open();
    const linesOf = async (input: Record<string, unknown>) => {
      const { output, metadata } = await bench.call("Read", { file_path: "wide.txt", ...input });
      const lines = output.replace(/\n\n\[.*\]$/s, "\n");
      return { chars: lines.length, next: metadata?.next_offset };
    };
    await bench.put("wide.txt", `${"x".repeat(992)}\n`.repeat(200));
    expect(await linesOf({})).toEqual({ chars: 25_000, next: 26 });
    expect(await linesOf({ limit: 2000 })).toEqual({ chars: 100_000, next: 101 });
    // What takes three bytes is one character to whoever reads it, and what takes four is two.
    await bench.put("wide.txt", `${"€".repeat(492)}${"😀".repeat(250)}\n`.repeat(200));
    expect(await linesOf({})).toEqual({ chars: 25_000, next: 26 });
    await bench.put("wide.txt", "\n".repeat(100_000));
    expect(await linesOf({ limit: 100_000 })).toMatchObject({ chars: 100_000, next: 12_501 });
    expect(await linesOf({})).toMatchObject({ chars: 2000 * 8, next: 2001 });
    expect((await linesOf({ limit: 100_000, raw: true })).next).toBe(undefined);
  });

  it("shows the first line of a page however long it is, and cuts a line at 2000 characters", async () => {
    const bench = await Workbench.open();
    await bench.put("one.txt", `${"ü".repeat(5000)}\nend\n`);
    const { output } = await bench.call("Read", { file_path: "one.txt" });
    const shown = `     1\t${"ü".repeat(2000)}… [cut: the line has 10000 bytes]\n     2\tend`;
    const advice =
      "Read the rest with Bash, for example: sed -n 1p FILE | cut -c 2001-4000; or as bytes with encoding=base64";
    expect(output).toBe(`${shown}\n\n[Cut at 2000 characters: line 1. ${advice}]`);
  });

  it("gives the hash of the very bytes that it shows, though the file changes meanwhile", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("file", "a".repeat(1000));
    const script = `const fd = require("fs").openSync(process.argv[1], "r+");
      for (let n = 0; ; n++) require("fs").writeSync(fd, Buffer.alloc(1000, n % 2 ? "a" : "b"), 0, 1000, 0);`;
    const writer = spawn(process.execPath, ["-e", script, file]);
    try {
      for (const began = performance.now(); performance.now() < began + 600; ) {
        const { output, metadata } = await bench.call("Read", { file_path: file, raw: true });
        expect(metadata?.sha256).toBe(hash("sha256", output));
      }
    } finally {
      writer.kill("SIGKILL");
    }
  });

  it("counts from the end with a negative offset", async () => {
    const bench = await Workbench.open();
    await bench.put("three.txt", "1\n2\n3\n");
    expect((await bench.call("Read", { file_path: "three.txt", offset: -2, raw: true })).output).toBe("2\n3");
    await bench.put("open.txt", "1\n2\n3");
    expect((await bench.call("Read", { file_path: "open.txt", offset: -2 })).output).toBe(
      "     2\t2\n     3\t3",
    );
    expect((await bench.call("Read", { file_path: "open.txt", offset: -99 })).output).toMatch(/^ {5}1\t1/);
  });

  it("says that a file is empty, and when an offset is beyond its end", async () => {
    const bench = await Workbench.open();
    await bench.put("empty.txt", "");
    const empty = await bench.call("Read", { file_path: "empty.txt" });
    expect(empty.output).toBe("[The file is empty]");
    expect(empty.metadata).toMatchObject({ total_lines: 0, size: 0 });
    await bench.put("short.txt", "1\n2\n");
    const error = await failure(bench.call("Read", { file_path: "short.txt", offset: 3 }));
    expect(error.code).toBe("INVALID_PARAMETERS");
    expect(error.message).toContain("it has 2 lines");
  });

  const marked = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

  it.each([
    ["UTF-8", Buffer.from("grün\nrot\n"), "utf-8", "lf", ""],
    [
      "UTF-8 with a mark",
      Buffer.from("\ufeffgrün\nrot\n"),
      "utf-8-bom",
      "lf",
      "Written in utf-8 with a byte order mark;",
    ],
    ["UTF-16, little end first", marked("grün\nrot\n"), "utf-16le", "lf", "Written in utf-16le;"],
    ["UTF-16, big end first", marked("grün\nrot\n").swap16(), "utf-16be", "lf", "Written in utf-16be;"],
    ["Latin-1", Buffer.from("grün\nrot\n", "latin1"), "latin1", "lf", "Probably written in latin1;"],
    ["lines of Windows", Buffer.from("grün\r\nrot\r\n"), "utf-8", "crlf", "Written with CRLF line ends;"],
    ["lines of both kinds", Buffer.from("grün\r\nrot\n"), "utf-8", "mixed", "Written with mixed line ends;"],
    [
      "UTF-16 with lines of Windows",
      marked("grün\r\nrot\r\n"),
      "utf-16le",
      "crlf",
      "Written in utf-16le with CRLF line ends;",
    ],
  ])(
    "reads %s, and says how it is written unless that is usual",
    async (_what, bytes, encoding, eol, said) => {
      const bench = await Workbench.open();
      await bench.put("text", bytes);
      const { output, metadata } = await bench.call("Read", { file_path: "text" });
      const [text, note = ""] = output.split("\n\n[");
      expect(text).toBe("     1\tgrün\n     2\trot");
      expect(note.startsWith(said)).toBe(true);
      expect(note.includes("Edit and Write keep that")).toBe(said !== "");
      expect(metadata).toMatchObject({ encoding, eol, total_lines: 2 });
      expect((await bench.call("Read", { file_path: "text", raw: true })).output).toBe("grün\nrot");
    },
  );

  it.each([
    ["shift_jis", "これは設定ファイルです。"],
    ["euc-jp", "これは設定ファイルです。"],
    ["gb18030", "这是一个配置文件，用于说明程序的选项和它们的默认值。"],
    ["big5", "這是一個設定檔，用來說明程式的選項以及它們的預設值。"],
    ["euc-kr", "이것은 프로그램의 설정 파일입니다. 옵션과 기본값을 설명합니다."],
    ["windows-1251", "Это файл настроек программы: здесь описаны её параметры."],
    ["koi8-r", "Это файл настроек программы: здесь описаны ее параметры."],
  ] as const)(
    "recognizes %s in a comment, says that it is a guess, and edits it",
    async (encoding, words) => {
      const bench = await Workbench.open();
      const text = `#include <stdio.h>\n/* ${words} */\nint main(void) { return 0; }\n`;
      const bytes = encode(text, encoding);
      if (!bytes) throw new Error("lacks a character");
      await bench.put("a.c", bytes);
      const { output, metadata } = await bench.call("Read", { file_path: "a.c" });
      expect(output).toContain(`/* ${words} */`);
      expect(output).toContain(
        `[Probably written in ${encoding}; Edit and Write keep that. If it looks wrong`,
      );
      expect(metadata?.encoding).toBe(encoding);
      await bench.call("Edit", { file_path: "a.c", old_string: words, new_string: `${words}!` });
      expect(readFileSync(bench.at("a.c"))).toEqual(encode(text.replace(words, `${words}!`), encoding));
    },
  );

  it.each([
    ["shift_jis", Buffer.from([0x83, 0x5c, 0x0a]), "ソ"],
    ["windows-1251", Buffer.from([0xcf, 0xf0, 0xe8, 0x0a]), "При"],
    ["cp437", Buffer.from([0x82, 0x0a]), "é"],
    ["utf-16le", Buffer.from("grün\n", "utf16le"), "grün"],
    ["utf-8", Buffer.from([0xc3, 0xa9, 0xff, 0xff, 0x0a]), "é\ufffd\ufffd"],
    ["latin1", Buffer.from("ü\n"), "Ã¼"],
  ])("is read in the encoding that the caller names: %s", async (encoding, bytes, text) => {
    const bench = await Workbench.open();
    await bench.put("text", bytes);
    const { output, metadata } = await bench.call("Read", { file_path: "text", encoding, raw: true });
    expect(output).toBe(text);
    expect(metadata?.encoding).toBe(encoding);
  });

  it("takes every last letter of Latin-1 for itself, in a file without a last line end", async () => {
    const bench = await Workbench.open();
    for (let byte = 0xc0; byte <= 0xff; byte++) {
      await bench.put("menu", Buffer.from([...Buffer.from("Menu: caf"), byte]));
      const { output, metadata } = await bench.call("Read", { file_path: "menu", raw: true });
      expect([output, metadata?.encoding]).toEqual([`Menu: caf${String.fromCharCode(byte)}`, "latin1"]);
    }
  });

  it("takes a last letter of Latin-1 for itself on the last page of a long file, and in a line that is cut", async () => {
    const bench = await Workbench.open();
    await bench.put("long", Buffer.from(`${"ascii\n".repeat(20_000)}caf\xe9`, "latin1"));
    const last = await bench.call("Read", { file_path: "long", offset: -1, raw: true });
    expect([last.output, last.metadata?.encoding]).toEqual(["café", "latin1"]);
    await bench.put("cut", `${"ü".repeat(5000)}\nend`);
    const { output, metadata } = await bench.call("Read", { file_path: "cut", raw: true });
    expect([output.slice(0, 3), metadata?.encoding]).toEqual(["üüü", "utf-8"]);
  });

  it("does not join the end of one line and the beginning of the next into a character", async () => {
    const bench = await Workbench.open();
    await bench.put("lines", Buffer.from("\xc3\n\xa9\n", "latin1"));
    const { output } = await bench.call("Read", { file_path: "lines", raw: true });
    expect(output).toBe("Ã\n©");
  });

  it.each([
    "ID3 tags",
    "BZhang",
    "OggS",
    "fLaC",
    "RIFF chunks",
    "RIFF chuWAVE",
    "RIFF chuWEBP",
    "%PDF-1.4 is",
    "let ftyp = 1",
    "def ftyp():",
    "GIF89a is a format",
    "ID3 grün",
    "\x1b[1mOggS\x1b[0m\tand a tab",
  ])("is text though a format begins alike: %j", async (text) => {
    const bench = await Workbench.open();
    await bench.put("file", `${text}\nsecond line\n`);
    const { output } = await bench.call("Read", { file_path: "file", raw: true });
    expect(output).toBe(`${text}\nsecond line`);
    await bench.call("Edit", { file_path: "file", old_string: "second", new_string: "2nd" });
    expect(readFileSync(bench.at("file"), "utf8")).toBe(`${text}\n2nd line\n`);
    const { output: found } = await bench.call("Grep", { pattern: "2nd", path: "." });
    expect(found).toContain("2nd line");
  });

  it("tells Windows-1252 from Latin-1 by the characters that only it has", async () => {
    const bench = await Workbench.open();
    await bench.put("text", Buffer.from([0x93, 0x68, 0x69, 0x94, 0x20, 0x80, 0x0a]));
    const { output, metadata } = await bench.call("Read", { file_path: "text", raw: true });
    expect(output).toBe("“hi” €");
    expect(metadata?.encoding).toBe("windows-1252");
  });

  it("tells Windows-1252 also on a page far from the beginning, as Edit does", async () => {
    const bench = await Workbench.open();
    const far = Buffer.from([0x93, 0x68, 0x69, 0x94, 0x0a]);
    await bench.put("text", Buffer.concat([Buffer.from("gr\xfcn\n".repeat(20_000), "latin1"), far]));
    const { output } = await bench.call("Read", { file_path: "text", offset: -1, raw: true });
    expect(output).toBe("“hi”");
    await bench.call("Edit", { file_path: "text", old_string: output, new_string: "”hi“" });
    const last = await bench.call("Read", { file_path: "text", offset: -1, raw: true });
    expect(last.output).toBe("”hi“");
  });

  it("shows a damaged character as one, and the others as they are", async () => {
    const bench = await Workbench.open();
    await bench.put(
      "text",
      Buffer.concat([Buffer.from("grün schön \n"), Buffer.from([0xfc]), Buffer.from("\n")]),
    );
    const { output, metadata } = await bench.call("Read", { file_path: "text", raw: true });
    expect(output).toBe("grün schön \n\ufffd");
    expect(metadata?.encoding).toBe("utf-8");
  });

  it("pages through any text without losing or repeating a line", async () => {
    const bench = await Workbench.open();
    const line = fc
      .string({ unit: "grapheme-composite", maxLength: 40 })
      .map((text) => text.replace(/[\n\r\0]/g, ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        async (all, limit) => {
          await bench.put("any.txt", Buffer.from(`\ufeff${all.map((text) => `${text}\n`).join("")}`));
          const read: string[] = [];
          for (let offset: number | undefined = 1; offset !== undefined; ) {
            const { output, metadata } = await bench.call("Read", {
              file_path: "any.txt",
              offset,
              limit,
              raw: true,
            });
            read.push(...output.split("\n"));
            expect(metadata?.start_line).toBe(offset);
            offset = metadata?.next_offset as number | undefined;
          }
          expect(read).toEqual(all);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** What this process read until now, from disk or cache; Linux alone tells. */
function bytesRead(): number {
  if (process.platform !== "linux") return 0;
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

describe("a huge file", () => {
  it("shows its first page, its last lines and a later page without being read whole", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("huge.log", lines(1, 3000));
    truncateSync(file, 5 * 1024 ** 3);
    const handle = await open(file, "r+");
    await handle.write(`\n${lines(1, 10)}`, 5 * 1024 ** 3);
    await handle.close();
    const before = bytesRead();
    const first = await bench.call("Read", { file_path: "huge.log" });
    expect(first.metadata).toMatchObject({ end_line: 1535, next_offset: 1536 });
    expect(first.metadata?.total_lines).toBeUndefined();
    const last = await bench.call("Read", { file_path: "huge.log", offset: -2 });
    expect(last.output).toBe("    -2\tline 9\n    -1\tline 10");
    const later = await bench.call("Read", { file_path: "huge.log", offset: 2999, limit: 5 });
    expect(later.output).toContain("  3000\tline 3000\n");
    expect(later.output).toContain("too long to find its end");
    expect(bytesRead() - before).toBeLessThan(256 * 1024 ** 2);
  });

  it("of uneven lines gives the right line at a large offset", async () => {
    const bench = await Workbench.open();
    const all = Array.from({ length: 600_000 }, (_, i) => `${i + 1}${"x".repeat(i % 7 === 0 ? 150 : i % 3)}`);
    await bench.put("uneven.log", `${all.join("\n")}\n`);
    for (const offset of [300_000, 300_001, 599_999, 17]) {
      const { output } = await bench.call("Read", { file_path: "uneven.log", offset, limit: 1, raw: true });
      expect(output).toBe(all[offset - 1]);
    }
    const { output } = await bench.call("Read", { file_path: "uneven.log", offset: -3, limit: 1, raw: true });
    expect(output).toBe(all[599_997]);
    const end = await failure(bench.call("Read", { file_path: "uneven.log", offset: 700_000 }));
    expect(end.message).toContain("it has 600000 lines");
  });

  it("is given up when the call is cancelled", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("huge", lines(1, 3000));
    truncateSync(file, 50 * 1024 ** 3);
    const call = bench.call(
      "Read",
      { file_path: "huge", offset: 3005 },
      { signal: AbortSignal.timeout(100) },
    );
    await expect(call).rejects.toThrow(/timeout/);
  });
});

describe("what is not text", () => {
  it.each([
    ["image/png", PNG],
    ["image/jpeg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0])],
    ["image/gif", Buffer.from("GIF89a\x01\x00")],
    ["image/webp", Buffer.from("RIFF\x10\x00\x00\x00WEBPVP8 ")],
  ])("is returned as it is on request when it is %s, whatever its name", async (mediaType, bytes) => {
    const bench = await Workbench.open();
    await bench.put("picture.txt", bytes);
    const { image, metadata } = await bench.call("Read", { file_path: "picture.txt", raw: true });
    expect(image).toEqual({ media_type: mediaType, base64_data: bytes.toString("base64") });
    expect(metadata).toMatchObject({ size: bytes.length, media_type: mediaType });
  });

  it("is refused when the image is too large for an answer", async () => {
    const bench = await Workbench.open();
    truncateSync(await bench.put("big.png", PNG), 65 * 1024 ** 2);
    const error = await failure(bench.call("Read", { file_path: "big.png" }));
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", hint: expect.stringContaining("smaller copy") });
    const raw = await failure(bench.call("Read", { file_path: "big.png", raw: true }));
    expect(raw).toMatchObject({ code: "PAYLOAD_TOO_LARGE", hint: expect.stringContaining("base64") });
  });

  it("is shown as models take it, whatever the file's name and size", async () => {
    const bench = await Workbench.open();
    const small = redAndBlue(30, 20);
    await bench.put("small.txt", small);
    const asItIs = await bench.call("Read", { file_path: "small.txt" });
    expect(asItIs.image).toEqual({ media_type: "image/png", base64_data: small.toString("base64") });
    expect(asItIs.output).toBe(`[Image ${bench.at("small.txt")}: image/png, ${small.length} bytes, 30x20]`);
    const wide = Buffer.concat([redAndBlue(8100, 24), Buffer.alloc(11 * 1024 ** 2)]);
    await bench.put("wide.png", wide);
    const { output, image, metadata } = await bench.call("Read", { file_path: "wide.png" });
    expect(output).toBe(
      `[Image ${bench.at("wide.png")}: image/png, ${wide.length} bytes, 8100x24, shown as 1568x5]`,
    );
    expect(readPng(Buffer.from(image?.base64_data ?? "", "base64"))).toMatchObject({
      width: 1568,
      height: 5,
    });
    expect(metadata).toMatchObject({
      width: 8100,
      height: 24,
      shown: { width: 1568, media_type: "image/png" },
    });
  });

  it("is told about in words when it is a damaged image", async () => {
    const bench = await Workbench.open();
    await bench.put("cut.png", redAndBlue(30, 20).subarray(0, 80));
    expect(await failure(bench.call("Read", { file_path: "cut.png" }))).toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      message: expect.stringMatching(/cut\.png cannot be shown as an image: it is damaged or incomplete/),
      hint: expect.stringContaining("Get it again"),
    });
  });

  it("is refused with type, size and advice when it is binary", async () => {
    const bench = await Workbench.open();
    await bench.put("a.zip", "PK\x03\x04");
    const zip = await failure(bench.call("Read", { file_path: "a.zip" }));
    expect(zip.message).toBe(`${bench.at("a.zip")} is a binary file (application/zip, 4 bytes)`);
    expect(zip.hint).toContain("encoding=base64");
    expect(zip.hint).toContain("utf-16le");
    expect(zip.hint).toContain("Bash");
    expect(zip.details?.sha256).toBe(createHash("sha256").update("PK\x03\x04").digest("hex"));
    await bench.put("b", Buffer.from([1, 2, 0, 3]));
    expect((await failure(bench.call("Read", { file_path: "b" }))).message).toContain(
      "application/octet-stream",
    );
  });

  it("is read as base64, piece by piece, each naming the next", async () => {
    const bench = await Workbench.open();
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7) % 256));
    await bench.put("b", bytes);
    const pieces: Buffer[] = [];
    for (let byte_offset: number | undefined = 0; byte_offset !== undefined; ) {
      const input = { file_path: "b", encoding: "base64", byte_offset, byte_limit: 300 };
      const { output, metadata } = await bench.call("Read", { ...input, raw: true });
      const piece = Buffer.from(output, "base64");
      expect(metadata).toMatchObject({
        start_byte: byte_offset,
        end_byte: byte_offset + piece.length,
        size: 1000,
        encoding: "base64",
        truncated: metadata?.next_byte_offset !== undefined,
        sha256_of_range: createHash("sha256").update(piece).digest("hex"),
      });
      pieces.push(piece);
      byte_offset = metadata?.next_byte_offset as number | undefined;
    }
    expect(Buffer.concat(pieces)).toEqual(bytes);
    const said = await bench.call("Read", { file_path: "b", encoding: "base64", byte_limit: 3 });
    expect(said.output).toBe("AAcO\n\n[Bytes 0 to 2 of 1000 as base64. Continue with byte_offset=3]");
    const last = await bench.call("Read", { file_path: "b", encoding: "base64", byte_offset: -2 });
    expect(last.output).toBe(
      `${bytes.subarray(-2).toString("base64")}\n\n[Bytes 998 to 999 as base64; the file ends here]`,
    );
    const beyond = await failure(
      bench.call("Read", { file_path: "b", encoding: "base64", byte_offset: 1000 }),
    );
    expect(beyond).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "byte_offset" } });
    await bench.put("empty", "");
    const empty = await bench.call("Read", { file_path: "empty", encoding: "base64" });
    expect(empty.output).toBe("[The file is empty]");
  });

  it("counts in lines or in bytes, and says so when they are mixed", async () => {
    const bench = await Workbench.open();
    await bench.put("a", "x");
    for (const [input, hint] of [
      [{ byte_offset: 1 }, "set encoding to base64"],
      [{ byte_limit: 1, encoding: "utf-8" }, "set encoding to base64"],
      [{ offset: 1, encoding: "base64" }, "Use byte_offset and byte_limit"],
      [{ limit: 1, encoding: "base64" }, "Use byte_offset and byte_limit"],
    ] as const) {
      const error = await failure(bench.call("Read", { file_path: "a", ...input }));
      expect(error.code).toBe("INVALID_PARAMETERS");
      expect(error.hint).toContain(hint);
    }
  });

  it.each([
    ["a folder", (path: string) => execFileSync("mkdir", [path])],
    ["a named pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a device", (path: string) => symlinkSync("/dev/zero", path)],
  ])("is refused at once when it is %s", async (kind, make) => {
    const bench = await Workbench.open();
    make(bench.at("odd"));
    const error = await failure(bench.call("Read", { file_path: "odd" }));
    expect(error.code).toBe("TOOL_EXECUTION_FAILED");
    expect(error.message).toContain(kind);
  });

  it.each([
    ["a named pipe", (file: string) => execFileSync("mkfifo", [file])],
    ["a device", (file: string) => symlinkSync("/dev/tty", file)],
    ["a device", (file: string) => symlinkSync("/dev/zero", file)],
  ])("is refused, and not waited for, by every tool when it is %s", async (kind, make) => {
    const bench = await Workbench.open();
    make(bench.at("odd"));
    const file_path = "odd";
    for (const [tool, input] of [
      ["Read", { file_path }],
      ["Read", { file_path, encoding: "base64" }],
      ["Edit", { file_path, old_string: "a", new_string: "b" }],
      ["Write", { file_path, content: "x" }],
      ["ApplyPatch", { patch: "--- a/odd\n+++ b/odd\n@@ -1 +1 @@\n-a\n+b\n" }],
      ["Grep", { pattern: "x", path: file_path }],
    ] as const) {
      const error = await failure(bench.call(tool, input));
      expect([tool, error.code, error.message]).toEqual([
        tool,
        "TOOL_EXECUTION_FAILED",
        expect.stringContaining(`is ${kind}, not a file`),
      ]);
    }
  });

  it("is refused when it is a socket", async () => {
    const bench = await Workbench.open();
    const server = net.createServer().listen(bench.at("socket"));
    const error = await failure(bench.call("Read", { file_path: "socket" }));
    expect(error.message).toContain("a socket");
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("a file that cannot be read", () => {
  it("names up to three that are spelled alike when it does not exist", async () => {
    const bench = await Workbench.open();
    for (const name of [
      "config.json",
      "confg.yaml.json",
      "configs.json",
      "Config.json",
      "conf.json",
      "other",
    ])
      await bench.put(name, "x");
    const error = await failure(bench.call("Read", { file_path: "confg.json" }));
    expect(error.code).toBe("NOT_FOUND");
    expect(error.message).toMatch(/Did you mean .*home\/config\.json/);
    expect(error.details?.suggestions).toHaveLength(3);
    await bench.put("home", "x");
    const short = await failure(bench.call("Read", { file_path: "nope" }));
    expect(short.details?.suggestions, "half of its letters are others").toBeUndefined();
    const far = await failure(bench.call("Read", { file_path: "no/such/file" }));
    expect(far.hint).toContain(`Only ${bench.home} exists;`);
  });

  it.each([
    [
      "narrow spaces, as in names of screenshots",
      "Screen 1.00 PM.png",
      "Screen 1.00\u202fPM.png",
      "Screen 1.01 PM.png",
    ],
    ["curly quotes", 'Anna\'s "list".txt', "Anna\u2019s \u201clist\u201d.txt", "Anna_s _list_.txt"],
    ["typed quotes", "Anna\u2019s list.txt", "Anna's list.txt", "Annas list.txt"],
    ["long dashes", "a - b", "a \u2013 b", "a _ b"],
    ["accents and quotes together", "caf\u00e9 'x'", "cafe\u0301 \u2018x\u2019", "cafe 'x'"],
  ])("names first the one that looks the same, with %s", async (_what, asked, there, near) => {
    const bench = await Workbench.open();
    for (const name of [near, there, `${asked.slice(0, -1)}_`]) await bench.put(name, "x");
    const error = await failure(bench.call("Read", { file_path: asked }));
    expect(error.code).toBe("NOT_FOUND");
    expect(error.details?.suggestions).toHaveProperty("0", bench.at(there));
    expect((await bench.call("Read", { file_path: bench.at(there) })).output).toBe("     1\tx");
  });

  it("is one below a file, or at the end of a circle", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "x");
    expect((await failure(bench.call("Read", { file_path: "file/below" }))).message).toContain(
      "a part of the path is a file",
    );
    symlinkSync("loop", bench.at("loop"));
    expect((await failure(bench.call("Read", { file_path: "loop" }))).message).toContain("loop");
  });

  it("is said to be closed by the system", async () => {
    const bench = await Workbench.open();
    chmodSync(await bench.put("closed", "x"), 0);
    const error = await asAnotherUser(bench, () => failure(bench.call("Read", { file_path: "closed" })));
    expect(error.code).toBe("PERMISSION_DENIED");
    expect(error.hint).toContain("permission");
  });

  it("is read though its size says nothing, as in /proc", async () => {
    const bench = await Workbench.open();
    const { output } = await bench.call("Read", { file_path: "/proc/version" });
    expect(output).toMatch(/^ {5}1\tLinux version/);
    expect((await bench.call("Read", { file_path: "/proc/meminfo", offset: -1 })).output).toMatch(/^ +\d+\t/);
  });
});

function lines(from: number, to: number): string {
  let text = "";
  for (let line = from; line <= to; line++) text += `line ${line}\n`;
  return text;
}
