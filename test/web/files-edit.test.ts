/** Texts of a machine that are edited in the app: nothing that somebody typed, here or there, is lost. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { startAgent } from "../../scripts/start/agent.ts";
import { deviceViewSchema } from "../../shared/api.ts";
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

  test("takes what is typed as soon as it is there, after each saving too; its Ctrl+S is the page's", async () => {
    await open("first\n");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("second");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(onDisk).toBe("first\nsecond");
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.keyboard.type(" third");
    await page.getByRole("heading", { name: "notes.md" }).focus();
    await page.keyboard.press("Control+s");
    await expect.poll(onDisk).toBe("first\nsecond third");
    await page.getByText("Saved", { exact: true }).waitFor();
    await type(" fourth");
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find").waitFor();
    await page.keyboard.press("Control+s");
    await expect.poll(onDisk).toBe("first\nsecond third fourth");
  });

  test("is saved again when Ctrl+S is pressed while it is being saved", async () => {
    await open("");
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let saves = 0;
    await page.route("**/tools/Write", async (route) => {
      saves += 1;
      if (saves === 1) await answered;
      await route.continue();
    });
    await type("one");
    await page.keyboard.press("Control+s");
    await expect.poll(() => saves).toBe(1);
    await page.keyboard.type(" two");
    await page.keyboard.press("Control+s");
    answer();
    await expect.poll(onDisk).toBe("one two");
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(saves).toBe(2);
  });

  test("is saved twice though the machine gives new lines the ends that the old ones had", async () => {
    await open("one\r\ntwo\r\nthree\n");
    await editor().focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("new\nlines\n");
    await page.keyboard.press("Control+s");
    await expect.poll(onDisk).toBe("new\r\nlines\r\n");
    await page.getByText("Saved", { exact: true }).waitFor();
    await type("more");
    await page.keyboard.press("Control+s");
    await expect.poll(onDisk).toMatch(/more$/);
  });

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
    app.renewAfterTest();
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

  test("is asked about before its tab is closed, but only while something of it is not saved", async () => {
    await open("first\n");
    const questions: string[] = [];
    page.on("dialog", (dialog) => {
      questions.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await editor().waitFor();
    expect(questions).toEqual([]);
    await type("second");
    await page.getByText("Not saved; kept in this tab").waitFor();
    await page.reload();
    await expect.poll(() => editor().textContent()).toContain("second");
    expect(questions).toEqual(["beforeunload"]);
    await page.getByRole("button", { name: "Drop changes" }).click();
    await expect.poll(() => editor().textContent()).not.toContain("second");
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.reload();
    await editor().waitFor();
    expect(questions).toEqual(["beforeunload"]);
    expect(await editor().textContent()).not.toContain("second");
  });

  test("is not begun anew under whoever types while the connection comes back", async () => {
    await open("first\n");
    let line: WebSocketRoute | undefined;
    let lines = 0;
    await page.routeWebSocket(/account\/ws$/, (next) => {
      line = next;
      lines += 1;
      next.connectToServer();
    });
    await page.reload();
    await editor().waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    // What would be read anew comes late.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let reads = 0;
    await page.route("**/files/**", async (route) => {
      reads += 1;
      await released;
      await route.continue();
    });
    await line?.close();
    await expect.poll(() => lines).toBe(2);
    await page.getByText("Connected", { exact: true }).waitFor();
    await type("typed meanwhile");
    release();
    await page.keyboard.press("Control+s");
    await page.getByText("notes.md was saved.").waitFor();
    expect(onDisk()).toBe("first\ntyped meanwhile");
    expect(await editor().textContent()).toContain("typed meanwhile");
    expect(reads).toBe(0);
  });

  test("whose saving was answered by nobody is known to be saved once that can be seen", async () => {
    await open("first\n");
    await type("second");
    let isLost = true;
    await page.route("**/tools/Write", async (route) => {
      if (!isLost) return route.continue();
      isLost = false;
      writeFileSync(path, "first\nsecond");
      const detail = "The relay lost the machine while the call ran.";
      await route.fulfill({
        status: 503,
        contentType: "application/problem+json",
        body: JSON.stringify({ status: 503, code: "OUTCOME_UNKNOWN", hop: "relay", detail }),
      });
    });
    await page.keyboard.press("Control+s");
    await page.getByRole("alert").getByText("The relay lost the machine while the call ran.").waitFor();
    await page.getByText("Not saved; kept in this tab").waitFor();
    expect(onDisk()).toBe("first\nsecond");
    await page.keyboard.press("Control+s");
    await page.getByText("notes.md was saved.").waitFor();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await page.getByText("was changed on the machine").count()).toBe(0);
  });

  test("in two tabs is saved by the first; the second is told, and loses nothing", async () => {
    await open("first\n");
    const second = await page.context().newPage();
    await second.goto(`${page.url()}`);
    const other = second.getByLabel("Content of notes.md");
    await other.focus();
    await second.keyboard.press("Control+End");
    await second.keyboard.type("of the second");
    await type("of the first");
    await page.keyboard.press("Control+s");
    await page.getByText("notes.md was saved.").waitFor();
    await second.keyboard.press("Control+s");
    await second.getByText("was changed on the machine since you opened it").waitFor();
    expect(onDisk()).toBe("first\nof the first");
    expect(await other.textContent()).toContain("of the second");
  });

  test("of a machine that goes away while it is saved is kept, and saved when it is back", async () => {
    await open("first\n");
    await type("second");
    await app.machine.agent.stop();
    await page.keyboard.press("Control+s");
    const alert = page.getByRole("region", { name: "File" }).getByRole("alert");
    await alert.waitFor({ timeout: 90_000 });
    expect(await alert.textContent()).toMatch(/^The device is not connected/);
    await page.getByText("Not saved; kept in this tab").waitFor();
    expect(onDisk()).toBe("first\n");
    await expectNoObjections(opened);
    app.machine.agent = await startAgent({
      ...{ dataDir: app.relay.dataDir, onStart: () => undefined, onDeath: () => undefined },
    });
    const line = `GET /v1/devices/${app.machine.id}` as const;
    const owner = await app.relay.signIn();
    await expect
      .poll(async () => (await app.relay.request(owner, line, deviceViewSchema)).state, { timeout: 60_000 })
      .toMatch(/ONLINE|IDLE/);
    expect(await editor().textContent()).toContain("second");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("notes.md was saved.").waitFor();
    expect(onDisk()).toBe("first\nsecond");
  }, 150_000);

  test("is refused if it is no text, which could not be written back as it is", async () => {
    writeFileSync(path, new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
    opened = await app.open(`/d/${app.machine.id}/files${folder}?file=notes.md&edit=true`);
    page = opened.page;
    await page.getByText("This is no text in UTF-8").waitFor();
  });
});
