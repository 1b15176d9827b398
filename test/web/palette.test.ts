/** The command palette: by keyboard, by mouse, and as screen readers are told of it. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createdDeviceSchema, deviceViewSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type OpenOptions, SCREENS, type Screen, startApp } from "./app.ts";

const MACHINES = ["cellar", "garage", "loft"];

describe("the command palette", NEEDS_CHROMIUM, () => {
  const app = startApp();

  beforeAll(async () => {
    const { relay, machine } = app;
    const owner = await relay.signIn();
    await relay.request(owner, `PATCH /v1/devices/${machine.id}`, deviceViewSchema, { name: "attic" });
    for (const name of MACHINES)
      await relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name });
  });

  const field = (page: Page) => page.getByRole("combobox", { name: "Search or run" });
  const options = (page: Page) => page.getByRole("listbox", { name: "Places" }).getByRole("option");
  const active = (page: Page) => options(page).and(page.locator("[aria-selected='true']"));

  /** Opens it over the list of machines, once all of them are there. */
  async function openPalette(more: OpenOptions = {}) {
    const opened = await app.open("/fleet", more);
    const { page } = opened;
    for (const name of ["attic", ...MACHINES]) await page.getByRole("link", { name, exact: true }).waitFor();
    await page.getByRole("button", { name: "Search or run" }).click();
    await options(page).first().waitFor();
    return opened;
  }

  /** One option is active: it is seen, and it is the one that the field names to screen readers. */
  async function expectActive(page: Page, label: string) {
    await expect.poll(() => active(page).allTextContents()).toEqual([label]);
    const id = await active(page).getAttribute("id");
    expect(await field(page).getAttribute("aria-activedescendant")).toBe(id);
    await expect.poll(() => isInView(page)).toBe(true);
    expect(await page.evaluate("document.activeElement.role")).toBe("combobox");
  }

  const isInView = (page: Page) =>
    page.evaluate<boolean>(`(() => {
      const list = document.querySelector("[role='listbox']").getBoundingClientRect();
      const option = document.querySelector("[aria-selected='true']").getBoundingClientRect();
      // Lists scroll by whole pixels.
      return option.top > list.top - 1 && option.bottom < list.bottom + 1;
    })()`);

  test("arrows go around the list, Home and End to its ends, and what is active is in view", async () => {
    const { page, faults } = await openPalette();
    await expectActive(page, "Machines");
    const labels = await options(page).allTextContents();
    for (const [key, label] of [
      ["ArrowDown", labels[1]],
      ["ArrowDown", labels[2]],
      ["ArrowUp", labels[1]],
      ["Home", labels[0]],
      ["ArrowUp", "loft: Permissions"],
      ["ArrowUp", "loft: Screen"],
      ["End", "loft: Permissions"],
      ["ArrowDown", "Machines"],
      ["End", "loft: Permissions"],
    ] as const) {
      await page.keyboard.press(key);
      await expectActive(page, label ?? "");
    }
    expect(faults).toEqual([]);
  });

  test("the first match is active while one types, and Enter opens what is active", async () => {
    const { page, faults } = await openPalette();
    await page.keyboard.press("End");
    await page.keyboard.type("perm");
    await expectActive(page, "attic: Permissions");
    await page.keyboard.press("ArrowDown");
    await expectActive(page, "cellar: Permissions");
    await page.keyboard.type(" l");
    await expectActive(page, "cellar: Permissions");
    await page.keyboard.type("o");
    await expectActive(page, "loft: Permissions");
    await page.keyboard.type("x");
    await page.getByRole("status").getByText("No place has that in its name.").waitFor();
    await expect.poll(() => field(page).getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => field(page).isVisible()).toBe(true);
    await field(page).fill("tools");
    await expectActive(page, "attic: Tools");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expectActive(page, "garage: Tools");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/d\/garage-\w+\/tools$/);
    await expect.poll(() => field(page).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a click opens an option, and the mouse takes the keyboard nothing away", async () => {
    const { page, faults } = await openPalette();
    const list = page.getByRole("listbox", { name: "Places" });
    await list.hover();
    await page.mouse.wheel(0, 1_000);
    await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
    await page.mouse.down();
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await page.keyboard.press("ArrowDown");
    await expectActive(page, "Activity");
    await options(page).filter({ hasText: "loft: Tools" }).click();
    await page.waitForURL(/\/d\/loft-\w+\/tools$/);
    expect(faults).toEqual([]);
  });

  test("it is loaded when it is opened, and not before", async () => {
    const { page } = await app.open("/fleet");
    const loaded = () =>
      page.evaluate<number>(
        "performance.getEntriesByType('resource').filter(({ name }) => /\\/Palette-/.test(name)).length",
      );
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(await loaded()).toBe(0);
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    expect(await loaded()).toBeGreaterThan(0);
  });

  test.each(Object.keys(SCREENS) as Screen[])("has no objections on a %s", async (screen) => {
    const opened = await openPalette({ screen });
    await expectNoObjections(opened);
    await field(opened.page).fill("nowhere");
    await opened.page.getByText("No place has that in its name.").waitFor();
    await expectNoObjections(opened);
  });
});
