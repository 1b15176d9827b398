/** The activity page while something happens: a real agent, callers of several kinds, and a person who watches and stops them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { pauseViewSchema } from "../../shared/pause-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { type Caller, callerOf } from "./callers.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("activity", NEEDS_CHROMIUM, () => {
  const app = startApp();
  afterEach(async () => {
    const { relay } = app;
    await relay.request(await relay.signIn(), "POST /v1/pause", pauseViewSchema, { paused: false });
  });

  const script = (name: string) => callerOf(app, { name, credential: "script" });
  const running = (page: Page, text: string) =>
    page.getByRole("region", { name: "Running" }).getByRole("listitem").filter({ hasText: text });
  const ended = (page: Page, text: string) =>
    page.getByRole("main").getByRole("listitem").filter({ hasText: text });

  /** A command that runs until somebody ends it. */
  async function longCommand(call: Caller, folder: string, name: string) {
    const begun = join(folder, name);
    const answer = call("Bash", { command: `touch '${begun}'; sleep 300 # ${name}` });
    await expect.poll(() => existsSync(begun)).toBe(true);
    return { answer };
  }

  test("a call appears as it runs, is cancelled there, and its end and record are shown", async () => {
    const { page, faults } = await app.open("/activity");
    const { answer } = await longCommand(await script("backup"), temporaryFolder(), "begun");
    const item = running(page, "sleep 300 # begun");
    await item.getByText("backup").waitFor();
    await item.getByRole("button", { name: `Cancel Bash on ${app.machine.name}` }).click();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
    const over = ended(page, "# begun");
    await over.getByText("Cancelled", { exact: true }).first().waitFor();
    expect(await running(page, "# begun").count()).toBe(0);
    await over.getByRole("button", { name: "Details" }).click();
    await over.getByRole("link", { name: "Open its record" }).click();
    await page.getByRole("heading", { name: /Bash/ }).first().waitFor();
    await page.getByText("Cancelled").first().waitFor();
    expect(faults).toEqual([]);
  });

  test("a page that opens later shows what runs already, and all of it is cancelled after a question", async () => {
    const { answer } = await longCommand(await script("backup"), temporaryFolder(), "early");
    const { page, faults } = await app.open("/activity?show=running");
    await running(page, "# early").waitFor();
    await page.getByRole("button", { name: /^Cancel all/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Cancel/ })
      .last()
      .click();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
    await page.getByText("1 call was asked to stop").waitFor();
    expect(faults).toEqual([]);
  });

  test("what callers and tools wrote is text, without secrets", async () => {
    const call = await script(HOSTILE);
    const { page, faults } = await app.open("/activity");
    await call("Bash", {
      command: `printf '%s' '${HOSTILE.replaceAll("'", "")}' # --password hunter2hunter2`,
    });
    const item = ended(page, "--password [redacted]");
    await item.waitFor();
    expect(await item.textContent()).not.toContain("hunter2");
    expect(await item.locator("img, b").count()).toBe(0);
    expect(await page.title()).toBe("Activity · Matrx Relay");
    expect(faults).toEqual([]);
  });

  test("errors are told apart: an exit code, and a refusal with why", async () => {
    const folder = temporaryFolder();
    const { page, faults } = await app.open("/activity");
    await (await script("builder"))("Bash", { command: "exit 3 # odd" });
    await (await callerOf(app, { name: "reader", paths: [folder], effects: ["read"] }))("Bash", {
      command: "rm -rf /",
    });
    await page.getByRole("link", { name: /^Errors/ }).click();
    await ended(page, "exit 3 # odd").getByText("Failed").waitFor();
    await ended(page, "rm -rf /").getByText("PERMISSION_DENIED").waitFor();
    expect(page.url()).toContain("show=errors");
    expect(faults).toEqual([]);
  });

  test(
    "stop everything ends an AI's command at once, here and for whoever else watches, until somebody resumes",
    NEEDS_SANDBOX,
    async () => {
      const folder = temporaryFolder();
      const call = await callerOf(app, { name: "assistant", paths: [folder], ask: [] });
      const { page, faults } = await app.open("/activity");
      const other = await app.open("/activity");
      const { answer } = await longCommand(call, folder, "ai");
      await running(page, "# ai").waitFor();
      await page.getByRole("button", { name: "Stop everything" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Let them go on" }).click();
      await running(page, "# ai").waitFor();
      await page.getByRole("button", { name: "Stop everything" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Stop everything" }).click();
      expect(await answer).toMatchObject({ code: "CANCELLED", reason: "PAUSED" });
      await page.getByText(/^Stopped by .*: AIs can do nothing/).waitFor();
      await other.page.getByText(/^Stopped by/).waitFor();
      expect(await call("SystemInfo", {})).toMatchObject({ code: "PERMISSION_DENIED", reason: "PAUSED" });
      await other.page.getByRole("button", { name: "Let AIs act again" }).click();
      await other.page.getByRole("dialog").getByRole("button", { name: "Let them act again" }).click();
      await page.getByRole("button", { name: "Stop everything" }).waitFor();
      expect(await call("SystemInfo", {})).toMatchObject({ type: "success" });
      expect([...faults, ...other.faults]).toEqual([]);
    },
  );

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const call = await callerOf(app, { name: "x".repeat(60), credential: "script" });
    const { answer } = await longCommand(call, temporaryFolder(), "y".repeat(120));
    await call("Bash", { command: `echo ${"z".repeat(300)}` });
    for (const dark of [true, false]) {
      const opened = await app.open("/activity", { screen, dark });
      await running(opened.page, "sleep 300").waitFor();
      await expectNoObjections(opened);
      const machine = await app.open(`/d/${app.machine.id}`, { screen, dark });
      await machine.page.getByText("Connected", { exact: true }).waitFor();
      await expectNoObjections(machine);
    }
    await app.relay.request(await app.relay.signIn(), "POST /v1/pause", pauseViewSchema, { paused: false });
    const { page } = await app.open("/activity");
    await running(page, "sleep 300")
      .getByRole("button", { name: /^Cancel/ })
      .click();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
  });
});
