/** Runs the guide client as the program that it is, and reads what it printed. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./guide-client.mjs", import.meta.url));

export interface GuideRun {
  /** How many checks there were to run. */
  planned: number;
  passed: string[];
  /** With the reasons. */
  failed: string[];
  /** With the tools that the server lacks. */
  skipped: string[];
}

/** `rest`: without the WebSocket, for a base that has none. */
export async function runGuide(base: string, token?: string, transports = "all"): Promise<GuideRun> {
  const output = await printed([PROGRAM, base, transports], token);
  const lines = output.split("\n");
  const after = (prefix: string) =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return {
    planned: Number(after("1..")[0]),
    passed: after("ok "),
    failed: after("not ok "),
    skipped: after("skip "),
  };
}

/** What it prints; it ends with 1 when a check failed, and that is read from its lines. */
function printed(args: readonly string[], token: string | undefined): Promise<string> {
  const env = { PATH: process.env.PATH, ...(token && { GUIDE_TOKEN: token }) };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(error);
      else if (!stdout.startsWith("1..")) reject(new Error(stderr));
      else resolve(stdout);
    });
  });
}
