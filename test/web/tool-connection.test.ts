/** Calls of tools in the app over a line that breaks or falls silent: none with an effect is lost, none is made twice. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Line } from "../e2e/line.ts";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { APP, routeAtOnce } from "./app.ts";

describe("a tool's call over a bad line", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let line: Line;
  let page: Page;
  let folder: string;

  beforeAll(async () => {
    line = await Line.open();
    relay = await startRelay({ publicUrl: `http://localhost:${line.port}` });
    line.leadTo(relay.port);
    machine = await connectMachine(relay);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
    await line?.close();
  });

  beforeEach(async () => {
    folder = makeFolder();
    const context = await browser.newContext({ serviceWorkers: "block" });
    page = await context.newPage();
    routeAtOnce(page);
    const [, code] = (await relay.signInLink()).split("#");
    await page.goto(`http://localhost:${line.port}${APP}/fleet#${code}`);
    await page.getByRole("navigation").first().waitFor();
    return async () => {
      letGo();
      await context.close();
      await expect.poll(() => processesOf(folder)).toEqual([]);
      removeFolder(folder);
    };
  });

  const said = () => page.getByRole("region", { name: "Answer" }).getByRole("status").first();
  const soFar = () => page.getByRole("group", { name: "Output so far" });
  const output = () => page.getByRole("group", { name: "Output", exact: true });
  const letGo = () => writeFileSync(join(folder, "go"), "");
  const UNTIL_GO = "until [ -e go ]; do sleep 0.05; done";

  async function bash(command: string): Promise<void> {
    await page.getByLabel("Command").fill(`cd '${folder}'; ${command}`);
    await page.getByLabel("Command").press("Control+Enter");
  }

  test("that breaks: its answer comes when the line is back, and it was made once", async () => {
    await page.goto(`http://localhost:${line.port}${APP}/d/${machine.id}/tools/Bash`);
    await bash(`echo before; ${UNTIL_GO}; echo ran >> runs; echo after`);
    await expect.poll(() => soFar().textContent()).toBe("before\n");
    line.leadTo(1);
    line.cut();
    await expect.poll(() => said().textContent()).toMatch(/Can't reach the relay\. Asking again/);
    await expect.poll(() => soFar().textContent()).toBe("before\n");
    line.leadTo(relay.port);
    await expect.poll(() => said().textContent()).toMatch(/^Bash is running on/);
    letGo();
    await expect.poll(() => output().textContent()).toBe("before\nafter\n");
    await bash("cat runs");
    await expect.poll(() => output().textContent()).toBe("ran\n");
  });

  test("that falls silent: it is taken for broken, and another one is opened", async () => {
    await page.clock.install();
    await page.goto(`http://localhost:${line.port}${APP}/d/${machine.id}/tools/Bash`);
    await bash(`echo before; ${UNTIL_GO}`);
    await page.clock.fastForward(1_000);
    await expect.poll(() => soFar().textContent()).toBe("before\n");
    line.hold("down");
    await page.clock.fastForward(50_000);
    await expect.poll(() => said().textContent()).toMatch(/^Connection lost\. Asking/);
    line.cut();
    await expect.poll(() => said().textContent()).toMatch(/^Bash is running on/);
    letGo();
    await expect.poll(() => output().textContent()).toBe("before\n");
  });

  test("when only something was read, it says that nothing was changed", async () => {
    await page.route("**/v1/**/tools/SystemInfo", (route) =>
      route.fulfill({
        contentType: "text/event-stream",
        headers: { "Matrx-Call": "x" },
        body: ": hello\n\n",
      }),
    );
    await page.goto(`http://localhost:${line.port}${APP}/d/${machine.id}/tools/SystemInfo`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("SystemInfo only reads, so nothing was changed: just run it again.").waitFor();
  });

  test("when the relay can't be reached to read something, it says so at once", async () => {
    let sent = 0;
    await page.route("**/v1/**/tools/SystemInfo", (route) => {
      sent++;
      return route.abort();
    });
    await page.goto(`http://localhost:${line.port}${APP}/d/${machine.id}/tools/SystemInfo`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("alert").getByText("Can't reach the relay.").waitFor();
    expect(sent).toBe(1);
  });
});
