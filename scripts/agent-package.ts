/** The agent as an npm package: its bundle, the reference page that it serves, and as dependencies only what no bundle can hold. */
import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { NOTICES, notice } from "./agent-bundle.ts";
import { referenceLicences } from "./reference-bundle.ts";
import { AGENT_BUNDLE, REFERENCE_BUNDLE } from "./tree.ts";

/** Makes the tarball in this folder, of `dist/agent` and `dist/reference`. Resolves with its path. Throws Problem. */
export async function packAgent(folder: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), "matrx-pack-"));
  try {
    cpSync(AGENT_BUNDLE, stage, { recursive: true, filter: isPublished });
    cpSync(REFERENCE_BUNDLE, join(stage, "web"), { recursive: true, filter: isPublished });
    addNoticesOfPage(join(stage, NOTICES));
    mkdirSync(folder, { recursive: true });
    const tarball = await npmPack(stage);
    cpSync(join(stage, tarball), join(folder, tarball));
    return join(folder, tarball);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The build's own notes are not. */
function isPublished(file: string): boolean {
  return !basename(file).startsWith(".");
}

/** Some packages are in both. */
function addNoticesOfPage(file: string): void {
  const those = readFileSync(file, "utf8");
  for (const { name, version, identifier, text = "" } of referenceLicences()) {
    const more = notice(`${name} ${version} (${identifier})`, [text]);
    if (!those.includes(more)) appendFileSync(file, `\n${more}`);
  }
}

/** Makes the tarball of a folder in that folder. Resolves with its name. */
async function npmPack(cwd: string): Promise<string> {
  const shell = process.platform === "win32";
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--loglevel=error"], { cwd, shell });
  return JSON.parse(stdout)[0].filename;
}
