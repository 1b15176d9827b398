/** Folders and files that mean harm, or change under whoever looks at them: the page stays calm, and nothing hangs or runs. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, expectNoObjections, type Opened, startApp } from "./app.ts";

const NAMES = [
  "-rf",
  "--help.txt",
  "two\nlines.txt",
  "gpj\u202eexe.txt",
  `quote's "here" \`x\`.txt`,
  "<script>document.title='owned'<!-- a.html",
  "a%2Fb.txt",
  "..%2f..%2fetc.txt",
  "...",
  ".. .txt",
  " spaces at both ends ",
  "back\\slash.txt",
  "ends with dot.",
  "C:",
  "con",
  "~",
  "🌱\u200d👩🏽‍🌾.md",
  "שלום עולם.txt",
  `${"w".repeat(251)}.txt`,
  "__proto__",
];

describe("a hostile folder", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let opened: Opened;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-hostile-")));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);
  async function open(search = "", path = folder): Promise<void> {
    opened = await app.open(`/d/${app.machine.id}/files${encodeURI(path)}${search}`);
    page = opened.page;
  }
  const grid = () => page.getByRole("grid");
  const names = () => grid().locator("[data-index] bdi").allTextContents();
  const line = (index: number) => grid().locator(`[data-index="${index}"]`);
  const file = () => page.getByRole("region", { name: "File" });
  const content = () => file().getByRole("group", { name: "Content of the file" });

  test("of odd names is listed, opened, renamed, moved and deleted like any other", async () => {
    for (const name of NAMES) write(name, `this is ${name}`);
    await open();
    await page.getByRole("button", { name: "Hidden files" }).click();
    await page.getByText(`${NAMES.length} entries`).waitFor();
    await expectFitting(opened);
    for (let index = 0; index < NAMES.length; index++) {
      await line(index).locator("bdi").click();
      await expect.poll(() => content().textContent()).toMatch(/^this is /);
      if (index % 5 > 0) continue;
      await page.reload();
      await expect.poll(() => content().textContent()).toMatch(/^this is /);
    }
    await page.getByRole("button", { name: "Close the file" }).click();
    const there = join(folder, "there %2F \n");
    mkdirSync(there);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText(`${NAMES.length + 1} entries`).waitFor();
    await grid().focus();
    await page.keyboard.press("Control+a");
    await line(0).click({ modifiers: ["Control"] });
    await page.getByRole("toolbar").getByRole("button", { name: "Move to …" }).click();
    // What is typed has no line breaks: the folder is given by a name without.
    await page.getByRole("button", { name: "Cancel" }).click();
    await grid().focus();
    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "Move to trash" }).click();
    await page.getByText(`${NAMES.length} entries are in the trash of the machine.`).waitFor();
    await page.getByRole("button", { name: "Put them back" }).click();
    await page.getByText(`${NAMES.length} entries are back.`).waitFor();
    expect(NAMES.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
    expect(await page.title()).not.toContain("owned");
    expect(await page.locator("main script").count()).toBe(0);
  });

  test("of names that are no UTF-8 is listed; those are not opened, chosen or deleted by another name", async () => {
    const bytes = (name: string, ...more: number[]) =>
      Buffer.concat([Buffer.from(join(folder, name)), Buffer.from(more)]);
    writeFileSync(bytes("caf", 0xe9), "latin 1");
    writeFileSync(bytes("caf", 0xe8), "another");
    write("caf\\xe9", "a real backslash");
    write("plain.txt", "plain");
    await open();
    await page.getByText("4 entries").waitFor();
    const odd = grid().getByRole("row").filter({ hasText: "name is no UTF-8" });
    await expect.poll(() => odd.count()).toBe(2);
    await odd.first().locator("bdi").click();
    await page.getByText("Its name is no valid UTF-8: only a command in a terminal can open it.").waitFor();
    await grid().focus();
    await page.keyboard.press("Control+a");
    await page.getByRole("toolbar").getByText("2 chosen").waitFor();
    expect(await odd.getByRole("checkbox").count()).toBe(0);
    await expectNoObjections(opened);
    // None of the keys acts on another file that has the name by which it is shown.
    await page.keyboard.press("Escape");
    await odd.first().click({ button: "right" });
    await expect.poll(() => page.getByRole("menuitem").allTextContents()).toEqual(["Open"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Delete");
    await page.keyboard.press("F2");
    await page.getByText("Its name is no valid UTF-8").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("of pipes, devices, loops and files without a size hangs nowhere", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync("loop", join(folder, "loop"));
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("/dev/zero", join(folder, "zero"));
    symlinkSync("/proc/version", join(folder, "version"));
    symlinkSync(".", join(folder, "self"));
    await open();
    await page.getByText("6 entries").waitFor();
    await grid().getByText("pipe", { exact: true }).click();
    await page.getByText("This is no file but a fifo: it has no content to show.").waitFor();
    for (const name of ["loop", "dangling", "zero"]) {
      await grid().getByText(name, { exact: true }).click();
      await page.getByText("This link leads to nothing that can be opened.").first().waitFor();
      await page.getByRole("button", { name: "Close this message" }).first().click();
    }
    await grid().getByText("self", { exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/self$/);
    await page.getByText("6 entries").waitFor();
    for (const name of ["pipe", "zero"]) {
      await page.goto(`${app.relay.url}/d/${app.machine.id}/files${folder}?file=${name}`);
      await file()
        .getByRole("alert")
        .getByText(/not a file/)
        .waitFor();
      await page.goto(`${app.relay.url}/d/${app.machine.id}/files${folder}?file=${name}&edit=true`);
      await file()
        .getByRole("alert")
        .getByText(/not a file/)
        .waitFor();
    }
    await page.goto(`${app.relay.url}/d/${app.machine.id}/files/proc?file=version`);
    await file()
      .getByRole("alert")
      .getByText(/version/)
      .waitFor();
    write("nothing", "");
    await page.goto(`${app.relay.url}/d/${app.machine.id}/files${folder}?file=nothing`);
    await file().getByText("This file is empty.").waitFor();
  });

  test("whose file becomes a folder, or is gone, while it is looked at, says so", async () => {
    write("notes.txt", "about pumps\n".repeat(20_000));
    await open("?file=notes.txt");
    await content().getByText("about pumps").first().waitFor();
    rmSync(join(folder, "notes.txt"));
    mkdirSync(join(folder, "notes.txt"));
    await file().getByRole("button", { name: "Show more" }).click();
    await file()
      .getByText(/A folder is there now|has changed meanwhile/)
      .waitFor();
    await page.reload();
    await file().getByText("A folder is there now.").waitFor();
    await page.goto(`${page.url()}&edit=true`);
    await file().getByText("A folder is there now.").waitFor();
    rmSync(join(folder, "notes.txt"), { recursive: true });
    await page.reload();
    await file()
      .getByRole("alert")
      .getByText(/notes\.txt/)
      .waitFor();
    await expectNoObjections(opened);
  });

  test("that is deleted while it is shown says so, keeps what was read, and leads back up", async () => {
    const within = join(folder, "within");
    mkdirSync(within);
    writeFileSync(join(within, "a.txt"), "a");
    await open("", within);
    await expect.poll(names).toEqual(["a.txt"]);
    rmSync(within, { recursive: true });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page
      .getByRole("alert")
      .getByText(/within/)
      .waitFor();
    await expect.poll(names).toEqual(["a.txt"]);
    await expectFitting(opened);
    await grid().focus();
    await page.keyboard.press("Backspace");
    await page.getByText("This folder is empty.").waitFor();
  });

  test("with a file that grows all the time shows what was there, or why not, and never half of each", async () => {
    const path = join(folder, "busy.log");
    writeFileSync(path, "0\n");
    let lines = 0;
    const writer = setInterval(() => {
      lines += 1;
      appendFileSync(path, `${lines}\n`);
    }, 1);
    try {
      await open("?file=busy.log");
      await expect
        .poll(() => file().textContent(), { timeout: 20_000 })
        .toMatch(/0\n1\n|changed while it was read|written to faster than it can be read/);
    } finally {
      clearInterval(writer);
    }
    const again = file().getByRole("button", { name: /Try again|Read it anew/ });
    if (await again.count()) await again.click();
    await expect.poll(() => content().textContent()).toMatch(/^0\n1\n/);
    truncateSync(path, 0);
    await page.reload();
    await file().getByText("This file is empty.").waitFor();
  });
});
