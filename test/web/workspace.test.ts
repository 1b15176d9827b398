/** Files and terminals of a machine beside each other, in one page. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { APP, expectFitting, expectNoObjections, type OpenOptions, smallTargets } from "./app.ts";
import {
  expectOnScreen,
  expectPrompt,
  newTerminal,
  screenOf,
  startTerminalApp,
  typeLine,
} from "./terminal.ts";

const BAR = "Move the bar between files and terminals";

describe("files and terminals beside each other", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  let folder: string;

  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder, "plans"));
    writeFileSync(join(folder, "notes.txt"), "water the beans\n");
  });

  const address = (search = "") => `/d/${app.machine.id}/files${encodeURI(folder)}${search}`;
  const open = async (search = "", options: OpenOptions = {}) => {
    const opened = await app.open(address(search), options);
    await row(opened.page, "notes.txt").waitFor();
    return opened;
  };

  test("the terminal stays attached, and what is typed in it stays, through folders, a file and its editor", async () => {
    const opened = await open();
    const { page, faults } = opened;
    const loaded = () =>
      page.evaluate<boolean>(
        "performance.getEntriesByType('resource').some(({name}) => /TerminalPage-[^/]*\\.js$/.test(name))",
      );
    expect(await loaded()).toBe(false);
    const sockets: string[] = [];
    page.on("websocket", (socket) => sockets.push(new URL(socket.url()).pathname));
    await toggle(page).click();
    await newTerminal(page);
    expect(await loaded()).toBe(true);
    await typeLine(page, "clear; seq 1 400; kept=beans");
    await expectOnScreen(page, /^400\n.*[$#]$/m);
    await page.keyboard.type("echo half-");
    await expectOnScreen(page, /echo half-$/);
    await expectNoObjections(opened);
    await page.evaluate("document.querySelector('.xterm').dataset.mark = 'first'");

    await row(page, "plans").dblclick();
    await page.waitForURL(/plans\?terminal=below$/);
    await page.goBack();
    await row(page, "notes.txt").dblclick();
    await page.getByRole("region", { name: "File" }).getByText("water the beans").waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("and the peas");
    await page.keyboard.press("Control+s");
    await page.getByText("notes.txt was saved.").waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Terminals right of the files" }).click();
    await page.waitForURL(/terminal=right/);
    // What was typed in the editor is still there to be taken back.
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+z");
    await expect.poll(() => page.locator(".cm-content").innerText()).not.toContain("peas");

    await expectOnScreen(page, /echo half-$/);
    expect(await page.locator(".xterm[data-mark=first]").count()).toBe(1);
    expect(sockets.filter((path) => path.endsWith("/ws"))).toHaveLength(1);
    await page.locator(".xterm").click();
    await page.keyboard.type("$kept");
    await page.keyboard.press("Enter");
    await expectOnScreen(page, "half-beans");
    for (let times = 0; times < 40; times++) await page.keyboard.press("Shift+PageUp");
    await expectOnScreen(page, /^1$/m);
    expect(faults).toEqual([]);
  });

  test("the address has it: it is there after a reload, with its size, and the saved one is found again", async () => {
    const opened = await open("?terminal=right");
    const { page, faults } = opened;
    await newTerminal(page);
    await typeLine(page, "echo $((6 * 7)) beans");
    await expectOnScreen(page, "42 beans");
    const width = async () => (await page.locator(".xterm").boundingBox())?.width ?? 0;
    const before = await width();
    await page.getByRole("separator", { name: BAR }).focus();
    for (let times = 0; times < 5; times++) await page.keyboard.press("ArrowRight");
    await expect.poll(width).toBeLessThan(before);
    const bar = await page.getByRole("separator", { name: BAR }).boundingBox();
    if (!bar) throw new Error("There is no bar");
    const after = await width();
    await page.mouse.move(bar.x + 3, bar.y + 100);
    await page.mouse.down();
    await page.mouse.move(bar.x - 147, bar.y + 100, { steps: 5 });
    await page.mouse.up();
    await expect.poll(width).toBeGreaterThan(after + 100);
    const chosen = await width();
    await page.reload();
    await expectOnScreen(page, "42 beans");
    await expect.poll(width).toBe(chosen);

    // The terminals' own page has the same tabs, and leads back.
    await page
      .getByRole("navigation", { name: "Main" })
      .first()
      .getByRole("link", { name: "Terminal" })
      .click();
    await page.waitForURL(/\/terminal$/);
    await expectOnScreen(page, "42 beans");
    await expectFitting(opened);
    await page.getByRole("link", { name: "Files beside" }).click();
    await page.waitForURL(`${app.relay.url}${APP}${address("?terminal=right")}`);
    await expectOnScreen(page, "42 beans");
    await expect.poll(width).toBe(chosen);

    // So does the machine's page, in a tab of the browser that is new.
    const other = await page.context().newPage();
    await other.goto(`${app.relay.url}${APP}/d/${app.machine.id}`);
    await other.getByRole("link", { name: "Terminal and files" }).click();
    await other.waitForURL(`${app.relay.url}${APP}${address("?terminal=right")}`);
    await expectOnScreen(other, "42 beans");
    await toggle(other).click();
    await other.locator(".xterm").waitFor({ state: "detached" });
    await other.waitForURL(`${app.relay.url}${APP}${address()}`);
    await other.goto(`${app.relay.url}${APP}/d/${app.machine.id}/files`);
    await other.getByRole("grid").waitFor();
    await other.waitForURL(/\/files\/[^?]+$/);
    expect(await other.locator(".xterm").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("it is opened, left, entered again and moved by keyboard alone", async () => {
    const { page, faults } = await open();
    await page.getByRole("grid").focus();
    await page.keyboard.press("Alt+Shift+KeyF");
    await page.getByRole("button", { name: "New terminal" }).focus();
    await page.keyboard.press("Enter");
    await expectPrompt(page);
    await typeLine(page, "echo by-keys");
    await expectOnScreen(page, "\nby-keys\n");
    await page.keyboard.press("Alt+Shift+KeyF");
    await expect.poll(() => focusIn(page, "[role=grid]")).toBe(true);
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForURL(/plans\?terminal=below$/);
    await page.keyboard.press("Alt+Shift+KeyF");
    await expect.poll(() => focusIn(page, ".xterm")).toBe(true);
    await typeLine(page, "echo again");
    await expectOnScreen(page, "\nagain\n");
    expect(faults).toEqual([]);
  });

  test("a new terminal begins in the folder that is shown", async () => {
    const { page, faults } = await open("?terminal=below");
    await newTerminal(page);
    await typeLine(page, "ls");
    await expectOnScreen(page, "notes.txt");
    expect(faults).toEqual([]);
  });

  test("a folder is opened in a new tab of it, and the page stays", async () => {
    const { page, faults } = await open("?terminal=below");
    await newTerminal(page);
    await row(page, "plans").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Open in terminal" }).click();
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    await expectPrompt(page);
    await expect.poll(() => focusIn(page, ".xterm")).toBe(true);
    await typeLine(page, "pwd");
    await expectOnScreen(page, `\n${folder}/plans\n`);
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(address("?terminal=below"));
    expect(faults).toEqual([]);
  });

  test("it comes back with the relay, while the files say that it is away", async () => {
    const { page, faults } = await open("?terminal=below");
    await newTerminal(page);
    await typeLine(page, "before=kept");
    // Keys that are still on their way to the relay end with it.
    await expectOnScreen(page, /before=kept\n.*[$#]$/);
    await app.relay.kill();
    await page.getByText("what you type waits").waitFor();
    await app.relay.ready();
    await page.getByText("what you type waits").waitFor({ state: "detached" });
    await typeLine(page, "echo $before$((1 + 1))");
    await expectOnScreen(page, "kept2");
    await row(page, "plans").dblclick();
    await page.waitForURL(/plans\?terminal=below$/);
    await page.getByText("This folder is empty.").waitFor();
    expect(faults).toEqual([]);
  });

  test("what was kept or stands in the address is taken with care", async () => {
    const kept = JSON.stringify({
      at: 1,
      value: { isOpen: "yes", side: "left", shares: { right: 999, below: "x" }, folder: 5, front: {} },
    });
    const { page, faults } = await open("?terminal=last", {
      before: `localStorage.setItem("matrx-last:workspace:${app.machine.id}", ${JSON.stringify(kept)});
        localStorage.setItem("matrx-last:terminals:${app.machine.id}", '{"at":1,"value":{"tabs":[{"id":1}]}}')`,
    });
    await page.waitForURL(/terminal=below$/);
    await page.getByRole("heading", { name: /^Terminals of/ }).waitFor();
    for (const hostile of ["5", "%3Cb%3E", "%5B%22below%22%5D", "__proto__"]) {
      await page.goto(`${app.relay.url}${APP}${address(`?terminal=${hostile}&file=notes.txt`)}`);
      await page.getByRole("region", { name: "File" }).getByText("water the beans").waitFor();
      expect(await page.getByRole("region", { name: "Terminals" }).count()).toBe(0);
    }
    expect(faults).toEqual([]);
  });

  test("on a tablet a finger takes the bars a little beside them, too", async () => {
    const context = { viewport: { width: 1180, height: 820 }, hasTouch: true, isMobile: true };
    const { page } = await open("?terminal=below", { context });
    await newTerminal(page);
    await page.getByRole("button", { name: "Split to the right" }).tap();
    await expect
      .poll(() => page.getByRole("separator", { name: "Move the bar between the panes" }).count())
      .toBe(1);
    for (const name of [BAR, "Move the bar between the panes"])
      expect(await reachOf(page, name), name).toBeGreaterThanOrEqual(24);
  });

  test("on a phone one of both is shown, and both go on", async () => {
    const opened = await open("", { screen: "phone", context: { viewport: { width: 360, height: 740 } } });
    const { page } = opened;
    await toggle(page).tap();
    await newTerminal(page);
    await page.getByLabel("Type a command").fill("echo $((40 + 2)) from a phone");
    await page.getByRole("button", { name: "Send" }).tap();
    await expectOnScreen(page, "42 from a phone");
    expect(await page.getByRole("grid").isVisible()).toBe(false);
    await expectNoObjections(opened);
    expect(await smallTargets(page, "[role=toolbar] button, form button", 44)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).toBe(0);
    await page.getByRole("radiogroup", { name: "Shown" }).getByText("Files").tap();
    await row(page, "plans").tap();
    await page.waitForURL(/plans\?terminal=below$/);
    await page.getByText("This folder is empty.").waitFor();
    expect(await page.locator(".xterm").isVisible()).toBe(false);
    await expectNoObjections(opened);
    await page.getByRole("radiogroup", { name: "Shown" }).getByText("Terminal").tap();
    await expectOnScreen(page, "42 from a phone");
    expect(await screenOf(page)).toMatch(/[$#]$/);
  });
});

const toggle = (page: Page) => page.getByRole("button", { name: "Terminal", exact: true });

function row(page: Page, name: string) {
  return page
    .getByRole("grid")
    .getByRole("row")
    .filter({ has: page.getByText(name, { exact: true }) });
}

function focusIn(page: Page, selector: string): Promise<boolean> {
  return page.evaluate<boolean>(`document.activeElement.closest(${JSON.stringify(selector)}) !== null`);
}

/** How thick a bar is for a finger, in pixels. */
async function reachOf(page: Page, name: string): Promise<number> {
  const bar = await page.getByRole("separator", { name }).boundingBox();
  if (!bar) throw new Error("There is no bar");
  const { x, y, width, height } = bar;
  const point = width < height ? `${x} - 27 + at, ${y + height / 3}` : `${x + width / 3}, ${y} - 27 + at`;
  return page.evaluate<number>(
    `Array.from({ length: 60 }, (_, at) => document.elementFromPoint(${point}))
      .filter((one) => one?.closest("[role=separator]")?.getAttribute("aria-label") === ${JSON.stringify(name)}).length`,
  );
}
