/** The terminal's page under a finger. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, smallTargets } from "./app.ts";
import { expectOnScreen, newTerminal, screenOf, startTerminalApp } from "./terminal.ts";

describe("a terminal on a phone", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  const open = async () => {
    const opened = await app.open(`/d/${app.machine.id}`, { screen: "phone" });
    const { page } = opened;
    await page
      .getByRole("navigation", { name: "Main, small screen" })
      .getByRole("link", { name: "Terminal" })
      .tap();
    await newTerminal(page);
    return opened;
  };
  const send = async (page: Page, line: string) => {
    await page.getByLabel("Type a command").fill(line);
    await page.getByRole("button", { name: "Send" }).tap();
  };
  const key = (page: Page, name: string) =>
    page.getByRole("toolbar", { name: "Keys" }).getByRole("button", { name, exact: true });

  test("fits the screen, has large keys, and sends what was composed at once", async () => {
    const opened = await open();
    const { page, faults } = opened;
    await send(page, "echo $((40 + 2)) from a phone");
    await expectOnScreen(page, "42 from a phone");
    expect(await page.getByLabel("Type a command").inputValue()).toBe("");
    await expectNoObjections(opened);
    expect(await smallTargets(page, "[role=toolbar] button, form button", 44)).toEqual([]);
    expect(
      await smallTargets(page, "[role=tab], main [aria-label='New terminal'], main [aria-label=More]", 44),
    ).toEqual([]);
    const room = await page.evaluate<number>("document.documentElement.scrollHeight - innerHeight");
    expect(room).toBe(0);
    expect(faults).toEqual([]);
  });

  test("has the keys that a phone lacks; Ctrl holds for one key, or until it is tapped again, and the focus stays", async () => {
    const { page, faults } = await open();
    await send(page, `sh -c 'echo sl""eeping; exec sleep 1000'`);
    await expectOnScreen(page, "sleeping");
    await key(page, "Control C").tap();
    await expectOnScreen(page, "^C");
    await page.locator(".xterm").tap();
    await page.keyboard.type("echo abc");
    await key(page, "Ctrl").tap();
    expect(await key(page, "Ctrl").getAttribute("aria-pressed")).toBe("true");
    expect(await page.evaluate("document.activeElement.className")).toContain("xterm-helper-textarea");
    // To the beginning of the line.
    await page.keyboard.type("a");
    expect(await key(page, "Ctrl").getAttribute("aria-pressed")).toBe("false");
    await page.keyboard.type("true; ");
    await key(page, "Right").tap();
    await key(page, "Left").tap();
    await page.keyboard.press("Enter");
    await expectOnScreen(page, /true; echo abc\nabc/);
    await key(page, "Up").tap();
    await expectOnScreen(page, /true; echo abc$/);
    await key(page, "Ctrl").dblclick();
    await key(page, "Ctrl, locked").waitFor();
    await page.keyboard.type("uu");
    await key(page, "Ctrl, locked").tap();
    await page.keyboard.type("echo l");
    await key(page, "Tab").tap();
    await page.keyboard.press("Enter");
    await expect.poll(() => screenOf(page)).toMatch(/^l$/m);
    expect(faults).toEqual([]);
  });

  test("is scrolled by a finger, and its text can be selected beside it", async () => {
    const opened = await open();
    const { page, faults } = opened;
    await send(page, "clear; seq 1 500");
    await expectOnScreen(page, "500");
    await swipe(page, 300);
    await expect.poll(() => screenOf(page)).not.toContain("500");
    await page.getByRole("button", { name: "Select text" }).tap();
    const text = page.getByRole("dialog").locator("pre");
    await text.getByText("499").waitFor();
    await expectNoObjections(opened);
    expect(faults).toEqual([]);
  });

  test("stays above the keyboard", async () => {
    const { page, faults } = await open();
    const bottom = async () => {
      const box = await page.getByRole("toolbar", { name: "Keys" }).boundingBox();
      return box ? box.y + box.height : 0;
    };
    // As iOS does it: the page stays as large, and a part of it is covered.
    await page.evaluate(`Object.defineProperty(visualViewport, "height", { value: 500, configurable: true });
      visualViewport.dispatchEvent(new Event("resize"))`);
    await expect.poll(bottom).toBeLessThanOrEqual(500);
    await expect.poll(bottom).toBeGreaterThan(480);
    await page.evaluate("delete visualViewport.height; visualViewport.dispatchEvent(new Event('resize'))");
    await expect.poll(bottom).toBeGreaterThan(700);
    // As Android does it.
    await page.setViewportSize({ width: 390, height: 480 });
    await expect.poll(bottom).toBeLessThanOrEqual(480);
    expect(await page.locator(".xterm-rows").isVisible()).toBe(true);
    expect(faults).toEqual([]);
  });
});

/** A finger moves down over the terminal by so many pixels. */
async function swipe(page: Page, pixels: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const box = await page.locator(".xterm").boundingBox();
  if (!box) throw new Error("There is no terminal");
  const at = (y: number) => ({ touchPoints: [{ x: box.x + 100, y }] });
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", ...at(box.y + 50) });
  for (let moved = 0; moved <= pixels; moved += 20)
    await session.send("Input.dispatchTouchEvent", { type: "touchMove", ...at(box.y + 50 + moved) });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}
