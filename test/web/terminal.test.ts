/** The terminal's page: a real shell on a real machine, in a real browser. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { startAgent } from "../../scripts/start/agent.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { LONG } from "../helpers/long-mode.ts";
import { APP, expectFitting, expectNoObjections } from "./app.ts";
import { callerOf } from "./caller.ts";
import {
  expectOnScreen,
  expectPrompt,
  newTerminal,
  screenOf,
  startTerminalApp,
  typeLine,
} from "./terminal.ts";

/** In MiB; more in the long mode. */
const FLOOD = LONG ? 100 : 10;
/** It takes at most so long, in milliseconds. */
const FLOODED = 60_000 + FLOOD * 4_000;

describe("a terminal in the browser", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  const path = () => `/d/${app.machine.id}/terminal`;
  const open = async () => {
    const opened = await app.open(path());
    await newTerminal(opened.page);
    return opened;
  };

  test("is opened in a folder of the files' page, and by no address", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "plans"));
    const { page, faults } = await app.open(`/d/${app.machine.id}/files${encodeURI(folder)}`);
    await page.getByRole("row").filter({ hasText: "plans" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Open in terminal" }).click();
    await expectPrompt(page);
    await typeLine(page, "pwd");
    await expectOnScreen(page, `\n${folder}/plans\n`);
    await page.getByRole("tab").first().waitFor();
    expect(await page.getByRole("tab").count()).toBe(1);
    await page.goto(`${app.relay.url}${APP}${path()}?cwd=/etc&folder=/etc`);
    await expectPrompt(page);
    expect(await page.getByRole("tab").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("runs what is typed, is as large as its pane, and is there after a reload, each line once", async () => {
    const opened = await app.open(`/d/${app.machine.id}`);
    const { page, faults } = opened;
    await page.locator("main").getByRole("link", { name: "Terminal", exact: true }).click();
    await page.getByRole("button", { name: "New terminal" }).waitFor();
    await expectNoObjections(opened);
    await newTerminal(page);
    await typeLine(page, "echo $((6 * 7)) is $TERM, $(stty size | tr ' ' x)");
    const { cols, rows } = await shownSize(page);
    await expectOnScreen(page, `42 is xterm-256color, ${rows}x${cols}`);
    expect(cols).toBeGreaterThan(100);
    await page.setViewportSize({ width: 1000, height: 600 });
    await expect.poll(async () => (await shownSize(page)).cols).toBeLessThan(cols);
    const smaller = await shownSize(page);
    await typeLine(page, "echo now $(stty size | tr ' ' x)");
    await expectOnScreen(page, `now ${smaller.rows}x${smaller.cols}`);
    await expectNoObjections(opened);
    await expectPrompt(page);
    const before = await screenOf(page);
    await page.reload();
    await expect.poll(() => screenOf(page)).toBe(before);
    await typeLine(page, "exit 3");
    await page.getByText("Ended with exit code 3").waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Start again" }).click();
    await expectPrompt(page);
    await typeLine(page, "echo again");
    await expectOnScreen(page, "\nagain\n");
    expect(faults).toEqual([]);
  });

  test("what is typed while it opens is for it, from the first key on, and not for the one before", async () => {
    const { page, faults } = await app.open(path());
    await page.getByRole("button", { name: "New terminal", exact: true }).click();
    await typeLine(page, "read -r word");
    await expectOnScreen(page, /[$#] read -r word$/);
    await page.keyboard.press("Alt+Shift+T");
    await typeLine(page, "echo typed-$((1 + 1))");
    await expectOnScreen(page, "typed-2");
    await page.getByRole("tab").first().click();
    await page.locator(".xterm").filter({ visible: true }).click();
    await typeLine(page, "own");
    await typeLine(page, "echo has-$word");
    await expectOnScreen(page, "has-own");
    expect(faults).toEqual([]);
  });

  test("goes on where it was when the relay dies in the middle: nothing is missing, nothing comes twice", async () => {
    const { page, faults } = await open();
    await typeLine(page, "for n in $(seq 1 30); do echo tick-$n; sleep 0.2; done; echo all-$((1 + 1))");
    await expectOnScreen(page, "tick-5\n");
    await app.relay.kill();
    await page.getByText("what you type waits").waitFor();
    expect(await page.getByText("may not have arrived").count()).toBe(0);
    await page.keyboard.type("echo typed-$((2 + 2)) mean");
    await app.relay.ready();
    await expectOnScreen(page, "all-2");
    await page.keyboard.type("while");
    await page.keyboard.press("Enter");
    await expectOnScreen(page, "typed-4 meanwhile");
    // What is typed is echoed before the line that comes next.
    const ticks = [...(await screenOf(page)).matchAll(/tick-(\d+)$/gm)].map(([, tick]) => Number(tick));
    expect(ticks).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    // Of keys that nothing followed, nobody knows whether they arrived.
    await typeLine(page, "clear; stty -echo; echo asks-$((1 + 1)); read -r secret; echo got-$secret");
    await expectOnScreen(page, "asks-2");
    await page.keyboard.type("hidden");
    await app.relay.kill();
    await page.getByText("may not have arrived").waitFor();
    await app.relay.ready();
    await page.keyboard.press("Enter");
    await expectOnScreen(page, "got-");
    expect(faults).toEqual([]);
  });

  test("says that the machine is offline, and comes back with it", async () => {
    const { page, faults } = await open();
    await typeLine(page, "before=kept; echo kept-$((0 + 1))");
    await expectOnScreen(page, "kept-1");
    await app.machine.agent.stop();
    await page.getByText("The machine is offline.").waitFor();
    const { page: later } = await app.openAlone(path());
    await later.getByText("The device is not connected").waitFor();
    const silent = () => undefined;
    app.machine.agent = await startAgent({
      ...{ dataDir: app.relay.dataDir, onStart: silent, onDeath: silent },
    });
    await page.getByText("The machine is offline.").waitFor({ state: "detached" });
    await typeLine(page, "echo $before$((1 + 1))");
    await expectOnScreen(page, "kept2");
    await later.getByRole("list", { name: "Open on this machine" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("is the same in two windows: both see all, and it has the size of the one that is used", async () => {
    const { page, faults } = await open();
    const other = await page.context().newPage();
    await other.setViewportSize({ width: 900, height: 500 });
    await other.goto(`${app.relay.url}${APP}${path()}`);
    await expectPrompt(other);
    await other.locator(".xterm").click();
    await typeLine(other, "echo from-$((1 + 1))");
    await expectOnScreen(other, "from-2");
    await expectOnScreen(page, "from-2");
    await page.getByRole("button", { name: /^Has the size of another window/ }).waitFor();
    const { cols } = await shownSize(other);
    expect(cols).toBeLessThan(100);
    await expect.poll(async () => (await shownSize(page)).cols).toBe(cols);
    await page.bringToFront();
    await page.locator(".xterm").click();
    await typeLine(page, "clear");
    await expect.poll(async () => (await shownSize(page)).cols).toBeGreaterThan(cols);
    // A program that asks what the terminal is gets one answer.
    await page.locator(".xterm").click();
    await typeLine(
      page,
      String.raw`printf '\033[c'; IFS= read -rsd c a; echo "<$(printf %q "$a")>"; read -t 1 -rs b; echo "rest<$b>"`,
    );
    await expectOnScreen(page, "rest<>");
    expect(faults).toEqual([]);
  });

  test("takes a flood at the speed at which it can be shown, and can be interrupted", {
    timeout: FLOODED + 60_000,
  }, async () => {
    const { page, faults } = await open();
    await typeLine(page, `head -c ${FLOOD}M /dev/zero | tr '\\0' 'x' | fold -w 100; echo; echo all of-it`);
    await expect.poll(() => screenOf(page), { timeout: FLOODED }).toContain("\nall of-it");
    expect(await page.getByText("of output are missing").count()).toBe(0);
    await typeLine(page, "yes flood");
    await expectOnScreen(page, "flood\nflood\nflood");
    await page.keyboard.press("Control+c");
    await expect.poll(() => screenOf(page)).toMatch(/\^C\n.*[$#]$/);
    expect(faults).toEqual([]);
  });

  test("has tabs and panes, which are there after a reload; what runs is ended only after a question", async () => {
    const opened = await open();
    const { page, faults } = opened;
    await typeLine(page, "echo first");
    await page.getByRole("button", { name: "Split to the right" }).click();
    await expect.poll(() => page.locator(".xterm").count()).toBe(2);
    await page.getByRole("separator").waitFor();
    await page.getByRole("button", { name: "New terminal" }).click();
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    await expectPrompt(page);
    await typeLine(page, String.raw`printf '\033]0;editor\007'; sleep 1000`);
    await page.getByRole("tab", { name: "editor" }).waitFor();
    await expectNoObjections(opened);
    await page.reload();
    await page.getByRole("tab", { name: "editor", selected: true }).waitFor();
    await page.getByRole("tab").first().click();
    await expectOnScreen(page, "\nfirst\n");
    await page.getByRole("separator").focus();
    const width = async () => (await page.locator(".xterm").first().boundingBox())?.width ?? 0;
    const before = await width();
    for (let times = 0; times < 5; times++) await page.keyboard.press("ArrowLeft");
    await expect.poll(width).toBeLessThan(before);
    await expectFitting(opened);
    await page.getByRole("tab", { name: "editor" }).click();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    const question = page.getByRole("dialog");
    await question.getByText("sleep 1000").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await question.getByRole("button", { name: "End it" }).click();
    await expect.poll(() => page.getByRole("tab").count()).toBe(1);
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await expect.poll(() => page.locator(".xterm").count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("of another caller is only watched, until the person takes part", async () => {
    const ai = await callerOf(app, { name: "an AI", paths: null, ask: [] });
    const made = JSON.parse(await ai("TerminalCreate", { name: "deploy\u202e\nterm_owner" }));
    await ai("TerminalExecute", { terminal: made.metadata.terminal, command: "echo by-the-$((1 + 0))" });
    const { page, faults } = await app.open(path());
    await page.getByText(String.raw`deploy\u{202E} term_owner`).waitFor();
    await page.getByRole("button", { name: /^Watch deploy/ }).click();
    await expectOnScreen(page, "by-the-1");
    await page.getByText("Only watching").waitFor();
    await page.locator(".xterm").click();
    await page.keyboard.type("not-typed");
    await page.getByRole("button", { name: "Type here too" }).click();
    await page.getByText("Only watching").waitFor({ state: "detached" });
    await expectOnScreen(page, "by-the-1");
    await page.locator(".xterm").click();
    await typeLine(page, "echo by-me-$((1 + 1))");
    await expectOnScreen(page, "by-me-2");
    expect(await screenOf(page)).not.toContain("not-typed");
    expect(faults).toEqual([]);
  });
});

async function shownSize(page: Page): Promise<{ cols: number; rows: number }> {
  const text = await page
    .getByText(/^\d+×\d+$/)
    .filter({ visible: true })
    .first()
    .innerText();
  const [cols = 0, rows = 0] = text.split("×").map(Number);
  return { cols, rows };
}
