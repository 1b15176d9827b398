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
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";

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
  const active = () => grid().locator("[role=row][aria-selected=true] bdi").textContent();
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
});
