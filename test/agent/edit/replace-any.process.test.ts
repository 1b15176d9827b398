/**
 * Edit against a specification of its own: a file is a row of tokens (characters with their bytes, line ends, bytes that
 * are no text), and is searched and cut token by token.
 */
import { readFileSync, statSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../helpers/long-mode.ts";
import { failure, Workbench } from "../tools/workbench.ts";

interface Token {
  /** Undefined: bytes that no text finds. */
  readonly text: string | undefined;
  readonly bytes: Buffer;
}

interface Kind {
  readonly name: string;
  readonly encoding: string | undefined;
  readonly mark: Buffer;
  readonly alphabet: readonly string[];
  readonly bytesOf: (text: string) => Buffer;
  readonly strange: readonly Buffer[];
}

const NO_MARK = Buffer.alloc(0);
const swap = (bytes: Buffer) => Buffer.from(bytes).swap16();
const utf16 = (text: string) => Buffer.from(text, "utf16le");

const SHIFT_JIS: Readonly<Record<string, number[]>> = {
  ソ: [0x83, 0x5c],
  表: [0x95, 0x5c],
  ア: [0x83, 0x41],
  "\\": [0x5c],
  A: [0x41],
  "\n": [0x0a],
  "\r": [0x0d],
};
const GB18030: Readonly<Record<string, number[]>> = {
  中: [0xd6, 0xd0],
  丂: [0x81, 0x40],
  "@": [0x40],
  "0": [0x30],
  "\n": [0x0a],
  "\r": [0x0d],
};

const byTable = (table: Readonly<Record<string, number[]>>) => (text: string) =>
  Buffer.from([...text].flatMap((character) => table[character] ?? []));

const KINDS: readonly Kind[] = [
  {
    name: "UTF-8",
    encoding: undefined,
    mark: NO_MARK,
    alphabet: ["a", "b", "ü", "€", "😀", "\u0301"],
    bytesOf: (text) => Buffer.from(text),
    strange: [],
  },
  {
    name: "UTF-8 with a mark and bytes that are none",
    encoding: "utf-8",
    mark: Buffer.from([0xef, 0xbb, 0xbf]),
    alphabet: ["a", "b", "ü", "😀"],
    bytesOf: (text) => Buffer.from(text),
    strange: [Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xf0, 0x9f])],
  },
  {
    name: "UTF-16, little end first",
    encoding: undefined,
    mark: Buffer.from([0xff, 0xfe]),
    alphabet: ["a", "\u6161", "\u0d0a", "😀"],
    bytesOf: utf16,
    strange: [Buffer.from([0x00, 0xdc])],
  },
  {
    name: "UTF-16, big end first",
    encoding: undefined,
    mark: Buffer.from([0xfe, 0xff]),
    alphabet: ["a", "\u6100", "\u0061", "😀"],
    bytesOf: (text) => swap(utf16(text)),
    strange: [],
  },
  {
    name: "Latin-1",
    encoding: "latin1",
    mark: NO_MARK,
    alphabet: ["a", "Ã", "¼", "ü"],
    bytesOf: (text) => Buffer.from(text, "latin1"),
    strange: [],
  },
  {
    name: "Shift_JIS",
    encoding: "shift_jis",
    mark: NO_MARK,
    alphabet: ["ソ", "表", "ア", "\\", "A"],
    bytesOf: byTable(SHIFT_JIS),
    strange: [],
  },
  {
    name: "GB18030",
    encoding: "gb18030",
    mark: NO_MARK,
    alphabet: ["中", "丂", "@", "0"],
    bytesOf: byTable(GB18030),
    strange: [],
  },
];

const ENDS = ["\n", "\r\n"];

/** A file of one kind, with a piece of it, and a text to put there. */
function cases(kind: Kind) {
  const character = fc.constantFrom(...kind.alphabet);
  const token = fc.oneof(
    { weight: 8, arbitrary: character.map((text): Token => ({ text, bytes: kind.bytesOf(text) })) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(...ENDS).map((end): Token => ({ text: "\n", bytes: kind.bytesOf(end) })),
    },
    ...(kind.strange.length > 0
      ? [
          {
            weight: 1,
            arbitrary: fc.constantFrom(...kind.strange).map((bytes): Token => ({ text: undefined, bytes })),
          },
        ]
      : []),
  );
  return fc.record({
    tokens: fc.array(token, { minLength: 1, maxLength: 30 }),
    at: fc.nat(29),
    length: fc.integer({ min: 1, max: 6 }),
    added: fc.array(fc.oneof(character, fc.constantFrom(...ENDS)), { maxLength: 8 }),
    givenEnd: fc.constantFrom(...ENDS),
    all: fc.boolean(),
  });
}

const textOf = (tokens: readonly Token[]) => tokens.map(({ text }) => text).join("");
const bytesOf = (tokens: readonly Token[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));
const plain = (text: string) => text.replaceAll("\r\n", "\n");

