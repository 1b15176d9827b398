/** The app while something happens: a real agent, callers of several kinds, and a person who watches, cancels and stops. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pauseViewSchema } from "../../shared/pause-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { APP, expectNoObjections, type Opened, smallTargets, startApp } from "./app.ts";
import { type Caller, callerOf } from "./caller.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("activity in the app", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let opened: Opened;
  let page: Page;
  let folder: string;

  beforeEach(async () => {
    folder = makeFolder();
    opened = await app.open("/activity");
    page = opened.page;
    await page.getByText("Connected").first().waitFor();
  });
  afterEach(async () => {
    await app.relay.request(await app.relay.signIn(), "POST /v1/pause", pauseViewSchema, { paused: false });
    removeFolder(folder);
    expect(opened.faults).toEqual([]);
  });

  /** A token that is asked nothing, if nothing else is said. */
  const caller = (name: string, more = {}) => callerOf(app, { name, paths: [folder], ask: [], ...more });
  const script = (name: string) => callerOf(app, { name, credential: "script" });

  /** A command that runs until somebody ends it. */
  async function longCommand(call: Caller, name: string) {
    const begun = join(folder, name);
    const answer = call("Bash", { command: `touch '${begun}'; echo begun; sleep 300 # ${name}` });
    await expect.poll(() => existsSync(begun)).toBe(true);
    return { answer };
  }

  const running = (text: string, of = page) =>
    of.getByRole("list", { name: "Running now" }).getByRole("listitem").filter({ hasText: text });
  const ended = (text: string, of = page) =>
    of.getByRole("list", { name: "Latest calls" }).getByRole("listitem").filter({ hasText: text });
  const focused = () => page.evaluate<string>("document.activeElement.textContent");
  const dialog = (of = page) => of.getByRole("dialog");

  async function cancelAll(): Promise<void> {
    await page.getByRole("button", { name: /^Cancel all/ }).click();
    await dialog().getByRole("button", { name: "Cancel all calls" }).click();
  }

  test("a call appears as it runs, can be cancelled there, and is told with its end", async () => {
    const { answer } = await longCommand(await script("backup"), "begun");
    const item = running("sleep 300 # begun");
    await item.getByText("backup").waitFor();
    await item.getByText(app.machine.name).waitFor();
    await item
      .getByRole("timer")
      .getByText(/^\d+ s$/)
      .waitFor();
    await page.getByRole("heading", { name: "Running (1)" }).waitFor();
    await page.getByRole("link", { name: /^Running\s*1$/ }).waitFor();
    await item.getByRole("button", { name: `Cancel Bash on ${app.machine.name}` }).click();
    expect(await answer).toContain("CANCELLED");
    await ended("# begun").getByText("Cancelled", { exact: true }).waitFor();
    await expect.poll(() => item.count()).toBe(0);
  });

  test("a page that opens later shows what runs already, and what is over", async () => {
    const call = await script("backup");
    await call("Bash", { command: "echo over # done" });
    const { answer } = await longCommand(call, "early");
    await running("# early").waitFor();
    await page.reload();
    await running("# early").waitFor();
    await ended("# done").getByText("Done", { exact: true }).waitFor();
    await expect.poll(() => ended("# done").count()).toBe(1);
    await cancelAll();
    await page.getByText("1 call was asked to stop.").waitFor();
    expect(await answer).toContain("CANCELLED");
  });

  test("a call that is over shows its exit code and output; its record is one click away", async () => {
    const call = await script("maker");
    await call("Bash", { command: "echo first; exit 3 # failing" });
    const item = ended("# failing");
    await item.getByText("Failed", { exact: true }).waitFor();
    await item.getByText(/^exit 3 · after/).waitFor();
    await item.getByText(/^first/).waitFor();
    await page.getByRole("link", { name: /^Errors/ }).click();
    await page.waitForURL(/show=errors/);
    const current = page.getByRole("navigation", { name: "Which calls are shown" }).locator("[aria-current]");
    await expect.poll(() => current.allInnerTexts()).toEqual([expect.stringMatching(/^Errors/)]);
    const errors = page.getByRole("list", { name: "Errors" }).getByRole("listitem");
    await errors
      .filter({ hasText: "# failing" })
      .getByRole("button", { name: "Details", expanded: false })
      .click();
    await errors.filter({ hasText: "# failing" }).getByText("Runs or deletes things").waitFor();
    await errors.filter({ hasText: "# failing" }).getByRole("link", { name: "Open its record" }).click();
    await page.getByRole("heading", { level: 1, name: `Bash on ${app.machine.name}` }).waitFor();
    await page.getByRole("group", { name: "Output" }).getByText("first").waitFor();
    await page.getByText("maker").waitFor();
    await page.getByText("echo first; exit 3 # failing").waitFor();
    await expectNoObjections(opened);
    await page.goBack();
    await page.waitForURL(/show=errors/);
  });

  test("the record of a call that runs is followed to its end, and cancels it", async () => {
    const begun = join(folder, "slow");
    const call = await script("slow");
    const command = `touch '${begun}'; for i in $(seq 300); do echo line $i; sleep 0.3; done # slow`;
    // Only a caller that wants live output gets it, and those who look with it.
    const answer = call("Bash", { command }, { Accept: "text/event-stream" });
    await running("# slow").getByRole("link", { name: "Follow it" }).click();
    await page.getByRole("heading", { level: 1, name: `Bash on ${app.machine.name}` }).waitFor();
    await page.getByText("Running", { exact: true }).waitFor();
    await page.getByText("slow", { exact: true }).first().waitFor();
    await page
      .getByRole("group", { name: "Live output" })
      .getByText(/line \d+/)
      .waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    await page.getByRole("group", { name: "Output" }).getByText("line 1\n").waitFor();
    expect(await answer).toContain("CANCELLED");
  });

  test("a long answer is fetched from the machine; of an end that nobody knows it is said what to do", async () => {
    const call = await script("maker");
    // More bytes than the relay keeps, in as many characters as a command's output may have.
    await call("Bash", { command: "printf '漢%.0s' $(seq 25000); echo end # long" });
    await ended("# long").getByRole("button", { name: "Details" }).click();
    await ended("# long").getByRole("link", { name: "Open its record" }).click();
    await page.getByText("The answer is long: only the machine keeps it.").waitFor();
    await page.getByRole("button", { name: "Get it from the machine" }).click();
    await page.getByRole("group", { name: "Output" }).getByText("漢end").waitFor();

    await page.route("**/v1/devices/*/calls/*", async (route) => {
      const response = await route.fetch();
      const record = (await response.json()) as object;
      const lost = { state: "unknown", status: null, code: null, outcome_in: null, finished: null };
      await route.fulfill({ response, json: { ...record, ...lost } });
    });
    await page.reload();
    await page.getByText("Outcome unknown", { exact: true }).waitFor();
    await page.getByText("Check what it changed before it is run again").waitFor();
    await expectNoObjections(opened);
  });

  test("a call that only read has no answer kept: what the record has of it is shown", async () => {
    const call = await caller("reader", { effects: ["read"] });
    await call("Glob", { pattern: "*.none", path: folder });
    const item = ended("*.none");
    await item.getByRole("button", { name: "Details" }).click();
    await item.getByRole("link", { name: "Open its record" }).click();
    await page.getByText("Its answer is not kept").waitFor();
    await page.getByText("*.none").waitFor();
    await page.goto(`${app.relay.url}${APP}/d/${app.machine.id}/calls/0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75`);
    await page.getByText("There is no record of this call").waitFor();
  });

  test("what callers and tools wrote is text, without secrets", async () => {
    const call = await script(HOSTILE);
    await call("Bash", {
      command: `printf '%s' '${HOSTILE.replaceAll("'", "")}\u202e' # --password hunter2hunter2`,
    });
    const item = ended("<b>x</b>");
    await item.waitFor();
    const text = (await item.textContent()) ?? "";
    expect(text).toContain("--password [redacted]");
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("\u202e");
    await expect.poll(() => item.locator("img, b").count()).toBe(0);
    await expect.poll(() => page.title()).toBe("Activity · Matrx Relay");
  });

  test("a call that was refused is told with why", async () => {
    const call = await caller("reader", { effects: ["read"] });
    await call("Bash", { command: "rm -rf / # refused" });
    const item = ended("# refused");
    await item.getByText("Refused", { exact: true }).waitFor();
    await item.getByText("PERMISSION_DENIED").waitFor();
  });

  test(
    "stop everything: an AI's command ends at once, here and for whoever else watches, until somebody resumes",
    NEEDS_SANDBOX,
    async () => {
      const call = await caller("assistant");
      const other = (await app.openAlone("/activity")).page;
      const { answer } = await longCommand(call, "ai");
      await running("# ai").waitFor();
      await page.getByRole("button", { name: "Stop everything" }).click();
      await dialog().waitFor();
      await expectNoObjections(opened);
      await dialog().getByRole("button", { name: "Let them go on" }).click();
      await running("# ai").waitFor();

      await page.getByRole("button", { name: "Stop everything" }).click();
      await dialog().getByRole("button", { name: "Stop everything" }).click();
      expect(JSON.parse(await answer)).toMatchObject({ code: "CANCELLED", reason: "PAUSED" });
      const says = /^Stopped by .*: AIs can do nothing/;
      await page.getByRole("status").getByText(says).waitFor();
      await other.getByText(says).waitFor();
      await expect.poll(() => running("# ai").count()).toBe(0);
      const refused = JSON.parse(await call("SystemInfo", {}));
      expect(refused).toMatchObject({ code: "PERMISSION_DENIED", reason: "PAUSED" });
      await expectNoObjections(opened);

      await other.getByRole("button", { name: "Let AIs act again" }).click();
      await dialog(other).getByRole("button", { name: "Let them act again" }).click();
      await page.getByRole("button", { name: "Stop everything" }).waitFor();
      await expect.poll(async () => JSON.parse(await call("SystemInfo", {})).type).toBe("success");
    },
  );

  test("stop and resume work by keyboard alone, and the focus stays where it is of use", async () => {
    await page.getByRole("button", { name: "Stop everything" }).focus();
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    await expect.poll(focused).toBe("Let them go on");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("Stop everything");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Let them go on");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Let AIs act again");
    await page.reload();
    await page.getByText(/^Stopped by/).waitFor();
  });

  test("when the connection is lost, what is shown is shown as old", async () => {
    const lines: WebSocketRoute[] = [];
    let isCut = false;
    await page.routeWebSocket(/account\/ws$/, (line) => {
      if (isCut) return void line.close({ code: 1012 });
      lines.push(line);
      line.connectToServer();
    });
    await page.reload();
    const { answer } = await longCommand(await script("backup"), "old");
    await running("# old").getByText("Running", { exact: true }).waitFor();
    lines[0]?.send(JSON.stringify({ type: "activity", entries: [], missed: 7 }));
    await page.getByText("7 entries were left out").waitFor();
    isCut = true;
    await lines[0]?.close({ code: 1012 });
    await page.getByText("Live connection lost").waitFor();
    await running("# old").getByText("Was running", { exact: true }).waitFor();
    await running("# old")
      .getByText(/^as of /)
      .waitFor();
    await expectNoObjections(opened);
    isCut = false;
    await running("# old").getByText("Running", { exact: true }).waitFor();
    await page.getByText("Live connection lost").waitFor({ state: "detached" });
    await cancelAll();
    await answer;
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const { answer } = await longCommand(await script("x".repeat(60)), "y".repeat(120));
    const once = await script("other");
    await once("Bash", { command: `echo ${"z".repeat(300)}` });
    const seen = await app.open("/activity", { screen });
    await running("sleep 300", seen.page).waitFor();
    await ended("zzz", seen.page).first().getByRole("button", { name: "Details" }).click();
    await expectNoObjections(seen);
    if (screen === "phone") expect(await smallTargets(seen.page, "main :is(button, nav a)", 40)).toEqual([]);
    await cancelAll();
    await answer;
  });
});
