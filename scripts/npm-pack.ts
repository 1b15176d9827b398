/** `npm pack` of a folder that is made for it. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Puts the tarball of what `fill` puts into an empty folder into `folder`. Resolves with its path. */
export async function packInto(
  folder: string,
  fill: (stage: string) => void | Promise<void>,
): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), "matrx-pack-"));
  try {
    await fill(stage);
    mkdirSync(folder, { recursive: true });
    const tarball = await npmPack(stage);
    cpSync(join(stage, tarball), join(folder, tarball));
    return join(folder, tarball);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Makes the tarball of a folder in that folder. Resolves with its name. */
async function npmPack(cwd: string): Promise<string> {
  const shell = process.platform === "win32";
  const { stdout } = await promisify(execFile)("npm", ["pack", "--json", "--loglevel=error"], { cwd, shell });
  return JSON.parse(stdout)[0].filename;
}
