/** Any page of any text against a specification of its own: the file's lines, cut out of the whole. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8Of } from "../../../agent/text/chunks.ts";
import { collectPage } from "../../../agent/text/lines.ts";
import { failure, Workbench } from "./workbench.ts";

const character = fc.constantFrom("a", "b", " ", "ü", "€", "😀", "\u0301", "\r", "\u2028");
const content = fc
  .array(
    fc
      .tuple(fc.array(character, { maxLength: 6 }), fc.constantFrom("\n", "\r\n"))
      .map(([text, end]) => text.join("") + end),
    { maxLength: 25 },
  )
  .chain((lines) => fc.array(character, { maxLength: 4 }).map((last) => lines.join("") + last.join("")));

/** Lines end with `\n` or `\r\n`; an end at the very end begins no further line. */
function linesOf(text: string): string[] {
  const lines = text
    .split("\n")
    .map((line, index, all) => (index < all.length - 1 ? line.replace(/\r$/, "") : line));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const ENCODINGS = [
  ["UTF-8", (text: string) => Buffer.from(text)],
  ["UTF-8 with a mark", (text: string) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16, little end first", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16, big end first", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
] as const;

describe.each(ENCODINGS)("any page of a text in %s", (_name, bytesOf) => {
  it("holds the lines that were asked for, from either end", async () => {
    const bench = await Workbench.open();
    const wanted = fc.record({
      text: content,
      offset: fc.integer({ min: -30, max: 30 }),
      limit: fc.integer({ min: 1, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(wanted, async ({ text, offset, limit }) => {
        const lines = linesOf(text);
        await bench.put("any", bytesOf(text));
        const call = bench.call("Read", { file_path: "any", offset, limit, raw: true });
        const first = offset < 0 ? Math.max(0, lines.length + offset) : Math.max(0, offset - 1);
        if (first >= lines.length && lines.length > 0) {
          expect((await failure(call)).message).toContain(`it has ${lines.length} line`);
          return;
        }
        const { output, metadata } = await call;
        const page = lines.slice(first, first + limit);
        expect(output).toBe(page.join("\n"));
        if (lines.length === 0) return;
        expect(metadata).toMatchObject({
          start_line: first + 1,
          end_line: first + page.length,
          total_lines: lines.length,
          truncated: first + limit < lines.length,
        });
        expect(metadata?.next_offset).toBe(first + limit < lines.length ? first + limit + 1 : undefined);
      }),
      { numRuns: 120 },
    );
  });

  it("joins the others to the whole, though characters lie across the pieces that are read", async () => {
    const bench = await Workbench.open();
    // Lines of odd lengths, over several pieces of 256 KiB; each run shifts all characters by a byte or two.
    const line = (number: number) => `${number} ${"€ü😀".repeat(number % 9)}`;
    const all = Array.from({ length: 12_000 }, (_, index) => line(index));
    for (const shift of ["", "x", "xy"]) {
      await bench.put("large", bytesOf(`${shift}\n${all.join("\r\n")}`));
      const read: string[] = [];
      for (let offset: number | undefined = 2; offset !== undefined; ) {
        const input = { file_path: "large", offset, limit: 1999, raw: true };
        const { output, metadata } = await bench.call("Read", input);
        read.push(...output.split("\n"));
        offset = metadata?.next_offset as number | undefined;
      }
      expect(read).toEqual(all);
    }
  });
});

it("a page is never longer than it may be, and never shorter than it could be", async () => {
  const bench = await Workbench.open();
  const line = fc
    .tuple(fc.array(character, { maxLength: 30 }), fc.constantFrom(0, 1, 10, 500, 1990, 2100))
    .map(([text, more]) => `${text.join("").replaceAll("\r", "r")}${"z".repeat(more)}`);
  const wanted = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 120 }),
    limit: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
    bytesOf: fc.constantFrom(...ENCODINGS.map(([, bytesOf]) => bytesOf)),
  });
  await fc.assert(
    fc.asyncProperty(wanted, async ({ lines, limit, bytesOf }) => {
      await bench.put("any", bytesOf(`${lines.join("\n")}\n`));
      const { output, metadata } = await bench.call("Read", { file_path: "any", limit });
      const end = Number(metadata?.end_line);
      const shown = output.split("\n").slice(0, end);
      const chars = shown.join("\n").length + 1;
      const most = limit === undefined ? 25_000 : 100_000;
      expect(chars).toBeLessThanOrEqual(most);
      if (metadata?.truncated !== true || end === limit) return;
      const { output: next } = await bench.call("Read", { file_path: "any", offset: end + 1, limit: 1 });
      expect(chars + (next.split("\n")[0]?.length ?? 0) + 1).toBeGreaterThan(most);
    }),
    { numRuns: 150 },
  );
});

describe("lines of bytes that come in any pieces", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 });

  async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer, void> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }

  const request = {
    firstLine: 1,
    maxLines: 1000,
    maxChars: 1_000_000,
    charsOf: ({ length }: { length: number }) => length,
    keepPerLine: 10_000,
    longestLine: 1_000_000,
    countAll: true,
  };

  it.each([
    ["UTF-8", undefined],
    ["UTF-16, little end first", false],
    ["UTF-16, big end first", true],
  ])("are whole in %s", async (_name, bigEndian) => {
    await fc.assert(
      fc.asyncProperty(content, cuts, async (text, sizes) => {
        const utf16 = Buffer.from(text, "utf16le");
        const bytes = bigEndian === undefined ? Buffer.from(text) : bigEndian ? utf16.swap16() : utf16;
        const pieces = inPieces(bytes, sizes);
        const utf8 = bigEndian === undefined ? pieces : utf8Of(pieces, bigEndian);
        const page = await collectPage(utf8, { line: 1, offset: 0 }, request);
        expect(page.lines.map((line) => line.bytes.toString("utf8"))).toEqual(linesOf(text));
        expect(page.totalLines).toBe(linesOf(text).length);
      }),
      { numRuns: 300 },
    );
  });
});
