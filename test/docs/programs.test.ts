/** docs/security.md lists every place that starts a program: what is new is thought about, and told. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const PAGE = readFileSync("docs/security.md", "utf8");

/** Calls that start a program, by Node or a library; a library that starts some by itself is one. */
const STARTS = [
  /(?<![.\w])(?:spawn|spawnSync|spawnWithPipes|exec|execSync|execFile|execFileSync|fork|execa)\(/g,
  /(?<![.\w])(?<!function )runProgram\(/g,
  /\bpromisify\(exec(?:File)?\)\(/g,
  /\bexecve\.call\(/g,
  /\bnew AskedProgram\(/g,
  /\bimport\("systeminformation"\)/g,
];

/** Ways to get at such calls under another name. */
const MEANS =
  /^import (?!type )[^;]*(?:"node:child_process"|"child_process"|"node:cluster"|"execa"|"systeminformation")|import\("(?:node:child_process|execa|@lydell\/node-pty|systeminformation)"\)|process\.(?:binding|execve)\b/m;

const SOURCES = globSync(["agent/**/*.{ts,mts,js,mjs}", "scripts/**/*.{ts,mts,js,mjs}", "shared/**/*.ts"], {
  exclude: ["**/node_modules/**", "**/dist/**", "**/.compiled/**"],
}).map((file) => ({ file: file.replaceAll("\\", "/"), code: withoutComments(readFileSync(file, "utf8")) }));

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function startsIn(code: string): number {
  return STARTS.reduce((sum, pattern) => sum + [...code.matchAll(pattern)].length, 0);
}

/** The rows: a file, how many programs it starts, and four things about them. */
const LISTED = [...PAGE.matchAll(/^\| `((?:agent|scripts|shared)\/[^`]+)` \| (\d+) \|(.+)\|$/gm)].map(
  ([, file = "", starts, rest = ""]) => ({ file, starts: Number(starts), facts: rest.split(" | ") }),
);

describe("programs that are started", () => {
  it("are all listed in docs/security.md, as many as there are", () => {
    const found = SOURCES.map(({ file, code }) => ({ file, starts: startsIn(code) })).filter(
      ({ starts }) => starts > 0,
    );
    const sorted = (rows: readonly { file: string; starts: number }[]) =>
      rows.map(({ file, starts }) => `${file} ${starts}`).sort();
    expect(sorted(LISTED)).toEqual(sorted(found));
  });

  it("are started in no other way than those that are counted", () => {
    const listed = new Set(LISTED.map(({ file }) => file));
    const unseen = SOURCES.filter(({ file, code }) => MEANS.test(code) && !listed.has(file));
    expect(unseen.map(({ file }) => file)).toEqual([]);
  });

  it("each with what it is, how it is found, its environment and its folder", () => {
    for (const { file, facts } of LISTED) expect(facts, file).toHaveLength(4);
  });

  it.each([
    ["spawn(file)", 1],
    ["await runProgram(file, [])", 1],
    ["execFileSync('x'); fork(y)", 2],
    ["pattern.exec(text)", 0],
    ["async function runProgram(", 0],
    ["child.once('spawn', done)", 0],
  ])("%j is told for %i", (code, starts) => {
    expect(startsIn(code)).toBe(starts);
  });
});
