/** The version of the machine's Python, found without waking what only pretends to be one. */
import os from "node:os";
import type { Platform } from "./platform.ts";
import { runProgram } from "./run-program.ts";

const ASKED_MS = 2000;

/** Null: none answers. */
export async function pythonVersion(platform: Platform): Promise<string | null> {
  // Apple's stub opens a dialog that offers to install the tools, unless they are there.
  if (platform.name === "Darwin" && (await answerOf("xcode-select", ["-p"])) === undefined) return null;
  const candidates = platform.name === "Windows" ? [["py", "-3"], ["python"]] : [["python3"], ["python"]];
  for (const [program = "", ...args] of candidates) {
    const version = /Python (\d+\.\d+\.\d+\S*)/.exec((await answerOf(program, [...args, "--version"])) ?? "");
    if (version?.[1]) return version[1];
  }
  return null;
}

/** Python 2 told its version on stderr. */
async function answerOf(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await runProgram(program, args, { timeoutMs: ASKED_MS, cwd: os.tmpdir() });
    return `${stdout}${stderr}`;
  } catch {
    return undefined;
  }
}
