/** Picture files: what is kept of them, and what is told of their content. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looksOneColour, sizeOf } from "../../../agent/desktop/one-colour.ts";
import { Album, Pictures } from "../../../agent/pictures/pictures.ts";
import { type Colour, makePng } from "../../helpers/png.ts";

describe("kept pictures", () => {
  it("are the newest twenty, and none once it is closed", async () => {
    const pictures = new Album();
    const files: string[] = [];
    for (let i = 0; i < 23; i++) files.push(await pictures.keep(Buffer.from([i]), "png"));
    expect(files.map((file) => existsSync(file))).toEqual(files.map((_, i) => i >= 3));
    const folder = path.dirname(files[0] ?? "");
    expect(readdirSync(folder)).toHaveLength(20);
    pictures.close();
    expect(existsSync(folder)).toBe(false);
  });

  it("find a new folder when theirs was cleaned up", async () => {
    const pictures = new Album();
    const first = await pictures.keep(Buffer.from("a"), "png");
    rmSync(path.dirname(first), { recursive: true });
    const second = await pictures.keep(Buffer.from("b"), "png");
    expect(existsSync(second)).toBe(true);
    pictures.close();
    expect(existsSync(path.dirname(second))).toBe(false);
  });

  it("leave no scratch file, even of what failed", async () => {
    const pictures = new Album();
    let folder = "";
    const failing = pictures.withScratch("png", async (file) => {
      folder = path.dirname(file);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(existsSync(folder)).toBe(false);
  });
});

it("one caller's pictures are closed to others, only read by itself, and gone with its grant", async () => {
  const pictures = new Pictures();
  const [hers, his] = [pictures.of("hers"), pictures.of("his")];
  expect(pictures.protectedFrom("hers")).toEqual({ closed: [], program: [] });
  const [file = "", other = ""] = [
    await hers.keep(Buffer.from("a"), "png"),
    await his.keep(Buffer.from("b"), "png"),
  ];
  const [own, others] = [path.dirname(file), path.dirname(other)];
  expect(pictures.protectedFrom("hers")).toEqual({ closed: [others], program: [own] });
  expect(pictures.protectedFrom(undefined)).toEqual({ closed: [own, others], program: [] });
  pictures.endGrant("his");
  expect(existsSync(others)).toBe(false);
  expect(pictures.protectedFrom("hers")).toEqual({ closed: [], program: [own] });
  pictures.close();
  expect(existsSync(own)).toBe(false);
});

describe("a picture's file", () => {
  it.each([
    ["nothing", Buffer.alloc(0)],
    ["text", Buffer.from("hello, this is no picture at all, but long enough")],
    ["the start of a PNG", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
    ["the start of a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0])],
    [
      "a JPEG whose segments lead out of it",
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, ...Array(20).fill(0)]),
    ],
  ])("is none when it is %s", async (_what, bytes) => {
    expect(sizeOf(bytes)).toBeUndefined();
    expect(await looksOneColour(bytes)).toBe(false);
  });

  const filters = fc.array(fc.constantFrom(0, 1, 2, 3, 4), { minLength: 1, maxLength: 5 });
  const byte = fc.nat(255);
  const colours = fc.tuple(byte, byte, byte);

  it("of one colour is known, however its rows are filtered", async () => {
    await fc.assert(
      fc.asyncProperty(
        colours,
        filters,
        fc.integer({ min: 2, max: 60 }),
        async (colour, rowFilters, width) => {
          const png = makePng(width, 40, () => colour, rowFilters);
          expect(sizeOf(png)).toEqual({ format: "png", width, height: 40 });
          expect(await looksOneColour(png)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("with a single other pixel is not of one colour", async () => {
    const place = fc.tuple(fc.nat(29), fc.nat(19));
    await fc.assert(
      fc.asyncProperty(colours, filters, place, async (colour, rowFilters, [x, y]) => {
        const other: Colour = [colour[0] ^ 1, colour[1], colour[2]];
        const png = makePng(30, 20, (px, py) => (px === x && py === y ? other : colour), rowFilters);
        expect(await looksOneColour(png)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});
