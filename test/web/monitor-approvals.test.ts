/** The monitor of a machine whose rules ask a person first: what waits is said, goes on when allowed, and is not asked for twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Policy } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { fakeMachine } from "./fake-machine.ts";
import { setPolicy } from "./policy.ts";

const approvalsSchema = z.object({ approvals: z.array(z.object({ id: z.string(), tool: z.string() })) });

describe("a monitor that needs approval", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const monitor = (view = "") => `/d/${app.machine.id}/monitor${view && `?view=${view}`}`;
  const live = (page: Page) => page.getByText("Live", { exact: true });
  const waits = (page: Page, what: string | RegExp) => page.getByRole("status").filter({ hasText: what });

  const policy = (wanted: Policy) => setPolicy(app, wanted);
  const ask = (...tools: string[]) => policy({ ask: [{ tools }] });

  /** In the tab that the link opens. Leaves that tab open. */
  async function decide(page: Page, answer: "Allow once" | "Deny"): Promise<Page> {
    const opening = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Decide in Activity" }).first().click();
    const activity = await opening;
    const cards = activity.getByRole("region", { name: "Needs you" }).getByRole("listitem");
    const card = cards.filter({ has: activity.getByRole("button", { name: answer }) });
    await card.getByRole("button", { name: answer }).and(card.locator(":not([aria-disabled])")).click();
    await card.waitFor({ state: "detached" });
    return activity;
  }

  async function questions(): Promise<number> {
    const owner = await app.relay.signIn();
    const { approvals } = await app.relay.request(owner, "GET /v1/approvals", approvalsSchema);
    return approvals.length;
  }

  test("figures wait, and come once they are allowed; the page that was left meanwhile asks nobody again", async () => {
    await ask("SystemMetrics");
    const opened = await app.open(monitor());
    const { page } = opened;
    await waits(page, "Watching the machine waits for approval").waitFor();
    await page.getByText("Waiting for approval").waitFor();
    await expectNoObjections(opened);
    await decide(page, "Allow once");
    await live(page).waitFor();
    await page.getByText("Core 1", { exact: true }).waitFor();
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
    const samples = page.getByText(/samples as a table$/);
    const before = await samples.textContent();
    await expect.poll(() => samples.textContent()).not.toBe(before);
    expect(await questions()).toBe(0);
    expect(opened.faults).toEqual([]);
  });

  test("figures that are denied are said to be, and are asked for again only when somebody wants it", async () => {
    await ask("SystemMetrics");
    const { page, faults } = await app.open(monitor());
    await waits(page, "Watching the machine waits").waitFor();
    await decide(page, "Deny");
    await page.getByRole("alert").waitFor();
    await page.getByText("Unavailable").waitFor();
    expect(await questions()).toBe(0);
    await policy({});
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await live(page).waitFor();
    expect(faults).toEqual([]);
  });

  test.each([
    ["processes", "ListProcesses"],
    ["connections", "NetworkConnections"],
  ])("%s wait, are shown once they are allowed, and are not read again by themselves", async (view, tool) => {
    await ask(tool);
    const opened = await app.open(monitor(view));
    const { page } = opened;
    await waits(page, "Reading this waits for approval").waitFor();
    await decide(page, "Allow once");
    await page.getByRole("row").nth(1).waitFor();
    await page.getByText("Each look at this needs approval").waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Read it again" }).click();
    await waits(page, "Reading this waits for approval").waitFor();
    expect(await page.getByRole("row").count()).toBeGreaterThan(1);
    await decide(page, "Deny");
    await page.getByRole("alert").waitFor();
    expect(await questions()).toBe(0);
    expect(opened.faults).toEqual([]);
  });

  test("after an approval or a refusal, time makes no further call", async () => {
    let isRefused = false;
    const opened = await app.open("/settings");
    const { page } = opened;
    app.renewAfterTest();
    await page.clock.install();
    const machine = await fakeMachine(page, (call) => {
      if (isRefused) return call.refuse("PERMISSION_DENIED", "Not for you");
      call.wait();
      call.answer({ processes: [], matching: 0, total: 0 });
    });
    await page.goto(`${app.relay.url}${monitor("processes")}`);
    await page.getByText("Each look at this needs approval").waitFor();
    const calls = machine.calls.length;
    await page.clock.runFor(60_000);
    expect(machine.calls).toHaveLength(calls);
    isRefused = true;
    await page.getByRole("button", { name: "Read it again" }).click();
    await page.getByRole("alert").getByText("Not for you").waitFor();
    await page.clock.runFor(60_000);
    expect(machine.calls).toHaveLength(calls + 1);
    // When the clock jumps, the page may close a connection on which the fake machine's answer is still to come.
    const late = "WebSocket is already in CLOSING or CLOSED state.";
    expect(opened.faults.filter((fault) => fault !== late)).toEqual([]);
  });

  test("a question is withdrawn when the page is left", async () => {
    await ask("NetworkConnections");
    const { page } = await app.open(monitor("connections"));
    await waits(page, "Reading this waits").waitFor();
    await expect.poll(questions).toBe(1);
    await page.getByRole("link", { name: "Load", exact: true }).click();
    await expect.poll(questions).toBe(0);
  });

  test("the end of a process waits, too, with its name", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", "asked-to-end"], {
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await ask("StopProcess");
    const { page, faults } = await app.open(monitor("processes"));
    await page.getByLabel("Filter").fill("asked-to-end");
    const button = page.getByRole("button", { name: `End node, process ${child.pid}` });
    const end = async () => {
      await button.click();
      await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
      await waits(page, `Ending node (process ${child.pid}) waits for approval`).waitFor();
    };
    await end();
    await decide(page, "Deny");
    await waits(page, "Ending node").waitFor({ state: "detached" });
    await page
      .getByText(/denied/i)
      .first()
      .waitFor();
    expect(child.exitCode).toBeNull();
    await end();
    await decide(page, "Allow once");
    await ended;
    await page.getByText("node has ended.").waitFor();
    await waits(page, "Ending node").waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });
});
