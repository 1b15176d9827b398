/** 50,000 small text files in 1,000 folders, the same on every machine and in every run. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const FILES = 50_000;
const PER_FOLDER = 50;
const EXTENSIONS = ["ts", "js", "md", "py", "txt"];
const WORDS = "alpha beta gamma delta return const function import export value index result".split(" ");

export interface Tree {
  readonly root: string;
  readonly files: number;
  readonly bytes: number;
  remove(): void;
}

/** One file in 400 has a line with `needle`, one in 5,000 a line with `thimble`; nearly all have `function`. */
export function growTree(): Tree {
  const root = mkdtempSync(path.join(tmpdir(), "matrx-bench-search-"));
  const random = randomNumbers(20_261_121);
  let bytes = 0;
  for (let number = 0; number < FILES; number++) {
    const folder = number / PER_FOLDER;
    const place = path.join(root, `part-${Math.floor(folder / 40)}`, `folder-${Math.floor(folder) % 40}`);
    if (number % PER_FOLDER === 0) mkdirSync(place, { recursive: true });
    const lines = Array.from({ length: 5 + random(55) }, () =>
      Array.from({ length: 8 }, () => WORDS[random(WORDS.length)]).join(" "),
    );
    if (number % 400 === 7) lines[2] = "here lies the needle";
    if (number % 5000 === 11) lines[3] = "here lies the thimble";
    const text = `${lines.join("\n")}\n`;
    bytes += text.length;
    writeFileSync(
      path.join(place, `file-${number % PER_FOLDER}.${EXTENSIONS[number % EXTENSIONS.length]}`),
      text,
    );
  }
  return { root, files: FILES, bytes, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Whole numbers below a limit, by a linear congruence. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
