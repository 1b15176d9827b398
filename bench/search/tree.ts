/** Trees to search, the same on every machine and in every run. */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const TREE = { files: 50_000 };
const PER_FOLDER = 50;
const EXTENSIONS = ["ts", "js", "md", "py", "txt"];
export const DEEP_TREE = { folders: 30_000, files: 170_000 };
const DEEPEST = 14;
const WORDS = "alpha beta gamma delta return const function import export value index result".split(" ");

export interface Tree {
  readonly root: string;
  readonly files: number;
  readonly bytes: number;
  remove(): void;
}

/** 50,000 small text files in 1,000 folders. One file in 400 has a line with `needle`, one in 5,000 a line with `thimble`; nearly all have `function`. */
export function growTree({ files }: typeof TREE): Tree {
  const root = mkdtempSync(path.join(tmpdir(), "matrx-bench-search-"));
  const random = randomNumbers(20_261_121);
  let bytes = 0;
  for (let number = 0; number < files; number++) {
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
  return { root, files, bytes, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** As a home folder with programs' sources in it: 170,000 empty files in 30,000 folders, up to 14 deep; 1 in 150 is a `needle`. */
export function growDeepTree({ folders: wanted, files }: typeof DEEP_TREE): Tree {
  const root = mkdtempSync(path.join(tmpdir(), "matrx-bench-deep-"));
  const random = randomNumbers(30_000);
  const folders = [{ place: root, depth: 0 }];
  while (folders.length < wanted) {
    // Mostly one of the newest: trees of sources are long.
    const newest = folders.slice(-200);
    const { place, depth } = newest[random(newest.length)] ?? { place: root, depth: 0 };
    const below = path.join(place, `folder-${folders.length}`);
    if (depth >= DEEPEST)
      folders.push({ place: makeFolder(path.join(root, `top-${folders.length}`)), depth: 1 });
    else folders.push({ place: makeFolder(below), depth: depth + 1 });
  }
  for (let number = 0; number < files; number++) {
    const { place } = folders[random(folders.length)] ?? { place: root };
    const name = number % 150 === 7 ? `Needle-${number}` : `file-${number}`;
    closeSync(openSync(path.join(place, `${name}.${EXTENSIONS[number % EXTENSIONS.length]}`), "w"));
  }
  return { root, files, bytes: 0, remove: () => rmSync(root, { recursive: true, force: true }) };
}

function makeFolder(place: string): string {
  mkdirSync(place);
  return place;
}

/** Whole numbers below a limit, by a linear congruence. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
