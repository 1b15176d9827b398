/** A folder in dist/ that is built from sources: again only if they changed, and never seen half done. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { hasCode } from "./problem.ts";
import { ROOT } from "./tree.ts";

const MARK = ".sources-sha256";

export interface Build {
  /** What is built. */
  readonly folder: string;
  /** A file that it always contains. */
  readonly entry: string;
  /** Files and folders of the repository that go into it. */
  readonly sources: readonly string[];
  /** Builds into the folder `aside`. */
  readonly make: (aside: string) => Promise<void>;
  /** Told when it is built. */
  readonly progress: string;
}

/** Builds it if its sources changed. `say` gets a progress line. */
export async function buildIfChanged(build: Build, say: (line: string) => void): Promise<void> {
  const { folder, sources, make, progress } = build;
  const hash = hashOf(sources);
  const mark = join(folder, MARK);
  if (isFresh(build) && readFileSync(mark, "utf8").trim() === hash) return;
  say(progress);
  // Aside first: a build that fails, or another one at the same time, leaves no half folder.
  const aside = `${folder}.${process.pid}`;
  try {
    await make(aside);
    writeFileSync(join(aside, MARK), hash);
    putInPlace(aside, folder);
  } catch (error) {
    rmSync(mark, { force: true });
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
}

/** Tells whether it is there, of the sources as they were at the last `buildIfChanged`. */
export function isFresh({ folder, entry }: Pick<Build, "folder" | "entry">): boolean {
  return existsSync(join(folder, MARK)) && existsSync(join(folder, entry));
}

/** A build at the same time may put its folder there meanwhile, and an agent that ends keeps compiled code in the old one. */
function putInPlace(aside: string, folder: string): void {
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return renameSync(aside, folder);
    } catch (error) {
      if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
    }
  }
}

function hashOf(sources: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of sources.flatMap(filesUnder)) {
    const content = createHash("sha256").update(readFileSync(join(ROOT, file)));
    hash.update(`${file}\0${content.digest("hex")}\n`);
  }
  return hash.digest("hex");
}

/** Files at or under a path of the repository, in a stable order. */
function filesUnder(path: string): string[] {
  const stats = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isFile()) return [path];
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !entry.parentPath.slice(ROOT.length).split(sep).includes("node_modules"),
    )
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}
