/** Several entries of a folder at once: chosen by pointer, keys and fingers, and moved, deleted, put back and saved together. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import {
  expectFitting,
  expectNoObjections,
  type Opened,
  type Screen,
  smallTargets,
  startApp,
} from "./app.ts";

describe("several entries", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-several-")));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const write = (...names: string[]) => {
    for (const name of names) writeFileSync(join(folder, name), `this is ${name}`);
  };
  async function open(screen: Screen = "desktop"): Promise<void> {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    opened = await app.open(`/d/${app.machine.id}/files${folder}`, { screen, context });
    page = opened.page;
    await grid().locator("[data-index]").first().waitFor();
  }
  const grid = () => page.getByRole("grid");
  const names = () => grid().locator("[data-index] bdi").allTextContents();
  const chosen = () => grid().locator("[data-index][aria-selected=true] bdi").allTextContents();
  const row = (name: string) =>
    grid()
      .getByRole("row")
      .filter({ has: page.getByText(name, { exact: true }) });
  const bar = () => page.getByRole("toolbar", { name: "Chosen entries" });
  const act = (name: string) => bar().getByRole("button", { name, exact: true }).click();
  const panel = () => page.getByRole("region", { name: "Several entries" });

  test("are chosen by the pointer and by the keys, as on one's own desktop", async () => {
    write("a", "b", "c", "d", "e");
    await open();
    await expect.poll(() => grid().getAttribute("aria-multiselectable")).toBe("true");
    await row("b").click({ modifiers: ["Control"] });
    await expect.poll(chosen).toEqual(["b"]);
    await row("d").click({ modifiers: ["Shift"] });
    await expect.poll(chosen).toEqual(["b", "c", "d"]);
    await row("c").click({ modifiers: ["ControlOrMeta"] });
    await expect.poll(chosen).toEqual(["b", "d"]);
    await bar().getByText("2 chosen").waitFor();
    await expectNoObjections(opened);
    expect(await page.getByRole("region", { name: "File" }).count()).toBe(0);

    await grid().focus();
    await page.keyboard.press("Escape");
    await expect.poll(chosen).toEqual([]);
    await bar().waitFor({ state: "detached" });
    await page.keyboard.press("Home");
    // Where all colours are the system's, a line shows where the keyboard is.
    await page.emulateMedia({ forcedColors: "active" });
    const outline = "getComputedStyle(document.querySelector('[data-index][data-active=true]')).outlineStyle";
    expect(await page.evaluate(outline)).toBe("dashed");
    await page.emulateMedia({ forcedColors: "none" });
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await expect.poll(chosen).toEqual(["a", "b", "c"]);
    await page.keyboard.press("Shift+ArrowUp");
    await expect.poll(chosen).toEqual(["a", "b"]);
    await page.keyboard.press("End");
    await page.keyboard.press(" ");
    await expect.poll(chosen).toEqual(["a", "b", "e"]);
    await page.keyboard.press("Control+a");
    await expect.poll(chosen).toEqual(["a", "b", "c", "d", "e"]);
    await page.keyboard.press("Shift+Home");
    await page.keyboard.press("Escape");
    await row("c").hover();
    await row("c").getByRole("checkbox", { name: "Choose c" }).click();
    await expect.poll(chosen).toEqual(["c"]);
    // What is filtered out is not acted on.
    await page.getByLabel("Filter this folder").fill("a");
    await bar().waitFor({ state: "detached" });
  });

  test("go to the trash after one question, and are put back together", async () => {
    write("a.txt", "b.txt", "kept.txt");
    mkdirSync(join(folder, "tree"));
    write("tree/inside.txt");
    await open();
    await row("a.txt").click({ modifiers: ["Control"] });
    await row("b.txt").click({ modifiers: ["Control"] });
    await row("tree").click({ modifiers: ["Control"] });
    await grid().focus();
    await page.keyboard.press("Delete");
    await page
      .getByText("Move 3 entries to the trash of the machine? Among them: 1 folder with all that is in it.")
      .waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Move to trash" }).click();
    await expect.poll(names).toEqual(["kept.txt"]);
    await page.getByText("3 entries are in the trash of the machine.").waitFor();
    // No message lies over the way back.
    expect(await page.getByRole("status", { name: "News" }).innerText()).toBe("");
    expect(readdirSync(folder)).toEqual(["kept.txt"]);
    await page.getByRole("button", { name: "Put them back" }).click();
    await expect.poll(names).toEqual(["tree", "a.txt", "b.txt", "kept.txt"]);
    expect(readFileSync(join(folder, "tree/inside.txt"), "utf8")).toBe("this is tree/inside.txt");
    // Nobody has chosen them since.
    expect(await chosen()).toEqual([]);
  });

  test("are moved as far as they can be, and those that can't be are named with the reason", async () => {
    write("a.txt", "b.txt", "c.txt");
    mkdirSync(join(folder, "there"));
    write("there/b.txt");
    await open();
    await grid().focus();
    await page.keyboard.press("Control+a");
    await row("there").click({ modifiers: ["Control"] });
    await act("Move to …");
    await page.getByLabel("Folder for 3 entries").fill(join(folder, "there"));
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await panel().getByText("2 of 3 entries were moved, 1 failed.").waitFor();
    await panel().getByRole("listitem").getByText("b.txt", { exact: true }).waitFor();
    expect(await panel().getByRole("listitem").textContent()).toMatch(/^b\.txt: .*exists/);
    await expect.poll(names).toEqual(["there", "b.txt"]);
    expect(readFileSync(join(folder, "there/a.txt"), "utf8")).toBe("this is a.txt");
    expect(readFileSync(join(folder, "there/b.txt"), "utf8")).toBe("this is there/b.txt");
    await expectNoObjections(opened);
    await panel().getByRole("button", { name: "Close" }).click();
    await panel().waitFor({ state: "detached" });
  });

  test("have a menu of their own, by which their paths are copied and they are saved one by one", async () => {
    write("a.txt", "b.txt", "c.txt");
    await open();
    await row("a.txt").click({ modifiers: ["Control"] });
    await row("b.txt").click({ modifiers: ["Control"] });
    await row("b.txt").click({ button: "right" });
    await expect
      .poll(() => page.getByRole("menuitem").allTextContents())
      .toEqual(["Download", "Copy paths", "Move to …", "Delete"]);
    await page.getByRole("menuitem", { name: "Copy paths" }).click();
    await page.getByText("2 paths were copied.").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `${join(folder, "a.txt")}\n${join(folder, "b.txt")}`,
    );
    const saved: string[] = [];
    page.on("download", (download) => saved.push(download.suggestedFilename()));
    await act("Download");
    await expect.poll(() => saved).toEqual(["a.txt", "b.txt"]);
    await page.getByText("2 entries were downloaded.").waitFor();
    // Another one's menu is that one's.
    await row("c.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Rename …" }).waitFor();
    // A menu goes with its folder.
    await page.goBack();
    await page.goForward();
    await row("c.txt").waitFor();
    expect(await page.getByRole("menu").count()).toBe(0);
  });

  test("are chosen by fingers: the first one by its menu, more by a tap", async () => {
    write("a.txt", "b.txt", "c.txt");
    await open("phone");
    // The whole of a menu that is longer than the room below it can be reached.
    await page.setViewportSize({ width: 360, height: 560 });
    await row("a.txt").getByRole("button", { name: "Actions" }).tap();
    for (const item of await page.getByRole("menuitem").all()) {
      const box = await item.boundingBox();
      expect((box?.y ?? -1) >= 0 && (box?.y ?? 0) + (box?.height ?? 0) <= 560).toBe(true);
    }
    await page.getByRole("menuitem", { name: "Choose" }).tap();
    await expect.poll(chosen).toEqual(["a.txt"]);
    await row("c.txt").tap();
    await expect.poll(chosen).toEqual(["a.txt", "c.txt"]);
    // The boxes stand in the middle of their lines, and the buttons in one.
    const box = await row("a.txt").getByRole("checkbox").locator("span").boundingBox();
    const line = await row("a.txt").boundingBox();
    expect(Math.abs(middleOf(box) - middleOf(line))).toBeLessThan(2);
    const buttons = await bar().getByRole("button").all();
    const middles = await Promise.all(buttons.map(async (button) => middleOf(await button.boundingBox())));
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(2);
    expect(await smallTargets(page, "[role=toolbar] button, [role=row] button", 40)).toEqual([]);
    await expectNoObjections(opened);
    await act("All");
    await expect.poll(chosen).toEqual(["a.txt", "b.txt", "c.txt"]);
    await act("Choose none");
    await row("b.txt").tap();
    await page.getByRole("region", { name: "File" }).getByText("this is b.txt").waitFor();
    expect(await smallTargets(page, "section button", 40)).toEqual([]);
  });

  test("that a machine vanishes under are not tried one by one: how many are left is told", async () => {
    const many = Array.from({ length: 40 }, (_, at) => `n${at}`);
    write(...many);
    await open();
    await grid().focus();
    await page.keyboard.press("Control+a");
    // The relay's word for a machine that is gone.
    await page.route("**/tools/Delete", (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/problem+json",
        body: JSON.stringify({ code: "DEVICE_OFFLINE", hop: "relay", detail: "The device is offline" }),
      }),
    );
    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "Move to trash" }).click();
    await panel()
      .getByText(/^0 of 40 entries were moved to the trash, \d failed, 3\d were not tried\.$/)
      .waitFor();
    expect(existsSync(join(folder, "n39"))).toBe(true);
    await expectFitting(opened);
  });
});

function middleOf(box: { y: number; height: number } | null): number {
  if (!box) throw new Error("It is not on the page");
  return box.y + box.height / 2;
}
