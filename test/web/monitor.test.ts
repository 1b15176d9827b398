/** The monitor of a machine: what it shows as it goes, what is ended from there, and what it says when nothing comes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAgent } from "../../scripts/start/agent.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";

const LOW = {
  ...{
    id: "5e3f7a8c-0d5e-7cc3-9b54-3f1f6a3f5f10",
    event_type: "low_disk_space",
    severity: "critical",
    key: "/",
  },
  ...{ data: { drive: "/" }, resolved: false, open: true, timestamp: null, dropped: 0 },
  received: new Date().toISOString(),
};

describe("the monitor", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const monitor = (view = "") => `/d/${app.machine.id}/monitor${view && `?view=${view}`}`;
  const live = (page: Page) => page.getByText("Live", { exact: true });

  test("figures come by themselves, are paused, and go on", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.getByRole("link", { name: `Open ${app.machine.name}` }).click();
    await page.getByRole("link", { name: "Monitor", exact: true }).first().click();
    await live(page).waitFor();
    await page.getByLabel("How often").selectOption("Every second");
    await page
      .getByRole("region", { name: "Processors" })
      .getByText(/^\d+ %$/)
      .waitFor();
    await page.getByText("Core 1", { exact: true }).waitFor();
    await page
      .getByText(/ of .* used$/)
      .first()
      .waitFor();
    await page.getByText(/^The last \d+ samples as a table$/).click();
    const rows = page.getByRole("group", { name: "Samples" }).getByRole("row");
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBeGreaterThan(3);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText(/^Paused · as of /).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await live(page).waitFor();
    expect(faults).toEqual([]);
  });

  test("nobody is asked while the page is not looked at", async () => {
    const { page } = await app.open(monitor());
    await live(page).waitFor();
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
    const at = await page.getByText(/samples as a table$/).textContent();
    await page.getByLabel("How often").selectOption("Every second");
    await page.waitForTimeout(2_500);
    expect(await page.getByText(/samples as a table$/).textContent()).toBe(at);
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
    await expect.poll(() => page.getByText(/samples as a table$/).textContent()).not.toBe(at);
  });

  test("a process is found and ended, after a question", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", "to-be-ended"], {
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    const { page, faults } = await app.open(monitor("processes"));
    await page.getByLabel("Filter").fill("to-be-ended");
    const button = page.getByRole("button", { name: `End node, process ${child.pid}` });
    await button.click();
    await page.getByRole("dialog").getByText("What it has not saved is lost.").waitFor();
    await page.getByRole("button", { name: "Let it run" }).click();
    expect(child.exitCode).toBeNull();
    await button.click();
    await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
    await ended;
    await page.getByText("node has ended.").waitFor();
    await button.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("processes are sorted by the machine", async () => {
    const { page } = await app.open(monitor("processes"));
    await page.getByRole("button", { name: "PID" }).click();
    const first = page.getByRole("group", { name: "Processes" }).getByRole("row").nth(1);
    await expect.poll(() => first.getByRole("cell").nth(1).textContent()).toBe("1");
    await page
      .getByRole("columnheader", { name: "PID" })
      .and(page.locator('[aria-sort="ascending"]'))
      .waitFor();
  });

  test("connections are shown, those that wait, and those that fit a word", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { page, faults } = await app.open(monitor("connections"));
    await page.getByText("Waiting", { exact: true }).click();
    await page.getByLabel("Filter").fill(String(port));
    await page.getByText("1 connection", { exact: false }).waitFor();
    const row = page.getByRole("row", { name: new RegExp(`127\\.0\\.0\\.1:${port}`) });
    await row.getByText("Listen", { exact: true }).waitFor();
    await row.getByText(`(${process.pid})`).waitFor();
    expect(faults).toEqual([]);
  });

  test("a machine that goes away is told, with what was seen last; it goes on by itself", async () => {
    const { page } = await app.open(monitor());
    await live(page).waitFor();
    await page.getByText("Core 1", { exact: true }).waitFor();
    await app.machine.agent.stop();
    await page.getByText(/^The machine is offline · as of /).waitFor();
    expect(await page.getByText("Core 1", { exact: true }).count()).toBe(1);
    const silent = () => undefined;
    app.machine.agent = await startAgent({ dataDir: app.relay.dataDir, onStart: silent, onDeath: silent });
    await live(page).waitFor({ timeout: 30_000 });
  });

  test("how far charts go back is chosen and kept; the last events stand below, and new ones come by themselves", async () => {
    const { page, faults } = await app.open(monitor());
    await live(page).waitFor();
    await page.getByLabel("How far back").selectOption("The last hour");
    await page.reload();
    await live(page).waitFor();
    expect(await page.getByLabel("How far back").inputValue()).toBe("3600000");
    const events = page.getByRole("region", { name: "Events" });
    await events.getByText("Nothing has been reported yet.").waitFor();
    const device = app.machine.id;
    await page.route("**/events", (route) => route.fulfill({ json: { device, events: [LOW], dropped: 0 } }));
    await events.getByRole("heading", { name: "Low disk space" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("there is nothing to object to, on a desktop and on a phone", async () => {
    for (const screen of ["desktop", "phone"] as const)
      for (const view of ["", "processes", "connections"]) {
        const opened = await app.open(monitor(view), { screen });
        if (view) await opened.page.getByRole("row").nth(1).waitFor();
        else await opened.page.getByText("Core 1", { exact: true }).waitFor();
        await expectNoObjections(opened);
      }
  });
});
