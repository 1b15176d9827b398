import { execFileSync, spawn } from "node:child_process";
import { createHash, hash } from "node:crypto";
import { chmodSync, symlinkSync, truncateSync } from "node:fs";
import { open } from "node:fs/promises";
import net from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
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
    expect(bench.session.seen(bench.at("notes.txt"))).toMatchObject({ size: 14 });
  });

  it("goes on page by page, each naming the next offset", async () => {
    const bench = await Workbench.open();
    await bench.put("long.txt", lines(1, 5000));
    const first = await bench.call("Read", { file_path: "long.txt" });
    expect(first.output).toContain(
      "\n  2000\tline 2000\n\n[Lines 1 to 2000 of 5000. Continue with offset=2001]",
    );
    const second = await bench.call("Read", { file_path: "long.txt", offset: 2001, limit: 2 });
    expect(second.output).toMatch(/^ {2}2001\tline 2001\n {2}2002\tline 2002\n/);
    expect(second.metadata).toMatchObject({
      start_line: 2001,
      end_line: 2002,
      next_offset: 2003,
      truncated: true,
    });
  });

  it("ends a page at 50 KiB, and cuts a line at 2000 characters", async () => {
    const bench = await Workbench.open();
    await bench.put("wide.txt", `${`${"x".repeat(999)}\n`.repeat(200)}`);
    const { metadata } = await bench.call("Read", { file_path: "wide.txt" });
    expect(metadata).toMatchObject({ end_line: 51, next_offset: 52 });
    await bench.put("one.txt", `${"ü".repeat(5000)}\nend\n`);
    const { output } = await bench.call("Read", { file_path: "one.txt" });
    expect(output).toBe(`     1\t${"ü".repeat(2000)}… [cut: the line has 10000 bytes]\n     2\tend`);
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

  it.each([
    ["UTF-8 with a mark", Buffer.from("\ufeffgrün\nrot\n"), "utf-8-bom", "lf"],
    ["UTF-16, little end first", Buffer.from("\ufeffgrün\nrot\n", "utf16le"), "utf-16le", "lf"],
    ["UTF-16, big end first", Buffer.from("\ufeffgrün\nrot\n", "utf16le").swap16(), "utf-16be", "lf"],
    ["Latin-1", Buffer.from("grün\nrot\n", "latin1"), "latin1", "lf"],
    ["lines of Windows", Buffer.from("grün\r\nrot\r\n"), "utf-8", "crlf"],
    ["lines of both kinds", Buffer.from("grün\r\nrot\n"), "utf-8", "mixed"],
  ])("reads %s", async (_what, bytes, encoding, eol) => {
    const bench = await Workbench.open();
    await bench.put("text", bytes);
    const { output, metadata } = await bench.call("Read", { file_path: "text" });
    expect(output).toBe("     1\tgrün\n     2\trot");
    expect(metadata).toMatchObject({ encoding, eol, total_lines: 2 });
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

describe("a huge file", () => {
  it("shows its first page, its last lines and a later page without being read whole", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("huge.log", lines(1, 3000));
    truncateSync(file, 5 * 1024 ** 3);
    const handle = await open(file, "r+");
    await handle.write(`\n${lines(1, 10)}`, 5 * 1024 ** 3);
    await handle.close();
    const began = performance.now();
    const first = await bench.call("Read", { file_path: "huge.log" });
    expect(first.metadata).toMatchObject({ end_line: 2000, next_offset: 2001 });
    expect(first.metadata?.total_lines).toBeUndefined();
    const last = await bench.call("Read", { file_path: "huge.log", offset: -2 });
    expect(last.output).toBe("    -2\tline 9\n    -1\tline 10");
    const later = await bench.call("Read", { file_path: "huge.log", offset: 2999, limit: 5 });
    expect(later.output).toContain("  3000\tline 3000\n");
    expect(later.output).toContain("too long to look for its end");
    expect(performance.now() - began).toBeLessThan(2000);
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
  ])("is returned when it is %s, whatever its name", async (mediaType, bytes) => {
    const bench = await Workbench.open();
    await bench.put("picture.txt", bytes);
    const { image, metadata } = await bench.call("Read", { file_path: "picture.txt" });
    expect(image).toEqual({ media_type: mediaType, base64_data: bytes.toString("base64") });
    expect(metadata).toMatchObject({ size: bytes.length, media_type: mediaType });
  });

  it("is refused when the image is too large for an answer", async () => {
    const bench = await Workbench.open();
    truncateSync(await bench.put("big.png", PNG), 11 * 1024 ** 2);
    expect((await failure(bench.call("Read", { file_path: "big.png" }))).code).toBe("PAYLOAD_TOO_LARGE");
  });

  it("is refused with type, size and advice when it is binary", async () => {
    const bench = await Workbench.open();
    await bench.put("a.pdf", "%PDF-1.7\n");
    const pdf = await failure(bench.call("Read", { file_path: "a.pdf" }));
    expect(pdf.message).toBe(`${bench.at("a.pdf")} is a binary file (application/pdf, 9 bytes)`);
    expect(pdf.hint).toContain("Bash");
    await bench.put("b", Buffer.from([1, 2, 0, 3]));
    expect((await failure(bench.call("Read", { file_path: "b" }))).message).toContain(
      "application/octet-stream",
    );
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
    const far = await failure(bench.call("Read", { file_path: "no/such/file" }));
    expect(far.hint).toContain(`Only ${bench.home} exists of it`);
  });

  it("is one below a file, or at the end of a circle", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "x");
    expect((await failure(bench.call("Read", { file_path: "file/below" }))).message).toContain(
      "a part of the path is a file",
    );
    symlinkSync("loop", bench.at("loop"));
    expect((await failure(bench.call("Read", { file_path: "loop" }))).message).toContain("circle");
  });

  it("is said to be closed by the system", async () => {
    const bench = await Workbench.open();
    chmodSync(await bench.put("closed", "x"), 0);
    const error = await asAnotherUser(bench, () => failure(bench.call("Read", { file_path: "closed" })));
    expect(error.code).toBe("PERMISSION_DENIED");
    expect(error.hint).toContain("permissions");
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