/** Where a row of tokens stands in another. */
function placesOf(wanted: readonly Token[], tokens: readonly Token[]): number[] {
  const isAt = (place: number) =>
    wanted.every((token, index) => token.text !== undefined && tokens[place + index]?.text === token.text);
  return tokens.map((_, place) => place).filter(isAt);
}

/** The end that new lines get in place of some tokens; undefined: the piece has several kinds of its own. */
function endFor(tokens: readonly Token[], from: number, to: number): Buffer | "given" | undefined {
  const isEnd = ({ text }: Token) => text === "\n";
  const own = tokens.slice(from, to).filter(isEnd);
  const different = new Set(own.map(({ bytes }) => bytes.toString("hex")));
  if (different.size > 1) return undefined;
  const end = own[0] ?? tokens.slice(to).find(isEnd) ?? tokens.slice(0, from).findLast(isEnd);
  return end?.bytes ?? "given";
}

describe.each(KINDS)("any edit of a file in $name", (kind) => {
  it("does what is specified, or is refused and changes nothing", async () => {
    const bench = await Workbench.open();
    await fc.assert(
      fc.asyncProperty(cases(kind), async ({ tokens, at, length, added, givenEnd, all }) => {
        const from = at % tokens.length;
        const old = tokens.slice(from, from + length);
        const oldText = textOf(old).replaceAll("\n", givenEnd);
        const newText = added.join("");
        const isText = old.every(({ text }) => text !== undefined);
        fc.pre(oldText !== "" && plain(oldText) !== plain(newText) && isText);
        const before = Buffer.concat([kind.mark, bytesOf(tokens)]);
        const file = await bench.put("file", before);
        const places = placesOf(old, tokens);
        const call = bench.call("Edit", {
          file_path: "file",
          old_string: oldText,
          new_string: newText,
          ...(all && { replace_all: true }),
          ...(kind.encoding && { encoding: kind.encoding }),
        });
        if (places.length !== 1 && !all) {
          const error = await failure(call);
          expect(error.details).toMatchObject({ reason: "not_unique", occurrences: places.length });
          expect(readFileSync(file)).toEqual(before);
          return;
        }
        const chosen: number[] = [];
        for (const place of places) {
          if (place >= (chosen.at(-1) ?? -length) + old.length) chosen.push(place);
        }
        const { metadata } = await call;
        expect(metadata?.replacements).toBe(chosen.length);
        const pieces: (Buffer | undefined)[] = [kind.mark];
        let done = 0;
        for (const place of chosen) {
          const end = endFor(tokens, place, place + old.length);
          const replacement = added
            .join("")
            .split(/(\r?\n)/)
            .map((part) => (!/^\r?\n$/.test(part) || end === "given" ? kind.bytesOf(part) : end));
          pieces.push(bytesOf(tokens.slice(done, place)), ...replacement);
          done = place + old.length;
        }
        pieces.push(bytesOf(tokens.slice(done)));
        const after = readFileSync(file);
        const known = pieces.filter((piece) => piece !== undefined);
        if (known.length === pieces.length) {
          expect(after).toEqual(Buffer.concat(known));
          return;
        }
        // Which of its own ends a new line gets is not specified here; all else is.
        const withoutReturns = (bytes: Buffer) =>
          bytes.toString("hex").replaceAll("0d00", "").replaceAll("000d", "").replaceAll("0d", "");
        const lines = pieces.map((piece) => piece ?? kind.bytesOf("\n"));
        expect(withoutReturns(after)).toBe(withoutReturns(Buffer.concat(lines)));
        const first = chosen[0] ?? 0;
        const head = Buffer.concat([kind.mark, bytesOf(tokens.slice(0, first))]);
        const tail = bytesOf(tokens.slice(done));
        expect(after.subarray(0, head.length)).toEqual(head);
        expect(after.subarray(after.length - tail.length)).toEqual(tail);
      }),
      { numRuns: tries(150) },
    );
  });

  it("is refused when the text is not there, and changes nothing", async () => {
    const bench = await Workbench.open();
    const text = fc.array(fc.constantFrom(...kind.alphabet, "\n"), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(cases(kind), text, async ({ tokens }, wanted) => {
        const old = wanted.map((one) => ({ text: one, bytes: kind.bytesOf(one) }));
        fc.pre(placesOf(old, tokens).length === 0);
        const before = Buffer.concat([kind.mark, bytesOf(tokens)]);
        const file = await bench.put("file", before);
        const { mtimeNs } = statSync(file, { bigint: true });
        const error = await failure(
          bench.call("Edit", {
            file_path: "file",
            old_string: wanted.join(""),
            new_string: "#",
            replace_all: true,
            ...(kind.encoding && { encoding: kind.encoding }),
          }),
        );
        expect(["not_found", "not_in_encoding"]).toContain(error.details?.reason);
        expect(readFileSync(file)).toEqual(before);
        expect(statSync(file, { bigint: true }).mtimeNs).toBe(mtimeNs);
      }),
      { numRuns: tries(60) },
    );
  });
});
