/** The page while something happens: a real agent, callers of several kinds, and a person who watches, cancels and stops. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { pauseViewSchema } from "../../shared/pause-api.ts";
import { createdTokenSchema, type NewToken } from "../../shared/token-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("activity on the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let page: Page;
  let folder: string;
  let faults: string[];

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });
  beforeEach(async () => {
    faults = [];
    folder = makeFolder();
    page = await opened();
  });
  afterEach(async () => {
    await relay.request(await relay.signIn(), "POST /v1/pause", pauseViewSchema, { paused: false });
    removeFolder(folder);
    expect(faults).toEqual([]);
  });

  /** A browser of a person's own, signed in, which watches. */
  async function opened(): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const made = await context.newPage();
    made.on("pageerror", (error) => faults.push(error.message));
    made.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    await made.goto(await relay.signInLink());
    await section(made).getByText("No call is running.").waitFor();
    return made;
  }

  /** A caller with a token of its own: an AI grant that is asked nothing, if nothing else is said. */
  async function caller(name: string, more: Partial<NewToken> = { paths: [folder], ask: [] }) {
    const wish = { name, ...more };
    const { token } = await relay.request(await relay.signIn(), "POST /v1/tokens", createdTokenSchema, wish);
    return async (tool: string, input: Record<string, unknown>) => {
      const response = await fetch(`${relay.url}/v1/devices/${machine.id}/tools/${tool}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(input),
      });
      return (await response.json()) as Record<string, unknown>;
    };
  }

  /** A command that runs until somebody ends it. */
  async function longCommand(call: Awaited<ReturnType<typeof caller>>, name: string) {
    const begun = join(folder, name);
    const answer = call("Bash", { command: `touch '${begun}'; sleep 300 # ${name}` });
    await expect.poll(() => existsSync(begun)).toBe(true);
    return answer;
  }

  const section = (of = page) => of.getByRole("region", { name: "Activity" });
  const running = (text: string, of = page) =>
    section(of).getByRole("list", { name: "Running now" }).getByRole("listitem").filter({ hasText: text });
  const ended = (text: string, of = page) =>
    section(of).getByRole("list", { name: "Latest calls" }).getByRole("listitem").filter({ hasText: text });
  const stopSection = (of = page) => of.getByRole("region", { name: "Stop everything" });
  const focused = () => page.evaluate("document.activeElement.textContent");

  test("a call appears as it runs, can be cancelled there, and is told with its end", async () => {
    const answer = longCommand(await caller("backup", { credential: "script" }), "begun");
    const item = running("sleep 300 # begun");
    await item.getByText("backup").waitFor();
    await section()
      .getByRole("heading", { name: /^Activity \(1 running\)$/ })
      .waitFor();
    await item.getByRole("button", { name: `Cancel Bash on ${machine.name}` }).click();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
    await page.getByText("Latest calls").click();
    await ended("# begun")
      .getByText(/Cancelled/)
      .waitFor();
    expect(await item.count()).toBe(0);
  });

  test("a page that opens later shows what runs already", async () => {
    const call = await caller("backup", { credential: "script" });
    const answer = longCommand(call, "early");
    await running("# early").waitFor();
    await page.reload();
    await running("# early").waitFor();
    await section().getByRole("button", { name: "Cancel all calls" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel all calls" }).click();
    await page.getByText("1 call was asked to stop.").waitFor();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
  });

  test("what callers and tools wrote is text, without secrets", async () => {
    const call = await caller(HOSTILE, { credential: "script" });
    await call("Bash", {
      command: `printf '%s' '${HOSTILE.replaceAll("'", "")}' # --password hunter2hunter2`,
    });
    await page.getByText("Latest calls").click();
    const item = ended("<b>x</b>");
    await item.waitFor();
    expect(await item.textContent()).toContain("--password [redacted]");
    expect(await item.textContent()).not.toContain("hunter2");
    expect(await item.locator("img, b").count()).toBe(0);
    expect(await page.title()).toBe("Matrx Relay");
  });

  test("a call that was refused is told with why", async () => {
    const call = await caller("reader", { paths: [folder], effects: ["read"] });
    await call("Bash", { command: "rm -rf /" });
    await page.getByText("Latest calls").click();
    await ended("rm -rf /").getByText("Refused (PERMISSION_DENIED)").waitFor();
  });

  test(
    "stop everything: an AI's command ends at once, here and for whoever else watches, until somebody resumes",
    NEEDS_SANDBOX,
    async () => {
      const call = await caller("assistant");
      const other = await opened();
      const answer = longCommand(call, "ai");
      await running("# ai").waitFor();
      await stopSection().getByRole("button", { name: "Stop everything" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: "Let them go on" }).click();
      await running("# ai").waitFor();

      await stopSection().getByRole("button", { name: "Stop everything" }).click();
      await dialog.getByRole("button", { name: "Stop everything" }).click();
      expect(await answer).toMatchObject({ code: "CANCELLED", reason: "PAUSED" });
      await stopSection()
        .getByRole("status")
        .getByText(/^Stopped by .*: AI grants can do nothing/)
        .waitFor();
      await stopSection(other)
        .getByText(/^Stopped by/)
        .waitFor();
      await expect.poll(() => running("# ai").count()).toBe(0);
      expect(await call("SystemInfo", {})).toMatchObject({ code: "PERMISSION_DENIED", reason: "PAUSED" });
      expect(await objections(page)).toEqual([]);

      const resume = stopSection(other).getByRole("button", { name: "Let AI grants act again" });
      await resume.click();
      await other.getByRole("dialog").getByRole("button", { name: "Let AI grants act again" }).click();
      await stopSection().getByRole("button", { name: "Stop everything" }).waitFor();
      expect(await call("SystemInfo", {})).toMatchObject({ type: "success" });
    },
  );

  test("stop and resume work by keyboard alone, and the focus stays where it is of use", async () => {
    await stopSection().getByRole("button", { name: "Stop everything" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await focused()).toBe("Let them go on");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("Stop everything");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Let AI grants act again");
    await page.reload();
    await stopSection()
      .getByText(/^Stopped by/)
      .waitFor();
  });

  test.each(["light", "dark"] as const)(
    "there is nothing to object to, in %s and on a phone",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      const answer = longCommand(await caller("x".repeat(60), { credential: "script" }), "y".repeat(120));
      await running("sleep 300").waitFor();
      const once = await caller("other", { credential: "script" });
      await once("Bash", { command: `echo ${"z".repeat(300)}` });
      await page.getByText("Latest calls").click();
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await objections(page)).toEqual([]);
        expect(
          await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
        ).toBe(0);
      }
      await section().getByRole("button", { name: "Cancel all calls" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel all calls" }).click();
      await answer;
    },
  );
});
