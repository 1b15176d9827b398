/** A real Chromium, driven by playwright-core. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { needs } from "./parts.ts";

const PLACES = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const QUIET = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Its program; undefined: there is none here. */
export const CHROMIUM = PLACES.find((place) => place && existsSync(place));

export const NEEDS_CHROMIUM = needs(
  CHROMIUM !== undefined,
  "the page's tests need Chromium: apt-get install chromium, or name it in CHROMIUM",
);

/** What it is started with. As root, it has no sandbox of its own. */
export const CHROMIUM_ARGS: readonly string[] = [
  ...QUIET,
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

/** `args`: more of Chromium's own options. */
export function startBrowser(...args: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? "chromium", args: [...CHROMIUM_ARGS, ...args] });
}
