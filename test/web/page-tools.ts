/** The page's own tools, as the browser's AI and scripts call them, and what their person answers. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** By `window.matrx`. Resolves to what the function resolves to, or to its error's fields. */
export function matrx(page: Page, tool: string, input?: object): Promise<unknown> {
  const call = `window.matrx[${JSON.stringify(tool)}](${input === undefined ? "" : JSON.stringify(input)})`;
  return page.evaluate(`${call}.catch(({ code, message, hint }) => ({ failed: true, code, message, hint }))`);
}

/** The page's tools are there: they are loaded after the page itself. */
export async function untilOffered(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate("'matrx' in window")).toBe(true);
}

export function question(page: Page): Locator {
  return page.getByRole("dialog");
}

/** Presses a button of the question, once it takes presses. */
export async function answer(page: Page, name: string): Promise<void> {
  await question(page).getByRole("button", { name, exact: true }).click();
}

/** Lets scripts and AIs look at the machine, and run commands that are each asked. */
export async function letIn(page: Page, reach = "Also run commands, asking each time"): Promise<void> {
  await untilOffered(page);
  const listed = matrx(page, "file_find", { pattern: "no-such-name-*", path: "/proc/self/fd" });
  await answer(page, reach);
  await listed;
}

/** Lets them do all, and opens terminal 1. */
export async function letAct(page: Page): Promise<void> {
  await letIn(page);
  const created = matrx(page, "terminal_create");
  await answer(page, "Allow all for 15 minutes");
  await created;
}
