/** Checks the parts that a device may lack: what each is for, and how to get it. */
import path from "node:path";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { Lack } from "../core/tool.ts";
import { capture } from "../desktop/capture.ts";
import { Desktop } from "../desktop/desktop.ts";
import type { Platform } from "../platform/platform.ts";
import { findProgram } from "../platform/run-program.ts";
import { lackOfSystemLog } from "../read/system-log-lack.ts";
import { findBackend } from "../sandbox/find-backend.ts";
import { tryOut } from "../sandbox/probe.ts";
import { findRipgrep } from "../search/find-ripgrep.ts";

interface OptionalPrograms {
  /** Names on the PATH, and absolute paths, best first. */
  readonly browsers: (env: NodeJS.ProcessEnv) => readonly string[];
}

const UNDER_PROGRAM_FILES = [
  ["Google", "Chrome", "Application", "chrome.exe"],
  ["Microsoft", "Edge", "Application", "msedge.exe"],
];

const PROGRAMS: Record<Platform["name"], OptionalPrograms> = {
  Linux: {
    browsers: () => [
      "google-chrome",
      "google-chrome-stable",
      "microsoft-edge",
      "chromium",
      "chromium-browser",
    ],
  },
  Darwin: {
    browsers: () => [
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
      "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
      "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ],
  },
  Windows: {
    browsers: (env) =>
      [env.ProgramFiles, env["ProgramFiles(x86)"], env.LOCALAPPDATA]
        .filter((folder) => folder !== undefined)
        .flatMap((folder) => UNDER_PROGRAM_FILES.map((names) => path.win32.join(folder, ...names))),
  },
};

export function optionalPrograms({ name }: Platform): OptionalPrograms {
  return PROGRAMS[name];
}

/** Each part must respond within this time, in milliseconds. */
const WITHIN = 15_000;

export function partChecks(platform: Platform): readonly Check[] {
  return [
    { name: "search", look: search },
    { name: "screenshots", look: () => screenshots(platform) },
    { name: "opening", look: () => opening(platform) },
    { name: "system log", look: () => systemLog(platform) },
    {
      name: "terminals",
      look: () => missing("not in this version", "Use Bash, in the background for long commands"),
    },
    { name: "browser", look: () => browser(platform) },
    { name: "sandbox", look: sandbox },
  ];
}

async function search(): Promise<Finding> {
  const ripgrep = await findRipgrep();
  if (ripgrep) return ok(`ripgrep ${ripgrep.version} (${ripgrep.file})`);
  return missing("no ripgrep: Grep and Glob use their own search, several times slower", "Install ripgrep");
}

/** Takes a real screenshot, which is thrown away. */
async function screenshots(platform: Platform): Promise<Finding> {
  const desktop = new Desktop({ platform });
  const wanted = { format: "jpeg", monitor: undefined, mostBytes: Number.MAX_SAFE_INTEGER } as const;
  try {
    const own = await desktop.ownSurroundings();
    const album = desktop.pictures.of("doctor");
    const signal = AbortSignal.timeout(WITHIN);
    const picture = await capture(desktop, wanted, { ...own, album, signal });
    const fact = `${picture.width}x${picture.height} by ${picture.by}`;
    if (!picture.isOneColour) return ok(fact);
    return missing(`${fact}, but all one colour`, platform.desktop.blankHint);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    return missing(error.message, error.hint ?? "");
  } finally {
    desktop.close();
  }
}

/** Checks as much as it can without opening anything on the screen. */
async function opening(platform: Platform): Promise<Finding> {
  const desktop = new Desktop({ platform });
  const lack = await desktop.lackOfOpener();
  desktop.close();
  return lack
    ? notOffered(lack, "OpenUrl, OpenPath and open_app")
    : ok(
        "there is a screen and a program to open things; AIs that may write in ~/.config and the like get nothing opened",
      );
}

function systemLog(platform: Platform): Finding {
  const lack = lackOfSystemLog(platform);
  return lack ? notOffered(lack, "SystemLog") : ok("the agent can read it");
}

function notOffered({ why, help }: Lack, tools: string): Finding {
  return missing(`${why}: ${tools} cannot work`, help);
}

function browser(platform: Platform): Finding {
  const { env } = process;
  for (const name of optionalPrograms(platform).browsers(env)) {
    const found = findProgram(name, env);
    if (found) return ok(found);
  }
  return missing("no Chrome, Edge or Chromium was found", "Tools of later versions need one to render pages");
}

/** Runs a real command in it. */
async function sandbox(): Promise<Finding> {
  const { lack } = await tryOut((isStaged) => findBackend({}, isStaged));
  if (!lack) return ok("bubblewrap confines commands to the granted folders, without a network");
  return missing(`${lack.why}: commands from anyone but the owner are refused`, lack.help);
}

export interface Finding {
  /** `missing`: an optional part is not there. `untried`: something it needs failed. */
  readonly state: "ok" | "missing" | "failed" | "untried";
  readonly fact: string;
  readonly hint?: string | undefined;
}

export interface Check {
  readonly name: string;
  /** Throws if the check fails. */
  look(): Promise<Finding> | Finding;
}

export interface Result extends Finding {
  readonly name: string;
  readonly ms: number;
  /** The error of a failed check, if it was a MatrxError. */
  readonly error?: ErrorShape;
}

export function ok(fact: string): Finding {
  return { state: "ok", fact };
}

export function missing(fact: string, hint: string): Finding {
  return { state: "missing", fact, hint };
}
