/** A screen of a test's own: a real X server without a monitor. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { findProgram } from "../../agent/platform/run-program.ts";
import { until } from "./launcher.ts";
import { needs } from "./parts.ts";

const run = promisify(execFile);

export const NEEDS_XVFB = needsPrograms("the screen", {
  Xvfb: "xvfb",
  xsetroot: "x11-xserver-utils",
});

export const NEEDS_CLIPBOARD = needsPrograms("the clipboard", { Xvfb: "xvfb", xclip: "xclip", xsel: "xsel" });

/** `packages`: by program. */
function needsPrograms(what: string, packages: Readonly<Record<string, string>>) {
  const missing = Object.keys(packages).filter((program) => !findProgram(program, process.env));
  const install = missing.map((program) => packages[program]).join(" ");
  return needs(
    missing.length === 0,
    `tests of ${what} need ${missing.join(", ")}: apt-get install ${install}`,
  );
}

export interface Screen extends AsyncDisposable {
  /** As in DISPLAY. */
  readonly display: string;
  /** Paints the whole screen with xsetroot. */
  paint(...args: readonly string[]): Promise<void>;
  /** Copies a text, as somebody at the screen does. */
  copy(text: string): Promise<void>;
  /** What somebody there would paste. */
  pasted(): Promise<string>;
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
  const env = { ...process.env, DISPLAY: display };
  const pasted = async () => {
    const { stdout } = await run("xclip", ["-selection", "clipboard", "-out"], {
      env,
      maxBuffer: 4 * 1024 * 1024,
    });
    return stdout;
  };
  return {
    display,
    async paint(...args) {
      await run("xsetroot", args, { env });
    },
    async copy(text) {
      // It leaves one behind that has the text, until something else is copied or the server ends.
      const xclip = spawn("xclip", ["-selection", "clipboard", "-in"], {
        env,
        stdio: ["pipe", "ignore", "ignore"],
      });
      xclip.stdin.end(text);
      await once(xclip, "exit");
      // The one left behind may still be about to say so.
      await until("the text can be pasted", async () => (await pasted().catch(() => undefined)) === text);
    },
    pasted,
    async [Symbol.asyncDispose]() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}
