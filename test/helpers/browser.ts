/** A real Chromium, driven by playwright-core. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { needs } from "./parts.ts";

const NAMED = process.env.CHROMIUM;

const PLACES = [
  NAMED,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const SHELLS = [NAMED, "/usr/bin/chromium-headless-shell"];

const QUIET = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The whole browser's program; undefined: there is none here. */
export const CHROMIUM = firstOf(PLACES);

/** The same engine without the windows, menus and services of a browser: it needs half the processor's time. */
const SHELL = firstOf(SHELLS) ?? CHROMIUM;

const HOW = "apt-get install chromium chromium-headless-shell, or name one in CHROMIUM";

export const NEEDS_CHROMIUM = needs(SHELL !== undefined, `the page's tests need Chromium: ${HOW}`);

export const NEEDS_FULL_CHROMIUM = needs(
  CHROMIUM !== undefined,
  `what only a whole Chromium has needs one: ${HOW}`,
);

/** The shell has no use for a process that draws for a graphics card that is not there. Pages of a context share a process. */
const SHELL_ARGS = ["--disable-gpu-compositing", "--disable-software-rasterizer", "--process-per-site"];

/** What it is started with. As root, it has no sandbox of its own. */
export const CHROMIUM_ARGS: readonly string[] = [
  ...QUIET,
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

/** For nearly all tests: pages are drawn and run as in the whole browser. `args`: more of Chromium's own options. */
export function startBrowser(...args: string[]): Promise<Browser> {
  return launch(SHELL ?? "chromium-headless-shell", [...SHELL_ARGS, ...args]);
}

/** For what the shell lacks, such as notifications, installing and the parts that are tried out behind a switch. */
export function startFullBrowser(...args: string[]): Promise<Browser> {
  return launch(CHROMIUM ?? "chromium", args);
}

function launch(executablePath: string, args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...CHROMIUM_ARGS, ...args] });
}

function firstOf(places: readonly (string | undefined)[]): string | undefined {
  return places.find((place) => place && existsSync(place));
}
