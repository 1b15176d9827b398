/** The Worker's bundle, and how it is known to be fresh: by a hash over all that goes into it. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { hasCode, Problem } from "./problem.ts";
import { BUNDLE, ROOT } from "./tree.ts";
import { wrangler } from "./wrangler.ts";

const SOURCES = ["worker", "shared", "wrangler.toml", "package-lock.json"];
/** wrangler notes things about its user there, even for a build: not in the home folder, which may be closed. */
const CONFIG = join(ROOT, ".wrangler/config");
const MARK = join(BUNDLE, ".sources-sha256");

/** Bundles the Worker if its sources changed. `say` gets a progress line. */
export async function buildWorker(say: (line: string) => void): Promise<void> {
  const hash = hashOfSources();
  if (isBuilt() && readFileSync(MARK, "utf8").trim() === hash) return;
  say("Building the relay ...");
  // Aside first: a build that fails, or another one at the same time, leaves no half bundle.
  const aside = `${BUNDLE}.${process.pid}`;
  try {
    const args = ["deploy", "--dry-run", "--outdir", relative(ROOT, aside)];
    const { code, text } = await wrangler(args, { env: { XDG_CONFIG_HOME: CONFIG } });
    if (code !== 0) throw new Problem(`The relay cannot be built:\n${text.trim()}`);
    writeFileSync(join(aside, basename(MARK)), hash);
    putInPlace(aside);
  } catch (error) {
    rmSync(MARK, { force: true });
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
}

/** A build at the same time may put its bundle there between our two steps. */
function putInPlace(aside: string): void {
  for (;;) {
    rmSync(BUNDLE, { recursive: true, force: true });
    try {
      return renameSync(aside, BUNDLE);
    } catch (error) {
      if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
    }
  }
}

/** Tells whether there is a bundle, of the sources as they were at the last `buildWorker`. */
export function isBuilt(): boolean {
  return existsSync(MARK) && existsSync(join(BUNDLE, "index.js"));
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap(filesUnder)) {
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
