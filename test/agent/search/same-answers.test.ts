/** Both engines give the same answer, over trees made at random. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Workbench } from "../tools/workbench.ts";
import { ENGINES, searcher } from "./searching.ts";

const name = fc.constantFrom(
  "a",
  "b.ts",
  "B.ts",
  "c.js",
  ".h",
  ".i.ts",
  "ü",
  "x y",
  "-d",
  "[e]",
  "f{g}",

  "!k",
  "#m",
  "n\\o",
);
const rule = fc.constantFrom(
  "*.js",
  "!c.js",
  "/a",
  "a/",
  "b.*",
  "!b.ts",
  "**/ü",
  "a/**",
  "#comment",
  "",
  "x y",
  "[e]",
  "\\[e\\]",
  ".*",
  "!.h",
  "/*/c.js",
  "*",
  "!*/",
  "\\#m",
);
const text = fc.constantFrom(
  "alpha\n",
  "Alpha beta\nalpha\n",
  "beta\r\n\r\nalpha beta\r\n",
  "",
  "alpha\n\0",
  "gr\xfcn alpha\n",
  "no end alpha",
);
const file = fc.record({ path: fc.array(name, { minLength: 1, maxLength: 4 }), text, marked: fc.boolean() });
const rules = fc.record({
  folder: fc.array(name, { maxLength: 2 }),
  lines: fc.array(rule, { maxLength: 4 }),
});
const tree = fc.record({
  files: fc.array(file, { maxLength: 25 }),
  rules: fc.array(rules, { maxLength: 3 }),
  repository: fc.boolean(),
  nested: fc.boolean(),
});
const glob = fc.constantFrom(
  "*",
  "*.ts",
  "**/*.ts",
  "a/**",
  "*/*",
  "{a,b}*",
  "[!a]*",
  ".*",
  "?",
  "**/a/*",
  "./*",
  "x y",
  "[e]",
  "\\[e\\]",
  "f{g}",
  "{a,ü}*",
  "{b,c}.{ts,js}",
  "{a,{b,c}}*",
  "{a..c}*",
  "-d",
  "**/.h/**",
  "#m",
);
const flags = fc.record({ show_hidden: fc.boolean(), include_ignored: fc.boolean() });

function grown(
  root: string,
  { files, rules, repository, nested }: typeof tree extends fc.Arbitrary<infer T> ? T : never,
) {
  const put = (names: readonly string[], content: string | Buffer) => {
    const place = path.join(root, ...names);
    try {
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, content);
    } catch {
      // A file stands where a folder was to be, or the other way round.
    }
  };
  mkdirSync(root, { recursive: true });
  if (repository) mkdirSync(path.join(root, ".git"));
  if (nested) put(["a", ".git", "config"], "alpha\n");
  for (const { path: names, text, marked } of files) {
    put(names, marked ? Buffer.from(`\ufeff${text}`, "utf16le") : Buffer.from(text, "latin1"));
  }
  for (const { folder, lines } of rules) put([...folder, ".gitignore"], `${lines.join("\n")}\n`);
}

describe("with ripgrep and without", () => {
  it("the same files are found, and the same lines", async () => {
    const bench = await Workbench.open();
    const [rg, own] = ENGINES.map(([, engines]) => searcher(bench, engines));
    if (!rg || !own) throw new Error("two engines");
    // Above all trees, and so of no concern to any.
    await bench.put(".gitignore", "*.ts\n");
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        tree,
        glob,
        flags,
        fc.constantFrom(0, 1),
        fc.array(name, { maxLength: 1 }),
        async (wanted, pattern, flag, context, below) => {
          const root = bench.at(`tree-${number++}`);
          grown(root, wanted);
          const inner = path.join(root, ...below);
          const folder = below.length > 0 && mayBeFolder(inner) ? inner : root;
          const byGlob = { pattern, path: folder, ...flag };
          expect((await rg.glob(byGlob)).metadata?.files).toEqual((await own.glob(byGlob)).metadata?.files);
          const byLine = { pattern: "alpha$|beta", path: folder, include: pattern, context, ...flag };
          expect((await rg.grep(byLine)).output).toBe((await own.grep(byLine)).output);
          const page = { ...byLine, after: "", max_results: 2 };
          const first = [await rg.grep(page), await own.grep(page)];
          expect(first[0]?.output).toBe(first[1]?.output);
          const after = first[0]?.metadata?.next_after;
          if (after === undefined) return;
          expect((await rg.grep({ ...page, after })).output).toBe(
            (await own.grep({ ...page, after })).output,
          );
        },
      ),
      { numRuns: 60, endOnFailure: false },
    );
  }, 120_000);
});

function mayBeFolder(place: string): boolean {
  try {
    mkdirSync(place, { recursive: true });
    return true;
  } catch {
    return false;
  }
}
