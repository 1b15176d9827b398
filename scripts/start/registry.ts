/** Tells the agents of this machine which folders are the relay's own: their tools keep away from them. */
import { ownRegistry } from "../../agent/matrx-folders.ts";
import { messageOf } from "../problem.ts";
import { ROOT } from "../tree.ts";

/** Notes the folder of keys and data, and this clone. Says so when it cannot. */
export function noteFolders(dataDir: string, say: (line: string) => void): void {
  try {
    const registry = ownRegistry();
    registry.add({ folder: dataDir, kind: "data" });
    registry.add({ folder: ROOT, kind: "program" });
  } catch (error) {
    say(`Could not tell other agents on this machine to protect ${dataDir}: ${messageOf(error)}`);
  }
}
