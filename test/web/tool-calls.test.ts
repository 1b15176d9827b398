/** Calls of tools in the app that take their time: seen as they run, stopped, run again, and never taken for another. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { expectNoObjections, startApp } from "./app.ts";

describe("calls of tools", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const tool = (name: string) => `/d/${app.machine.id}/tools/${name}`;
  let folder: string;

  beforeEach(() => {
    folder = makeFolder();
    return async () => {
      letGo();
      await expect.poll(() => processesOf(folder)).toEqual([]);
      removeFolder(folder);
    };
  });

  const answer = (page: Page) => page.getByRole("region", { name: "Answer" });
  const said = (page: Page) => answer(page).getByRole("status").first();
  const soFar = (page: Page) => page.getByRole("group", { name: "Output so far" });
  const output = (page: Page) => page.getByRole("group", { name: "Output", exact: true });

  /** Runs a command in the folder of the test. */
  async function bash(page: Page, command: string): Promise<void> {
    await page.getByLabel("Command").fill(`cd '${folder}'; ${command}`);
    await page.getByLabel("Command").press("Control+Enter");
  }

  /** Lets a command go on that waits for it. */
  function letGo(): void {
    writeFileSync(join(folder, "go"), "");
  }
  const UNTIL_GO = "until [ -e go ]; do sleep 0.05; done";

  test("a read-only command changes nothing, and is told as one that only reads, here and in the activity", async () => {
    const { page } = await app.open(tool("Bash"));
    await page.getByLabel("Read only").check();
    await page.getByLabel("Command").fill("echo reads; echo x > made-by-a-reader");
    await page.getByLabel("Command").press("Control+Enter");
    await output(page).waitFor();
    expect(await output(page).textContent()).toContain("Read-only file system");
    expect(await answer(page).getByRole("link").count()).toBe(0);
    await page.goto(new URL("/activity", page.url()).href);
    const latest = page.getByRole("list", { name: "Latest calls" });
    const call = latest.getByRole("listitem").filter({ hasText: "made-by-a-reader" });
    await call.getByRole("button", { name: "Details" }).click();
    await call.getByText("Only reads").waitFor();
    await call.getByText("read_only:").waitFor();
  });

  test("the output is seen as it comes, in colours, and these stay in the answer; an exit code is one", async () => {
    const opened = await app.open(tool("Bash"));
    const { page } = opened;
    await bash(page, `printf '\\033[31mred\\033[0m\\n'; ${UNTIL_GO}; printf 'last\\n'; exit 3`);
    await expect.poll(() => soFar(page).textContent()).toBe("red\n");
    await expect
      .poll(() => said(page).textContent())
      .toBe(`Bash is running on ${app.machine.name}. It keeps running if you leave this page.`);
    await expect.poll(() => answer(page).getByRole("timer").textContent()).toMatch(/^\d+ s$/);
    await expect.poll(() => page.getByRole("button", { name: "Running …" }).isDisabled()).toBe(true);
    await expect.poll(() => soFar(page).locator("span[style*=color]").textContent()).toBe("red");
    await expectNoObjections(opened);
    letGo();
    await answer(page).getByText("Exit code 3", { exact: true }).waitFor();
    await expect.poll(() => output(page).textContent()).toBe("red\nlast\n[Exit code 3]");
    await expect.poll(() => output(page).locator("span[style*=color]").textContent()).toBe("red");
    await answer(page).getByText("Details for programs").click();
    await answer(page).getByText("exit_code").waitFor();
    await expectNoObjections(opened);
    await answer(page).getByRole("link", { name: "Its record" }).click();
    await page.waitForURL(/\/calls\//);
  });

  test("the answer comes into sight as it grows, but not under whoever looks elsewhere", async () => {
    const { page } = await app.open(tool("Bash"));
    await page.setViewportSize({ width: 1280, height: 700 });
    const isSeen = async () => {
      const { y = 0, height = 0 } = (await output(page).boundingBox()) ?? {};
      return height > 0 && y + height <= 700;
    };
    await bash(page, `echo begun; ${UNTIL_GO}; seq 12`);
    await soFar(page).waitFor();
    letGo();
    await expect.poll(isSeen).toBe(true);
    rmSync(join(folder, "go"));
    await bash(page, `echo begun; ${UNTIL_GO}; seq 12`);
    await soFar(page).waitFor();
    await page.locator("#page-title").evaluate((title) => title.scrollIntoView());
    letGo();
    await output(page).waitFor();
    expect(await isSeen()).toBe(false);
  });

  test("Stop ends it with all its processes, by keyboard too, and what it wrote stays", async () => {
    const { page, faults } = await app.open(tool("Bash"));
    await bash(page, "echo begun; sleep 60 & sleep 60; touch late");
    await expect.poll(() => soFar(page).textContent()).toBe("begun\n");
    expect(processesOf(folder)).not.toEqual([]);
    await page.getByRole("button", { name: `Stop Bash on ${app.machine.name}` }).focus();
    await page.keyboard.press("Enter");
    await answer(page)
      .getByText(/Stopped after/)
      .waitFor();
    await answer(page)
      .getByText(/\(CANCELLED\)/)
      .waitFor();
    await expect.poll(() => answer(page).textContent()).toContain("begun");
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(folder, "late"))).toBe(false);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Answer");
    expect(faults).toEqual([]);
  });

  test("wide output scrolls in its box, on a phone too", async () => {
    const opened = await app.open(tool("Bash"), { screen: "phone" });
    const { page } = opened;
    await page.setViewportSize({ width: 320, height: 640 });
    await bash(page, `printf 'wide%.0s' $(seq 400); echo; seq 100; ${UNTIL_GO}`);
    await expect.poll(() => soFar(page).textContent()).toMatch(/100\n$/);
    await expectNoObjections(opened);
    await page.getByRole("button", { name: `Stop Bash on ${app.machine.name}` }).tap();
    await answer(page)
      .getByText(/\(CANCELLED\)/)
      .waitFor();
    await expectNoObjections(opened);
  });

  test("signing out stops it, and a reload changes nothing about that", async () => {
    const { page, faults } = await app.openAlone(tool("Bash"));
    await bash(page, "echo begun; sleep 60");
    await expect.poll(() => soFar(page).textContent()).toBe("begun\n");
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByText("You have no passkey here").waitFor();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await expect.poll(() => processesOf(folder)).toEqual([]);
    await expect.poll(() => page.getByRole("status", { name: "News" }).textContent()).toBe("");
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("the last of much output is shown, its end is followed, and whoever scrolled up stays there", async () => {
    const { page } = await app.open(tool("Bash"));
    await bash(page, `seq 1 40000; ${UNTIL_GO}; seq 1 2000; echo 'the end'; sleep 3`);
    await expect.poll(() => soFar(page).textContent()).toMatch(/39999\n40000\n$/);
    await page.getByText(/^The first [\d,]+ characters are not shown\.$/).waitFor();
    const place = () =>
      soFar(page).evaluate((box) => ({
        below: Math.round(box.scrollHeight - box.scrollTop - box.clientHeight),
        first: box.ownerDocument.elementFromPoint(
          box.getBoundingClientRect().x + 20,
          box.getBoundingClientRect().y + 20,
        )?.textContent,
      }));
    expect((await place()).below).toBeLessThan(8);
    await soFar(page).evaluate((box) => box.scrollTo(0, box.scrollHeight - 5_000));
    const before = await place();
    letGo();
    await expect.poll(() => soFar(page).textContent()).toMatch(/the end\n$/);
    const after = await place();
    expect(after.first).toBe(before.first);
    expect(after.below).toBeGreaterThan(before.below);
  });

  test("a call goes on while the person looks at other tools, and none is taken for another", async () => {
    const { page } = await app.open(tool("Bash"));
    await bash(page, `echo first; ${UNTIL_GO}; echo last`);
    await expect.poll(() => soFar(page).textContent()).toBe("first\n");
    await page.getByRole("link", { name: /^SystemInfo/ }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await output(page).getByText("hostname:").waitFor();
    letGo();
    await page.getByText("All tools", { exact: true }).click();
    const calls = page.getByRole("region", { name: "Calls made here" });
    await expect.poll(() => calls.getByRole("listitem").allTextContents()).toHaveLength(2);
    await expect.poll(() => calls.getByText(/Answered in/).count()).toBe(2);
    await expect.poll(() => output(page).textContent()).toContain("hostname:");
    await page.getByRole("button", { name: /^Show Bash/ }).click();
    await page.waitForURL(/\/tools\/Bash$/);
    await expect.poll(() => output(page).textContent()).toBe("first\nlast\n");
  });

  test("a call of the history is run again, or changed first; after a reload its input is still there", async () => {
    const { page } = await app.open(tool("Bash"));
    await bash(page, "echo x >> runs; wc -l < runs");
    await expect.poll(() => output(page).textContent()).toBe("1\n");
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await expect.poll(() => output(page).textContent()).toBe("2\n");
    await page.getByLabel("Command").fill("");
    await page
      .getByRole("button", { name: /^Run again: Bash/ })
      .first()
      .click();
    await expect.poll(() => output(page).textContent()).toBe("3\n");
    await page.reload();
    const calls = page.getByRole("region", { name: "Calls made here" });
    await expect.poll(() => calls.getByRole("listitem").count()).toBe(3);
    await calls
      .getByRole("button", { name: /^Edit Bash/ })
      .first()
      .click();
    await expect.poll(() => page.getByLabel("Command").inputValue()).toContain("wc -l < runs");
    await calls
      .getByRole("button", { name: /^Show Bash/ })
      .first()
      .click();
    await page.getByText(/Its answer is no longer here/).waitFor();
    await calls.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => calls.count()).toBe(0);
  });

  test("a call that runs when the page is loaded again is followed, and its answer comes", async () => {
    const { page } = await app.open(tool("Bash"));
    await bash(page, `echo begun; ${UNTIL_GO}; echo ended`);
    await expect.poll(() => soFar(page).textContent()).toBe("begun\n");
    await page.reload();
    await expect.poll(() => said(page).textContent()).toMatch(/^Bash is running on/);
    letGo();
    await expect.poll(() => output(page).textContent()).toBe("begun\nended\n");
    await answer(page).getByRole("link", { name: "Its record" }).waitFor();
  });

  test("a call that had no name at the relay when the page was closed is told as not known, and can be made again", async () => {
    const { page } = await app.open(tool("Bash"));
    await page.route("**/v1/**/tools/Bash", (route) => route.abort());
    await bash(page, "echo x >> runs");
    await expect.poll(() => said(page).textContent()).toMatch(/Making sure that it got the call/);
    await page.reload();
    await page.unrouteAll();
    await page.getByRole("button", { name: /^Show Bash/ }).click();
    await answer(page)
      .getByText(/^The page was closed while it ran\. Check what it changed before you run it again\./)
      .waitFor();
    expect(existsSync(join(folder, "runs"))).toBe(false);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect.poll(() => existsSync(join(folder, "runs"))).toBe(true);
  });

  test("a call that may have been made, or not, is told as that", async () => {
    const { page } = await app.open(tool("Bash"));
    await page.route("**/tools/Bash", (route) => route.abort());
    app.renewAfterTest();
    await page.clock.install();
    await bash(page, "echo");
    const unclear = page.getByText("it is unclear whether the call was made");
    // It is sent again a few times, with a pause before each.
    await expect.poll(() => page.clock.fastForward(2_000).then(() => unclear.count())).toBe(1);
    await page.getByText("What to do: Check what it changed").waitFor();
  });
});
