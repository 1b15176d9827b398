/** A copy has all but the access control list. Never run: no Windows machine was at hand. */
import path from "node:path";
import { runProgram } from "./run-program.ts";
import { type MakeSuccessor, successorByCopy } from "./successor.ts";

export const windowsSuccessor: MakeSuccessor = async (folder, old, name) => {
  const icacls = path.win32.join(process.env.SystemRoot ?? "C:\\Windows", "System32", "icacls.exe");
  try {
    const { stdout } = await runProgram(icacls, [folder.at(old.name)], { timeoutMs: 10_000 });
    if (hasOwnRights(stdout.toString("latin1"))) return undefined;
  } catch {
    return undefined;
  }
  return await successorByCopy(folder, old, name);
};

/** What icacls prints: rights that come from the folder have an `(I)`, and a new file in it gets them, too. */
export function hasOwnRights(printed: string): boolean {
  const rights = printed.split(/\r?\n/).flatMap((line) => /:((?:\([A-Z,]+\))+)\s*$/.exec(line)?.[1] ?? []);
  return rights.length === 0 || rights.some((one) => !one.includes("(I)"));
}
