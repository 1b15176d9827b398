/** A machine's files in the app: folders, what is in them, and what can be done with them. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startAgent } from "../../scripts/start/agent.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { LONG, LONG_ONLY } from "../helpers/long-mode.ts";
import { expectFitting, expectNoObjections, type Opened, smallTargets, startApp } from "./app.ts";

const TARGETS = "[role=menuitem], [role=row] button, [role=row][data-index]";

/** Runs in our origin if any of it is taken for markup. */
const HOSTILE = `<img src=x onerror="document.title='owned'">`;

describe("a machine's files", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened | undefined;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-files-")));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened?.faults).toEqual([]);
  });

  const write = (name: string, content: string | Uint8Array = "x") =>
    writeFileSync(join(folder, name), content);
  const address = (path = folder) => `/d/${app.machine.id}/files${encodeURI(path)}`;
  async function open(path = folder, options: Parameters<typeof app.open>[1] = {}): Promise<Opened> {
    opened = await app.open(address(path), options);
    page = opened.page;
    return opened;
  }
  const grid = () => page.getByRole("grid");
  const names = () => grid().locator("[role=row][data-index] bdi").allTextContents();
  const active = () => grid().locator("[role=row][data-active=true] bdi").textContent();
  const focused = () => page.evaluate("document.activeElement?.getAttribute('role')");
  const row = (name: string) =>
    grid()
      .getByRole("row")
      .filter({ has: page.getByText(name, { exact: true }) });
  const file = () => page.getByRole("region", { name: "File" });

  test("are listed with size and time, folders first, and sorted as somebody wants", async () => {
    mkdirSync(join(folder, "zoo"));
    write("b10.txt", "ten bytes!");
    write("b9.txt", "9");
    write(".hidden");
    await open();
    await expect.poll(names).toEqual(["zoo", "b9.txt", "b10.txt"]);
    await expect.poll(() => row("b10.txt").textContent()).toMatch(/10 B/);
    await page.getByText("3 entries").waitFor();
    await expectNoObjections(opened as Opened);

    await page.getByRole("button", { name: "Size" }).click();
    await page.getByRole("button", { name: "Size" }).click();
    await expect.poll(names).toEqual(["zoo", "b10.txt", "b9.txt"]);
    await page.getByRole("button", { name: "Hidden files" }).click();
    await expect.poll(names).toContain(".hidden");
    await page.getByLabel("Filter this folder").fill("B9");
    await expect.poll(names).toEqual(["b9.txt"]);
  });

  test("are gone through by the keyboard alone, and the browser's way back leads back", async () => {
    mkdirSync(join(folder, "docs", "deep"), { recursive: true });
    write("alpha.txt");
    write("beta.txt");
    await open();
    await expect.poll(names).toEqual(["docs", "alpha.txt", "beta.txt"]);
    await grid().focus();
    await page.keyboard.press("End");
    await expect.poll(active).toBe("beta.txt");
    await page.keyboard.press("a");
    await expect.poll(active).toBe("alpha.txt");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await expect.poll(names).toEqual(["deep"]);
    expect(new URL(page.url()).pathname).toBe(address(join(folder, "docs")));
    await grid().focus();
    await page.keyboard.press("Backspace");
    await expect.poll(names).toEqual(["docs", "alpha.txt", "beta.txt"]);
    await expect.poll(active).toBe("docs");
    await page.goBack();
    await expect.poll(names).toEqual(["deep"]);
    await page.getByRole("navigation", { name: "Folder", exact: true }).getByRole("link").nth(-2).click();
    await expect.poll(names).toEqual(["docs", "alpha.txt", "beta.txt"]);
  });

  test("a double click opens a folder, and nothing that is in it", async () => {
    mkdirSync(join(folder, "outer/inner/innermost"), { recursive: true });
    await open();
    const box = await row("outer").boundingBox();
    const [x, y] = [(box?.x ?? 0) + 60, (box?.y ?? 0) + 10];
    await page.mouse.click(x, y);
    await expect.poll(names).toEqual(["inner"]);
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await page.mouse.click(x, y + 5, { button: "right" });
    await page.getByRole("menu").waitFor();
    expect(new URL(page.url()).pathname).toBe(`${address()}/outer`);
  });

  test("are renamed, moved to the trash and put back", async () => {
    write("old name.txt", "kept");
    await open();
    await row("old name.txt").waitFor();
    await grid().focus();
    await page.keyboard.press("F2");
    const name = page.getByLabel("New name of old name.txt");
    await expect.poll(() => name.inputValue()).toBe("old name.txt");
    await page.keyboard.type("new");
    await page.keyboard.press("Enter");
    await expect.poll(names).toEqual(["new.txt"]);
    expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("kept");
    await expect.poll(focused).toBe("grid");

    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "Move to trash" }).click();
    await expect.poll(names).toEqual([]);
    await page.getByText("This folder is empty.").waitFor();
    await page.getByRole("button", { name: "Put it back" }).click();
    await expect.poll(names).toEqual(["new.txt"]);
    expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("kept");
  });

  test("take what is typed right after F2 as the new name", async () => {
    write("old name.txt", "kept");
    await open();
    await row("old name.txt").waitFor();
    await grid().focus();
    expect(await page.evaluate(PRESS_F2)).toBe("old name");
  });

  test("get a new folder, and tell when a name is taken", async () => {
    write("taken");
    await open();
    await row("taken").waitFor();
    const make = async (name: string) => {
      await page.getByRole("button", { name: "New folder" }).click();
      await page.getByLabel("Name of the folder").fill(name);
      await page.getByRole("button", { name: "Make it" }).click();
    };
    await make("taken");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Name of the folder").fill("a/b");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("That can't be a name.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await make("photos");
    await expect.poll(names).toEqual(["photos", "taken"]);
    expect(existsSync(join(folder, "photos"))).toBe(true);
  });

  test("have names in which nothing is hidden, and which still open", async () => {
    const odd = [HOSTILE, "two\nlines.txt", "gpj\u202eexe.txt", "per%20cent #1?.txt", "שלום.txt", "~tilde"];
    for (const name of odd) write(name, `this is ${name}`);
    mkdirSync(join(folder, "odd\n?#%41"));
    write("odd\n?#%41/inside.txt", HOSTILE);
    await open();
    await expect.poll(async () => (await names()).length).toBe(7);
    await expect.poll(names).toContain("gpj\\u{202E}exe.txt");
    await expect.poll(names).toContain("two lines.txt");
    for (const name of await names()) {
      if (name.startsWith("odd")) continue;
      await row(name).first().click();
      await expect.poll(() => file().locator("pre").textContent()).toMatch(/^this is /);
    }
    await grid().getByText("odd ?#%41").click();
    await expect.poll(names).toEqual(["inside.txt"]);
    await row("inside.txt").click();
    await expect.poll(() => file().locator("pre").textContent()).toContain(HOSTILE);
    await page.reload();
    await expect.poll(() => file().locator("pre").textContent()).toContain(HOSTILE);
    expect(await page.title()).not.toContain("owned");
    expect(await page.locator("main img").count()).toBe(0);
  });

  test("begin at home from the navigation, and the root is above all", async () => {
    opened = await app.open(`/d/${app.machine.id}`);
    page = opened.page;
    await page
      .getByRole("navigation", { name: "Main", exact: true })
      .getByRole("link", { name: "Files" })
      .click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(address(homedir()));
    await page.getByRole("navigation", { name: "Folder", exact: true }).getByRole("link").first().click();
    await expect.poll(names).toContain("usr");
    await page.reload();
    await expect.poll(names).toContain("usr");
    const tree = page.getByRole("tree");
    await tree.getByRole("treeitem", { name: "usr" }).first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).pathname).toBe(address("/usr"));
  });

  test("have a menu at the pointer, by a key and by a finger that stays", async () => {
    write("notes.txt");
    await open();
    await row("notes.txt").click({ button: "right" });
    const items = () => page.getByRole("menuitem").allTextContents();
    const all = [
      ...["Open", "Choose", "Edit", "Download", "Open in terminal", "Copy path", "Rename …", "Move to …"],
      ...["Share a link …", "Send to the cloud store", "Delete"],
    ];
    await expect.poll(items).toEqual(all);
    await expectNoObjections(opened as Opened);
    const focusedText = () => page.evaluate("document.activeElement?.textContent");
    await expect.poll(focusedText).toBe("Open");
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await grid().focus();
    await page.keyboard.press("Shift+F10");
    await expect.poll(items).toEqual(all);
    await expect.poll(focusedText).toBe("Open");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("grid");

    await open(folder, { screen: "phone" });
    const box = await row("notes.txt").boundingBox();
    const devtools = await page.context().newCDPSession(page);
    const touchPoints = [{ x: (box?.x ?? 0) + 60, y: (box?.y ?? 0) + 20 }];
    await devtools.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints });
    await expect.poll(items).toEqual(all);
    await devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await expect.poll(items).toEqual(all);
    expect(await smallTargets(page, TARGETS, 40)).toEqual([]);
    await expectNoObjections(opened as Opened);
  });

  test("are moved into another folder by their menu, and saved on the person's own disk", async () => {
    mkdirSync(join(folder, "there"));
    write("notes.txt", "about pumps");
    await open();
    await row("notes.txt").getByRole("button").click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("notes.txt");
    expect(readFileSync(await saved.path(), "utf8")).toBe("about pumps");
    await row("notes.txt").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Move to" }).click();
    await page.getByLabel("Folder for notes.txt").fill(join(folder, "there"));
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await expect.poll(names).toEqual(["there"]);
    expect(readFileSync(join(folder, "there/notes.txt"), "utf8")).toBe("about pumps");
  });

  test("of any size are saved as they come, once the app's worker is there", async () => {
    write("film.bin", new Uint8Array(3_000_000).fill(7));
    await open(folder, { workers: true });
    await page.waitForFunction("navigator.serviceWorker.ready.then(() => true)");
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await row("film.bin").getByRole("button").click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download" }).click(),
    ]);
    // It is no copy in the page's memory.
    expect(saved.url()).toContain(`/v1/devices/${app.machine.id}/files/`);
    expect(readFileSync(await saved.path()).equals(readFileSync(join(folder, "film.bin")))).toBe(true);
    await row("film.bin").waitFor();
    // What can't be saved does not lead the page away.
    rmSync(join(folder, "film.bin"));
    await row("film.bin").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Download" }).click();
    await page
      .getByRole("status", { name: "News" })
      .getByText(/film\.bin/)
      .waitFor();
    await row("film.bin").waitFor();
    // Somebody's link to it saves nothing: the page has to ask for it each time.
    const other = await page.context().newPage();
    const answer = await other.goto(saved.url());
    expect(answer?.status()).toBe(401);
  });

  test("are shared by a link that works until it is revoked", async () => {
    write("notes.txt", "about pumps");
    await open();
    await row("notes.txt").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Share a link" }).click();
    await page.getByRole("combobox", { name: "It works for" }).selectOption("An hour");
    await page.getByRole("button", { name: "Make the link" }).click();
    const link = await page.getByLabel("The link, shown only now").inputValue();
    await expectNoObjections(opened as Opened);
    expect(await (await fetch(link)).text()).toBe("about pumps");
    await page.getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("The link no longer works.").waitFor();
    await expect.poll(async () => (await fetch(link)).status).not.toBe(200);
  });

  test("are sent to the cloud store", async () => {
    write("notes.txt", "about pumps");
    await open();
    await row("notes.txt").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Send to the cloud store" }).click();
    await page.getByText("notes.txt is in the cloud store for a week").waitFor();
  });

  test("whose address is a file's are shown in their folder, and those that are gone are told", async () => {
    write("notes.txt", "about pumps");
    await open(join(folder, "notes.txt"));
    await expect.poll(() => file().locator("pre").textContent()).toBe("about pumps\n");
    await expect.poll(names).toEqual(["notes.txt"]);
    await page.goto(`${app.relay.url}${address(join(folder, "no such"))}`);
    await page
      .getByRole("alert")
      .getByText(/no such/)
      .waitFor();
    await expectNoObjections(opened as Opened);
  });

  test("of a machine that is away are told calmly, and are there again when it is back", async () => {
    write("notes.txt");
    await open();
    await row("notes.txt").waitFor();
    await app.machine.agent.stop();
    await page.getByText(/ is offline: /).waitFor({ timeout: 60_000 });
    await expectNoObjections(opened as Opened);
    await expect.poll(() => page.getByRole("button", { name: "Upload" }).isDisabled()).toBe(true);
    app.machine.agent = await startAgent({
      dataDir: app.relay.dataDir,
      onStart: () => undefined,
      onDeath: () => undefined,
    });
    await page.getByText(/ is offline: /).waitFor({ state: "detached", timeout: 60_000 });
    write("more.txt");
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(names).toEqual(["more.txt", "notes.txt"]);
  }, 150_000);

  test("by the thousand are scrolled with few of them drawn, and found by name", async () => {
    for (let at = 0; at < 5_000; at++) write(`measurement-${at}.csv`, "");
    await open();
    await page.getByText("5000 entries").waitFor();
    const lines = () => page.locator("[role=row][data-index]").count();
    expect(await lines()).toBeLessThan(80);
    await grid().focus();
    await page.keyboard.press("End");
    await expect.poll(active).toBe("measurement-4999.csv");
    expect(await lines()).toBeLessThan(80);
    const longest = await page.evaluate<number>(SCROLLING);
    // A busy machine makes frames late.
    if (LONG) expect(longest, "the longest frame while it scrolls, in ms").toBeLessThan(100);
    await page.getByLabel("Filter this folder").fill("-777");
    await expect.poll(names).toEqual(["measurement-777.csv"]);
    await expectFitting(opened as Opened);
  });

  test("by the hundred thousand come in pages, and the machine finds them by name", {
    ...LONG_ONLY,
    timeout: 300_000,
  }, async () => {
    for (let at = 0; at < 200_000; at++) write(`n${String(at).padStart(6, "0")}`, "");
    const began = Date.now();
    await open();
    await expect.poll(names).toContain("n000000");
    expect(Date.now() - began).toBeLessThan(20_000);
    await page.getByText(/^5,000 of 200000 entries/).waitFor();
    await grid().focus();
    await page.keyboard.press("End");
    await page.getByText(/^10,000 of/).waitFor();
    await page.getByLabel("Filter this folder").fill("n199999");
    await expect.poll(names).toEqual(["n199999"]);
  });
});

/** Scrolls from the top to the end within a second. Resolves to the longest time between two frames, in milliseconds. */
const SCROLLING = `(async () => {
  const grid = document.querySelector("[role=grid]");
  grid.scrollTop = 0;
  let [longest, last] = [0, performance.now()];
  for (let step = 0; step <= 60; step++) {
    await new Promise(requestAnimationFrame);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    grid.scrollTop = (grid.scrollHeight * step) / 60;
  }
  return longest;
})()`;

/** Presses F2 where the focus is. Resolves to what is selected in the field that has it then, before even a timer has run. */
const PRESS_F2 = `(async () => {
  const key = { key: "F2", bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
  await Promise.resolve();
  const field = document.activeElement;
  return field instanceof HTMLInputElement && field.value.slice(field.selectionStart, field.selectionEnd);
})()`;
