/** Answers of an unusual size: what is on the page stays small, and the page answers to clicks while they come. */
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type Opened, startApp } from "./app.ts";

const MOST_ELEMENTS = 8_000;

describe("a flood of output", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let opened: Opened;
  let folder: string;
  const tool = (name: string) => `/d/${app.machine.id}/tools/${name}`;
  const group = (page: Page, name: string) => page.getByRole("group", { name, exact: true });

  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(async () => {
    await expect.poll(() => processesOf(folder)).toEqual([]);
    removeFolder(folder);
    expect(opened.faults).toEqual([]);
  });

  const elements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");

  async function answered(page: Page, answer: object): Promise<void> {
    const end = { type: "success", output: "", image: null, call: "x", ...answer };
    const body = `event: result\ndata: ${JSON.stringify(end)}\n\n`;
    await page.route("**/tools/SystemInfo", (route) =>
      route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body }),
    );
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page
      .getByRole("region", { name: "Answer" })
      .getByText(/Answered in|Failed after/)
      .waitFor();
  }

  test("can be stopped while it comes, and what is shown of it stays small", async () => {
    opened = await app.open(tool("Bash"));
    const { page } = opened;
    await page
      .getByLabel("Command")
      .fill(`cd '${folder}'; timeout 60 yes "$(printf 'row %.0s' $(seq 1 20))"`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await group(page, "Output so far").waitFor();
    await expect
      .poll(async () => (await group(page, "Output so far").textContent())?.length)
      .toBeGreaterThan(50_000);
    await page.getByLabel("Filter tools").fill("grep");
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
    const asked = page.waitForResponse(/\/cancel$/);
    await page.getByRole("button", { name: /^Stop Bash/ }).click();
    expect((await asked).status()).toBe(202);
    await page
      .getByRole("region", { name: "Answer" })
      .getByText(/^Stopped after/)
      .waitFor();
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
  });

  test("of 200,000 rows shows the first ones, sorts them, and finds a broken one among them", async () => {
    opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    const rows = Array.from({ length: 200_000 }, (_, at) => ({
      name: `file ${at}.txt`,
      size: (at * 7919) % 200_000,
    }));
    await answered(page, { output: `${rows.length} entries`, structured: rows });
    await page.locator("tbody tr").first().waitFor();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(200);
    await page.getByRole("button", { name: "size" }).click();
    await page.locator("tbody tr td:nth-child(2)").first().getByText("0", { exact: true }).waitFor();
    await page.getByText("JSON", { exact: true }).first().click();
    await group(page, "JSON").waitFor();
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
    await answered(page, { output: JSON.stringify([...rows.slice(0, 2_000), null, 7]) });
    await page.getByRole("region", { name: "Answer" }).waitFor();
    await expect.poll(() => page.getByText("could not be shown").count()).toBe(0);
  });

  test("of 200,000 names in a list shows the first hundred", async () => {
    opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    await answered(page, {
      output: JSON.stringify(Array.from({ length: 200_000 }, (_, at) => `/srv/${at}`)),
    });
    await group(page, "JSON").getByText("Show 100 more of").waitFor();
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
  });

  test.each([
    ["text of 16 MB in lines", "0123456789abcde\n".repeat(1_000_000), "success"],
    ["text of 16 MB in one line", "x".repeat(16_000_000), "success"],
    ["an error of 16 MB in one line", "y".repeat(16_000_000), "error"],
    ["text that is nearly JSON", `[${"[".repeat(500_000)}`, "success"],
  ])("of %s shows the beginning", async (_, output, type) => {
    opened = await app.open(tool("SystemInfo"));
    const { page } = opened;
    await answered(page, { output, type });
    await group(page, "Output").waitFor();
    expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
    expect((await page.getByRole("region", { name: "Answer" }).textContent())?.length).toBeLessThan(300_000);
    await page.getByLabel("Filter tools").fill("grep");
    await page.getByRole("link", { name: /Grep/ }).first().waitFor();
  });
});
