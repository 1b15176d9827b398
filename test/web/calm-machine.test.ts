/** A machine that goes away in the middle of work: said with its time; what was typed stays; the page goes on when it is back. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startAgent } from "../../scripts/start/agent.ts";
import { deviceViewSchema } from "../../shared/api.ts";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type Opened, startApp } from "./app.ts";

describe("a machine that goes away", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let opened: Opened;
  let folder: string;
  const tool = (name: string) => `/d/${app.machine.id}/tools/${name}`;
  const run = (page: Page) => page.getByRole("button", { name: "Run", exact: true });
  const answer = (page: Page) => page.getByRole("region", { name: "Answer" });

  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(async () => {
    await back();
    await expect.poll(() => processesOf(folder)).toEqual([]);
    removeFolder(folder);
    expect(opened.faults).toEqual([]);
  });

  async function state(): Promise<string> {
    const line = `GET /v1/devices/${app.machine.id}` as const;
    return (await app.relay.request(await app.relay.signIn(), line, deviceViewSchema)).state;
  }

  async function back(): Promise<void> {
    await expect.poll(state, { timeout: 30_000 }).toMatch(/ONLINE|IDLE/);
  }

  /** Its program dies; whoever keeps it running starts it again after a while. */
  function die(): void {
    if (app.machine.agent.pid) process.kill(app.machine.agent.pid, "SIGKILL");
  }

  test("while a call writes: its output stays, and its end is told once the machine is back", async () => {
    opened = await app.open(tool("Bash"));
    const { page } = opened;
    const command = `cd '${folder}'; echo before; until [ -e go ]; do sleep 0.05; done; echo after`;
    await page.getByLabel("Command").fill(command);
    await run(page).click();
    await page.getByRole("group", { name: "Output so far" }).getByText("before").waitFor();
    await page.getByLabel("Command").fill("echo the next one");
    const { pid } = app.machine.agent;
    die();
    await expect.poll(() => app.machine.agent.pid).not.toBe(pid);
    await back();
    await answer(page).getByText("before").waitFor();
    writeFileSync(join(folder, "go"), "");
    const ended = answer(page)
      .getByRole("alert")
      .or(page.getByRole("group", { name: "Output", exact: true }));
    await ended.first().waitFor();
    await answer(page).getByText("before").first().waitFor();
    await expect.poll(() => page.getByLabel("Command").inputValue()).toBe("echo the next one");
    await expect.poll(() => run(page).isEnabled(), { timeout: 30_000 }).toBe(true);
    await run(page).click();
    await page.getByRole("group", { name: "Output", exact: true }).getByText("the next one").waitFor();
  });

  test("while a form is half filled: why it can't run is said with the time, and it can when it is back", async () => {
    opened = await app.open(tool("Write"));
    const { page } = opened;
    app.renewAfterTest();
    await page.clock.install();
    await page.reload();
    await page.getByLabel("File path").fill(`${folder}/half`);
    await page.route("**/v1/devices", async (route) => {
      const response = await route.fetch();
      const { devices } = await response.json();
      const seen = new Date(Date.now() - 5 * 60_000).toISOString();
      await route.fulfill({
        response,
        json: { devices: devices.map((one: object) => ({ ...one, state: "OFFLINE", last_seen: seen })) },
      });
    });
    await page.clock.fastForward(10_000);
    await page.getByText(/is offline: it was last seen 5.*ago\. What you typed is kept/).waitFor();
    await expect.poll(() => run(page).isDisabled()).toBe(true);
    await page.getByLabel("Content").fill("typed while it was away");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.clock.fastForward(10_000);
    await expect.poll(() => run(page).isEnabled(), { timeout: 15_000 }).toBe(true);
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe(`${folder}/half`);
    await run(page).click();
    await answer(page)
      .getByText(/Answered in/)
      .waitFor();
  });

  test("while its page is open: it is seen as offline, with the time, and online again by itself", async () => {
    opened = await app.open(`/d/${app.machine.id}`);
    const { page } = opened;
    const states = page.locator("main").getByText(/^(Online|Idle)$/);
    await states.first().waitFor();
    await app.machine.agent.stop();
    await page
      .getByText(/^Seen (just now|\d+.*ago)$/)
      .first()
      .waitFor({ timeout: 30_000 });
    const silent = () => undefined;
    app.machine.agent = await startAgent({ dataDir: app.relay.dataDir, onStart: silent, onDeath: silent });
    await states.first().waitFor({ timeout: 30_000 });
    await page.getByText(/^Its load is not known/).waitFor({ state: "detached", timeout: 90_000 });
  });
});
