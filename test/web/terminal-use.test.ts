/** What a person does in a terminal besides typing, and what a program in it can't do. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, expectNoObjections } from "./app.ts";
import { listen, portOf } from "./hostile.ts";
import {
  expectOnScreen,
  expectPrompt,
  newTerminal,
  screenOf,
  startTerminalApp,
  typeLine,
} from "./terminal.ts";

describe("use of a terminal", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  const path = () => `/d/${app.machine.id}/terminal`;
  const open = async () => {
    const opened = await app.open(path(), {
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await newTerminal(opened.page);
    return opened;
  };

  test("text is found by Ctrl F, forwards and backwards, and a program with all of the screen has that key", async () => {
    const opened = await open();
    const { page, faults } = opened;
    await typeLine(page, "clear; seq 1 400 | sed 's/7$/7 needle/'");
    await expectOnScreen(page, /^400\n.*[$#]$/m);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("needle");
    const found = page.locator("search").getByRole("status");
    await expect.poll(() => found.innerText()).toMatch(/^\d+ of 40$/);
    const first = Number.parseInt(await found.innerText(), 10);
    await page.keyboard.press("Shift+Enter");
    await expect.poll(async () => Number.parseInt(await found.innerText(), 10)).not.toBe(first);
    await page.keyboard.press("Enter");
    await expect.poll(async () => Number.parseInt(await found.innerText(), 10)).toBe(first);
    await expectNoObjections(opened);
    await page.keyboard.press("Escape");
    await typeLine(
      page,
      String.raw`clear; printf '\033[?1049hfull\n'; read -rsn1 key; printf '\033[?1049l'; printf 'got %q\n' "$key"`,
    );
    await expectOnScreen(page, /^full$/m);
    await page.keyboard.press("Control+f");
    await expectOnScreen(page, String.raw`got $'\006'`);
    expect(faults).toEqual([]);
  });

  test("what is selected is copied, and several lines are pasted only after a question where they would run at once", async () => {
    const { page, faults } = await open();
    await typeLine(page, "clear; echo copy-this-word");
    await expectOnScreen(page, /^copy-this-word/m);
    const word = await placeOf(page, "copy-this-word");
    await page.mouse.dblclick(word.x, word.y);
    await page.keyboard.press("Control+Shift+c");
    await page.getByText("Copied.", { exact: true }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("copy-this-word");
    // Without bracketed paste, a shell runs each line as it comes.
    await typeLine(page, "clear; bind 'set enable-bracketed-paste off'; echo ready; cat");
    await expectOnScreen(page, /^ready$/m);
    const copied = "one\\r\\ntwo\\u001b[201~\\nthree";
    await page.evaluate(`navigator.clipboard.writeText("${copied}")`);
    await page.keyboard.press("Control+Shift+v");
    const question = page.getByRole("dialog");
    await question.getByText("2 lines").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Control+Shift+v");
    await question.getByRole("button", { name: "Paste" }).click();
    await expectOnScreen(page, /one\n(?:.*\n)*two\[201~\n(?:.*\n)*three/);
    expect(faults).toEqual([]);
  });

  test("an address that is shown opens in a page of its own, which knows nothing of this one", async () => {
    const visited: unknown[] = [];
    await using server = await listen((request, response) => {
      if (request.url !== "/favicon.ico") visited.push([request.url, request.headers.referer]);
      response.setHeader("Content-Type", "text/html").end("<title>shown</title>");
    });
    const { page, faults } = await open();
    const address = `http://127.0.0.1:${portOf(server)}/shown`;
    await typeLine(
      page,
      `clear; echo ${address}; printf '\\033]8;;http://127.0.0.1:${portOf(server)}/hidden\\033\\\\look\\033]8;;\\033\\\\\\n'; echo javascript:alert`,
    );
    await expectOnScreen(page, /^look$/m);
    const click = async (text: string) => {
      const { x, y } = await placeOf(page, text);
      // A link is one once the pointer is over it.
      await page.mouse.move(x, y);
      await page.mouse.move(x + 1, y);
      await page.mouse.click(x, y);
    };
    const before = page.context().pages();
    const opening = page.context().waitForEvent("page");
    await click(address);
    const shown = await opening;
    await shown.waitForURL(address);
    expect(await shown.evaluate("window.opener")).toBeNull();
    await click("look");
    await click("javascript:alert");
    await typeLine(page, "echo done-$((1 + 1))");
    await expectOnScreen(page, "done-2");
    expect(page.context().pages()).toEqual([...before, shown]);
    expect(visited).toEqual([["/shown", undefined]]);
    expect(faults).toEqual([]);
  });

  test("a program can neither reach what was copied, nor write outside of its terminal", async () => {
    const opened = await open();
    const { page, faults } = opened;
    await page.evaluate('navigator.clipboard.writeText("mine")');
    const steal = String.raw`printf '\033]52;c;c3RvbGVu\007\033]52;c;?\007'`;
    const title = String.raw`printf '\033]0;<b>root</b>\u202eevil\n\007'`;
    const junk = String.raw`printf '\033]9999;%s\007\033P%s\033\\' "$(head -c 300000 /dev/zero | tr '\0' A)" "$(head -c 300000 /dev/zero | tr '\0' B)"`;
    await typeLine(page, `clear; ${steal}; ${title}; ${junk}; echo after-all`);
    await expectOnScreen(page, /^after-all/m);
    await page.getByRole("tab", { name: /<b>root<\/b>.*evil/ }).waitFor();
    expect(await page.locator("b").count()).toBe(0);
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine");
    // It may name itself as often as it likes.
    await typeLine(
      page,
      String.raw`for n in $(seq 1 20000); do printf '\033]0;name-%s\007' $n; done; echo named`,
    );
    await page.getByRole("tab", { name: "name-20000" }).waitFor();
    await typeLine(page, "head -c 200000 /dev/urandom; printf '\\033c'; echo still-$((1 + 1))");
    await expectOnScreen(page, "still-2");
    await expectFitting(opened);
    expect(faults).toEqual([]);
  });

  test("all of it can be used by keyboard, and left", async () => {
    const { page, faults } = await app.open(path());
    await page.getByRole("button", { name: "New terminal" }).focus();
    await page.keyboard.press("Enter");
    await expectPrompt(page);
    await typeLine(page, "echo one");
    await page.keyboard.press("Alt+Shift+KeyD");
    await expect.poll(() => page.locator(".xterm").count()).toBe(2);
    await focusIsIn(page, ".xterm", 1);
    await page.keyboard.press("Alt+Shift+ArrowLeft");
    await focusIsIn(page, ".xterm", 0);
    await page.keyboard.press("Alt+Shift+KeyT");
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    await expectPrompt(page);
    await page.keyboard.press("Tab");
    await focusIsIn(page, ".xterm");
    await page.keyboard.press("Alt+Shift+KeyM");
    await focusIsIn(page, "[role=tab][aria-selected=true]");
    // A dialog gives the focus back, and the keys are the same beside the terminal.
    for (const key of ["F2", "Alt+Shift+KeyR"]) {
      await page.keyboard.press(key);
      await focusIsIn(page, "[role=dialog] input");
      await page.keyboard.press("Escape");
      await focusIsIn(page, "[role=tab][aria-selected=true]");
    }
    await page.getByRole("button", { name: "More", exact: true }).focus();
    await page.keyboard.press("Enter");
    await focusIsIn(page, "[role=menuitem]");
    await page.keyboard.press("Enter");
    await focusIsIn(page, "[role=dialog] input");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focusIsIn(page, ".mantine-ActionIcon-root, [role=tab][aria-selected=true]");
    await page.keyboard.press("Alt+Shift+KeyM");
    await focusIsIn(page, "[role=tab][aria-selected=true]");
    await page.keyboard.press("ArrowLeft");
    await expect
      .poll(() => page.getByRole("tab", { selected: true }).getAttribute("id"))
      .toBe(await page.getByRole("tab").first().getAttribute("id"));
    await page.keyboard.press("Tab");
    await focusIsIn(page, "button[aria-label='New terminal']");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await focusIsIn(page, ".xterm");
    await page.keyboard.press("Alt+Shift+KeyW");
    await expect.poll(() => page.locator(".xterm").filter({ visible: true }).count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("letters, lines and the help for screen readers are chosen, and kept", async () => {
    const opened = await open();
    const { page, faults } = opened;
    const size = () => page.evaluate<number>('document.querySelector(".xterm-rows > div").offsetHeight');
    const before = await size();
    await page.getByRole("button", { name: "Settings and keys" }).click();
    const settings = page.getByRole("dialog");
    for (let times = 0; times < 4; times++) await settings.getByRole("button", { name: "Larger" }).click();
    await settings.getByText("18 pixels").waitFor();
    await settings.getByLabel("Lines that can be scrolled back to").selectOption("1,000");
    await settings.getByLabel("For screen readers").check();
    await expectNoObjections(opened);
    await page.keyboard.press("Escape");
    await expect.poll(size).toBeGreaterThan(before);
    await page.reload();
    await expectPrompt(page);
    await typeLine(page, "clear; echo $((6 * 7)) is read out");
    await expect
      .poll(() => page.locator(".xterm-accessibility-tree").innerText())
      .toContain("42 is read out");
    await expectNoObjections(opened);
    await typeLine(page, "seq 1 3000");
    await expectOnScreen(page, /^3000\n.*[$#]$/m);
    await page.getByRole("button", { name: "Select text" }).click();
    const text = await page.getByRole("dialog").locator("pre").innerText();
    expect(text.split("\n").length).toBeLessThanOrEqual(500);
    expect(text).toContain("\n2999\n3000\n");
    await expectNoObjections(opened);
    expect(await screenOf(page)).toContain("3000");
    expect(faults).toEqual([]);
  });
});

/** One of those of them that can be seen has the focus. */
async function focusIsIn(page: Page, selector: string, index = 0): Promise<void> {
  const shown = `[...document.querySelectorAll(${JSON.stringify(selector)})].filter((one) => one.checkVisibility())`;
  await expect.poll(() => page.evaluate(`${shown}[${index}]?.contains(document.activeElement)`)).toBe(true);
}

/** Where a text stands in the terminal: the pointer meets another layer there. */
async function placeOf(page: Page, text: string): Promise<{ x: number; y: number }> {
  const box = await page.locator(".xterm-rows").getByText(text, { exact: true }).last().boundingBox();
  if (!box) throw new Error(`${text} is not shown`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
