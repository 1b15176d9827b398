/** The panes of the page of files are as wide as somebody wants, by the pointer and by the keyboard, and stay so. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, expectNoObjections, startApp } from "./app.ts";

describe("panes", NEEDS_CHROMIUM, () => {
  const app = startApp();

  async function widthOf(page: Page, role: "navigation" | "region", name: string): Promise<number> {
    const box = await page.getByRole(role, { name, exact: true }).boundingBox();
    return Math.round(box?.width ?? 0);
  }

  test("are drawn wider and narrower, keep their widths in this browser, and go back to what they were", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-panes-")));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "notes.txt"), "about pumps");
    const opened = await app.open(`/d/${app.machine.id}/files${folder}?file=notes.txt`);
    const { page } = opened;
    const tree = () => widthOf(page, "navigation", "Folders");
    const file = () => widthOf(page, "region", "File");
    const folders = page.getByRole("separator", { name: "Width of the folders" });
    const ofFile = page.getByRole("separator", { name: "Width of the file" });
    await page.getByRole("group", { name: "Content of the file" }).waitFor();
    const [first, firstFile] = [await tree(), await file()];

    await folders.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await expect.poll(tree).toBeGreaterThanOrEqual(first + 46);
    await expect.poll(() => folders.getAttribute("aria-valuenow").then(Number)).toBeGreaterThan(first);
    await page.keyboard.press("Home");
    await expect.poll(tree).toBe(130);
    await page.keyboard.press("Enter");
    await expect.poll(tree).toBe(first);

    const box = await ofFile.boundingBox();
    const [x, y] = [box?.x ?? 0, (box?.y ?? 0) + 100];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 60, y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(file).toBeGreaterThanOrEqual(firstFile + 55);
    await expectFitting(opened);
    const wide = await file();
    await page.reload();
    await page.getByRole("group", { name: "Content of the file" }).waitFor();
    await expect.poll(file).toBe(wide);
    await ofFile.dblclick();
    await expect.poll(file).toBe(firstFile);
    // No width pushes the others off the page.
    await ofFile.focus();
    await page.keyboard.press("End");
    await page.setViewportSize({ width: 1120, height: 800 });
    await expectFitting(opened);
    // The names of the folders above do not lie over each other.
    for (const width of [1024, 800]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await squeezed(page)).toEqual([]);
      const way = await page.getByRole("navigation", { name: "Folder", exact: true }).boundingBox();
      expect(way?.width ?? 0).toBeGreaterThan(180);
      await expectNoObjections(opened);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(() => ofFile.count()).toBe(0);
    await expect.poll(file).toBeGreaterThan(300);
    await expectFitting(opened);
  });
});

/** Steps of the way to the folder that have less room than their names need. */
function squeezed(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll("nav[aria-label=Folder] > *")]
      .filter((one) => one.clientWidth < one.scrollWidth)
      .map((one) => one.textContent)`,
  );
}
