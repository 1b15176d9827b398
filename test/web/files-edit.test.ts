/** Texts of a machine that are edited in the app: nothing that somebody typed, here or there, is lost. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";

describe("a text that is edited", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let folder: string;
  let path: string;
  let opened: Opened;
  let page: Page;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "matrx-edit-")));
    path = join(folder, "notes.md");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(opened.faults).toEqual([]);
  });

  const editor = () => page.getByLabel("Content of notes.md");
  const onDisk = () => readFileSync(path, "utf8");

  async function open(text: string): Promise<void> {
    writeFileSync(path, text);
    opened = await app.open(`/d/${app.machine.id}/files${folder}?file=notes.md`);
    page = opened.page;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await editor().waitFor();
  }

  /** At its end. */
  async function type(text: string): Promise<void> {
    await editor().focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(text);
  }

  test("is saved as it was but for what was typed, by the keyboard alone", async () => {
    await open("# Pump\r\n\r\nruns\r\n");
    await type("12 minutes");
    await page.getByText("Not saved; kept in this tab").waitFor();
    await expectNoObjections(opened);
    await page.keyboard.press("Control+s");
    await page.getByText("notes.md was saved.").waitFor();
    expect(onDisk()).toBe("# Pump\r\n\r\nruns\r\n12 minutes");
    await page.getByText("Saved", { exact: true }).waitFor();
    await type(" a day");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(onDisk).toBe("# Pump\r\n\r\nruns\r\n12 minutes a day");
    await page.getByRole("button", { name: "Close editor" }).click();
    await page.getByRole("region", { name: "File" }).getByText("12 minutes a day").waitFor();
  });

  test("that was changed on the machine meanwhile is not overwritten, but compared, and then it is", async () => {
    await open("one\ntwo\nthree\n");
    await type("mine\n");
    writeFileSync(path, "one\nTWO\nthree\n");
    await page.keyboard.press("Control+s");
    const conflict = page.getByRole("alert").filter({ hasText: "was changed on the machine" });
    await conflict.waitFor();
    expect(onDisk()).toBe("one\nTWO\nthree\n");
    await conflict.getByRole("button", { name: "Compare" }).click();
    await expect.poll(() => conflict.locator("del").allTextContents()).toEqual(["-TWO\n"]);
    await expect.poll(() => conflict.locator("ins").allTextContents()).toEqual(["+two\n", "+mine\n"]);
    await expectNoObjections(opened);
    await conflict.getByRole("button", { name: "Overwrite it" }).click();
    await expect.poll(onDisk).toBe("one\ntwo\nthree\nmine\n");
    await conflict.waitFor({ state: "detached" });
  });

  test("is saved under another name when the file is gone, and over nothing that is there", async () => {
    await open("first\n");
    await type("second\n");
    rmSync(path);
    writeFileSync(join(folder, "notes (2).md"), "somebody else's");
    await page.keyboard.press("Control+s");
    await page.getByText("is not there any more").waitFor();
    await page.getByRole("button", { name: "Save under this name" }).click();
    await page.getByText("notes (2).md is already there.").waitFor();
    await page.getByLabel("Another name").fill("kept.md");
    await page.getByRole("button", { name: "Save under this name" }).click();
    await expect.poll(() => existsSync(join(folder, "kept.md"))).toBe(true);
    expect(readFileSync(join(folder, "kept.md"), "utf8")).toBe("first\nsecond\n");
    expect(readFileSync(join(folder, "notes (2).md"), "utf8")).toBe("somebody else's");
  });

  test("is there again after a reload, and after signing in again, with the version that it began with", async () => {
    await open("first\n");
    await type("typed before\n");
    await page.getByText("Not saved; kept in this tab").waitFor();
    await page.reload();
    await expect.poll(() => editor().textContent()).toContain("typed before");
    await type("the session ends");
    const { relay } = app;
    await relay.request(await relay.signIn(), "POST /v1/sessions/revoke-others", z.unknown(), {});
    await page.getByLabel("Paste the link here").fill(await relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect.poll(() => editor().textContent()).toContain("the session ends");
    expect(onDisk()).toBe("first\n");
    writeFileSync(path, "changed meanwhile\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("was changed on the machine").waitFor();
    await page.getByRole("button", { name: "Take theirs" }).click();
    await expect.poll(() => editor().textContent()).toContain("changed meanwhile");
    await page.getByText("Saved", { exact: true }).waitFor();
  });

  test("is refused if it is no text, which could not be written back as it is", async () => {
    writeFileSync(path, new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
    opened = await app.open(`/d/${app.machine.id}/files${folder}?file=notes.md&edit=true`);
    page = opened.page;
    await page.getByText("This is no text in UTF-8").waitFor();
  });
});
