/** The terminal's page, as its tests use it. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { endHolders } from "../e2e/holders.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type App, type AppOptions, startApp } from "./app.ts";

/** As `startApp`, with a shell that knows nothing of the user's own, and without terminals that outlive the tests. */
export function startTerminalApp(options: AppOptions = {}): App {
  const home = makeFolder();
  let dataDir: string | undefined;
  beforeAll(() => {
    vi.stubEnv("HOME", home);
    vi.stubEnv("SHELL", "/bin/bash");
  });
  afterAll(async () => {
    if (dataDir !== undefined) await endHolders(dataDir);
    removeFolder(home);
    vi.unstubAllEnvs();
  });
  const app = startApp(options);
  beforeAll(() => {
    dataDir = app.relay.dataDir;
  });
  return app;
}

/** What stands on the screen of the terminal that is used: without what its lines end with. */
export async function screenOf(page: Page): Promise<string> {
  const text = await page.evaluate<string>(
    `[...document.querySelectorAll(".xterm-rows")].filter((one) => one.checkVisibility())
      .map((one) => [...one.children].map((row) => row.textContent.replace(/\\u00a0/g, " ").trimEnd()).join("\\n")).join("\\n")`,
  );
  return text.trimEnd();
}

export async function expectOnScreen(page: Page, wanted: string | RegExp): Promise<void> {
  const match = typeof wanted === "string" ? expect.stringContaining(wanted) : expect.stringMatching(wanted);
  await expect.poll(() => screenOf(page)).toEqual(match);
}

/** Opens a new terminal, and waits for its prompt. */
export async function newTerminal(page: Page): Promise<void> {
  await page.getByRole("button", { name: "New terminal", exact: true }).click();
  await expectPrompt(page);
}

export async function expectPrompt(page: Page): Promise<void> {
  await expect.poll(() => screenOf(page)).toMatch(/[$#]$/);
}

/** Types a line into the terminal that has the focus. */
export async function typeLine(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
}
