/** Pages, comments and messages name only npm scripts that package.json has, and benches that there are. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BENCHES } from "../../bench/benches.ts";
import { ROOT } from "../../scripts/tree.ts";

const FOLDERS = ["agent", "bench", "docs", "scripts", "shared", "test", "web", "worker"];
const FILES = ["README.md", "CONTRIBUTING.md", ".ci/run", "relay.capnp", ...FOLDERS.flatMap(textsUnder)];
const { scripts } = JSON.parse(read("package.json"));
const names = BENCHES.map(({ name }) => name);

function textsUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : textsUnder(path);
    return /\.(md|m?js|tsx?)$/.test(entry.name) ? [path] : [];
  });
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** What the pattern captures in each file, with the file. */
function named(pattern: RegExp): { file: string; name: string }[] {
  return FILES.flatMap((file) =>
    Array.from(read(file).matchAll(pattern), ([, name = ""]) => ({ file, name })),
  );
}

test("every npm script that is named is one of package.json", () => {
  const found = named(/\bnpm (?:run (?:--silent )?|(?=start\b|test\b))([a-z]+(?:[:-][a-z]+)*)/g);
  expect(found.length).toBeGreaterThan(50);
  expect(found.filter(({ name }) => !(name in scripts))).toEqual([]);
});

test("every bench that is named is one of the table", () => {
  const found = named(/\bnpm run bench ([a-z]+)/g);
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(({ name }) => !names.includes(name))).toEqual([]);
});

test("docs/benchmarks.md lists the benches as --help does", () => {
  const rows = read("docs/benchmarks.md").matchAll(/^ {4}npm run bench( [a-z]+)? +# (.+)$/gm);
  const listed = Array.from(rows, ([, name = " calls", words]) => [name.trim(), words]);
  expect(listed).toEqual(BENCHES.map(({ name, what, takes }) => [name, `${what}: ${takes}`]));
});
