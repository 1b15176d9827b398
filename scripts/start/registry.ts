/** Registers the relay's own files with this machine's agents, so that their tools keep away from them. */
import { fstatSync, readlinkSync } from "node:fs";
import { ownRegistry } from "../../agent/config/matrx-folders.ts";
import { messageOf } from "../problem.ts";
import { ROOT } from "../tree.ts";

/** Notes the folder of keys and data, files that sign-in links are printed into, and this clone. Says so when it cannot. */
export function noteFolders(dataDir: string, say: (line: string) => void): void {
  try {
    const registry = ownRegistry();
    for (const folder of [dataDir, ...outputFiles()]) registry.add({ folder, kind: "data" });
    registry.add({ folder: ROOT, kind: "program" });
  } catch (error) {
    say(`Could not tell other agents on this machine to protect ${dataDir}: ${messageOf(error)}`);
  }
}

/** The files that standard output and standard error go to, where the system tells their names. */
function outputFiles(): string[] {
  return [1, 2].flatMap((descriptor) => {
    try {
      return fstatSync(descriptor).isFile() ? [readlinkSync(`/proc/self/fd/${descriptor}`)] : [];
    } catch {
      return [];
    }
  });
}
