/** A screen of a test's own: a real X server without a monitor. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { findProgram } from "../../agent/platform/run-program.ts";
import { needs } from "./parts.ts";

const run = promisify(execFile);

const MISSING = ["Xvfb", "xsetroot"].filter((program) => findProgram(program, process.env) === undefined);

export const NEEDS_XVFB = needs(
  MISSING.length === 0,
  `tests of the screen need ${MISSING.join(", ")}: apt-get install xvfb x11-xserver-utils`,
);

export interface Screen extends AsyncDisposable {
  /** As in DISPLAY. */
  readonly display: string;
  /** Paints the whole screen with xsetroot. */
  paint(...args: readonly string[]): Promise<void>;
}

/** Starts one on a free number; `await using` ends it. */
export async function startScreen(size = "640x400"): Promise<Screen> {
  // Without -noreset what is painted goes with the last client.
  const server = spawn(
    "Xvfb",
    ["-noreset", "-displayfd", "3", "-screen", "0", `${size}x24`, "-nolisten", "tcp"],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  const ended = once(server, "exit");
  const [number] = await Promise.race([
    once(server.stdio[3] as Readable, "data"),
    ended.then(() => Promise.reject(new Error("Xvfb ended before it began"))),
  ]);
  const display = `:${String(number).trim()}`;
  return {
    display,
    async paint(...args) {
      await run("xsetroot", args, { env: { ...process.env, DISPLAY: display } });
    },
    async [Symbol.asyncDispose]() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}
