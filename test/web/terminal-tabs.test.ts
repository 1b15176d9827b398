/** Tabs of terminals: their names, those that are left running, those of another day, and those that wait for a person. */
import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { startAgent } from "../../scripts/start/agent.ts";
import type { Policy } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, expectNoObjections } from "./app.ts";
import { setPolicy } from "./policy.ts";
import { expectOnScreen, expectPrompt, newTerminal, startTerminalApp, typeLine } from "./terminal.ts";

describe("tabs of terminals", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  const path = () => `/d/${app.machine.id}/terminal`;
  const openOne = async () => {
    const opened = await app.open(path());
    await newTerminal(opened.page);
    return opened;
  };
  const openIn = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${app.relay.url}${APP}${path()}`);
    return page;
  };

  const policy = (wanted: Policy) => setPolicy(app, wanted);

  /** Decides in another tab, as a person who follows the link. */
  async function decide(page: Page, button: string): Promise<void> {
    const opening = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Decide in Activity" }).click();
    const activity = await opening;
    await activity.getByRole("button", { name: button, exact: true, disabled: false }).click();
    await activity.getByRole("list", { name: "Decided recently" }).waitFor();
    await activity.close();
  }

  test("have names of their own, by double click, F2, or the menu, until those are empty", async () => {
    const opened = await openOne();
    const { page, faults } = opened;
    const title = (name: string) => typeLine(page, String.raw`printf '\033]0;${name}\007'`);
    await title("program");
    await page.getByRole("tab", { name: "program" }).dblclick();
    const dialog = page.getByRole("dialog", { name: "Rename the tab" });
    await expectNoObjections(opened);
    await dialog.getByLabel("Name of the tab").fill(`  <b>beans</b>\u202e${"x".repeat(100)}`);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const own = page.getByRole("tab", { name: String.raw`<b>beans</b>\u{202E}xxx` });
    await own.waitFor();
    expect((await own.innerText()).length).toBeLessThan(80);
    expect(await page.locator("b").count()).toBe(0);
    await page.locator(".xterm").click();
    await title("other");
    await expect.poll(() => page.evaluate("JSON.stringify(sessionStorage)")).toContain("other");
    await page.reload();
    await expectPrompt(page);
    await own.waitFor();
    await page.locator(".xterm").click();
    await page.keyboard.press("Alt+Shift+KeyM");
    await page.keyboard.press("F2");
    await dialog.getByLabel("Name of the tab").fill("");
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "other" }).waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await expectNoObjections(opened);
    await page.getByRole("menuitem", { name: "Rename the tab" }).click();
    await dialog.getByLabel("Name of the tab").fill("by menu");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("tab", { name: "by menu" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("a terminal that is left running goes on, and is found again", async () => {
    const { page, faults } = await openOne();
    const open = page.getByRole("button", { name: "Open beans" });
    await typeLine(page, String.raw`here=still; clear; printf '\033]0;beans\007'; echo left-$((1 + 1))`);
    await expectOnScreen(page, "left-2");
    await page.keyboard.press("Alt+Shift+KeyL");
    await page.getByText("It keeps running: see Open terminals.").waitFor();
    await page.locator(".xterm").waitFor({ state: "detached" });
    await open.click();
    await expectOnScreen(page, "left-2");
    await page.locator(".xterm").click();
    await typeLine(page, "echo $here-$((1 + 1))");
    await expectOnScreen(page, "still-2");
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Leave running" }).click();
    await page.locator(".xterm").waitFor({ state: "detached" });
    await open.waitFor();
    expect(faults).toEqual([]);
  });

  test("a new tab of the browser has those that were shown last and still run, and says what has ended", async () => {
    const opened = await openOne();
    const { page, faults } = opened;
    await typeLine(page, "echo first-$((1 + 1))");
    await expectOnScreen(page, "first-2");
    await page.getByRole("button", { name: "Split to the right" }).click();
    await expect.poll(() => page.locator(".xterm").count()).toBe(2);
    await newTerminal(page);
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    await typeLine(page, "exit");
    await page.getByText("Ended with exit code 0").waitFor();
    const other = await openIn(page.context());
    await other.getByText("1 terminal from last time has ended.").waitFor();
    await expectOnScreen(other, "first-2");
    expect(await other.getByRole("tab").count()).toBe(1);
    expect(await other.locator(".xterm").count()).toBe(2);
    await other.locator(".xterm").first().click();
    await typeLine(other, "exit");
    await other.getByText("Ended with exit code 0").waitFor();
    // A tab that showed them already keeps them: each says how it ended.
    await page.reload();
    await page.getByRole("tab").nth(1).waitFor();
    await page.getByRole("tab").first().click();
    await page
      .getByText(/This terminal is gone|Ended with exit code 0/)
      .filter({ visible: true })
      .waitFor();
    const last = await openIn(page.context());
    await expectPrompt(last);
    expect(await last.locator(".xterm").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("a new tab of the browser shows all of them while the machine is away, and goes on with it", async () => {
    const { page, faults } = await openOne();
    await typeLine(page, "clear; echo here-$((1 + 1))");
    await expectOnScreen(page, "here-2");
    await app.machine.agent.stop();
    const other = await openIn(page.context());
    await other.getByText("The machine is offline.", { exact: false }).first().waitFor();
    expect(await other.getByRole("tab").count()).toBe(1);
    const silent = () => undefined;
    app.machine.agent = await startAgent({
      ...{ dataDir: app.relay.dataDir, onStart: silent, onDeath: silent },
    });
    await expectOnScreen(other, "here-2");
    expect(faults).toEqual([]);
  });

  test("a terminal waits for approval, and says so when it is denied", async () => {
    const opened = await app.open(path());
    const { page, faults } = opened;
    await policy({ ask: [{ tools: ["TerminalCreate"] }] });
    await page.getByRole("button", { name: "New terminal" }).click();
    await page.getByText("A new terminal waits for approval").waitFor();
    await expectNoObjections(opened);
    await decide(page, "Deny");
    await page.getByText("A new terminal waits for approval").waitFor({ state: "detached" });
    await page
      .getByText(/denied/i)
      .first()
      .waitFor();
    expect(await page.locator(".xterm").count()).toBe(0);
    await page.getByRole("button", { name: "New terminal" }).click();
    await page.getByRole("button", { name: "Don't open it" }).click();
    await page.getByText("A new terminal waits for approval").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New terminal" }).click();
    await decide(page, "Allow once");
    await expectPrompt(page);
    await typeLine(page, "echo allowed-$((1 + 1))");
    await expectOnScreen(page, "allowed-2");
    expect(faults).toEqual([]);
  });

  test("a terminal that is shown again waits for approval in its pane, and can ask again", async () => {
    const opened = await openOne();
    const { page, faults } = opened;
    await typeLine(page, "echo before-$((1 + 1))");
    await expectOnScreen(page, "before-2");
    await policy({ ask: [{ tools: ["TerminalAttach"] }] });
    await page.reload();
    await page.getByText("This terminal waits for approval").waitFor();
    await page.getByRole("tab", { name: "waits for approval" }).waitFor();
    await expectNoObjections(opened);
    await decide(page, "Deny");
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByText("This terminal waits for approval").waitFor();
    await decide(page, "Allow once");
    await expectOnScreen(page, "before-2");
    await page.locator(".xterm").click();
    await typeLine(page, "echo after-$((1 + 1))");
    await expectOnScreen(page, "after-2");
    expect(faults).toEqual([]);
  });
});
