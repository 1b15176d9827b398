/** Runs wrangler quietly: no banner, no metrics, no log files, no host asked but Cloudflare's API where a command needs it. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "./tree.ts";

const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_LOG: "log",
  WRANGLER_WRITE_LOGS: "false",
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
};

export interface WranglerResult {
  code: number | null;
  /** What it printed, both streams, in order, without the colours that it also writes into pipes. */
  text: string;
  stdout: string;
}

export interface WranglerOptions {
  /** Its output also appears here, and it may ask. */
  show?: boolean;
  /** More for its environment. */
  env?: Record<string, string>;
}

/** Runs `wrangler <args>` in the repository. */
export function wrangler(
  args: readonly string[],
  { show = false, env }: WranglerOptions = {},
): Promise<WranglerResult> {
  const bin = join(
    dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
    "bin/wrangler.js",
  );
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...env },
    stdio: [show ? "inherit" : "ignore", "pipe", "pipe"],
  });
  let text = "";
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    stdout += part;
    if (show) process.stdout.write(part);
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (show) process.stderr.write(part);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ code, text: stripVTControlCharacters(text), stdout: stripVTControlCharacters(stdout) }),
    );
  });
}
