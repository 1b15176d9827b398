/** The load of a machine whose rules ask a person about reads: nobody is asked before somebody wants it. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Policy } from "../../shared/policy.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { setPolicy } from "./policy.ts";

const approvalsSchema = z.object({
  approvals: z.array(z.object({ id: z.string(), device: z.string(), tool: z.string(), state: z.string() })),
});

describe("a load that needs approval", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const waits = (page: Page) =>
    page.getByRole("status").filter({ hasText: "Reading its load waits for approval" });
  const again = (page: Page) => page.getByRole("button", { name: "Read it", exact: true });

  const policy = (wanted: Policy) => setPolicy(app, wanted);

  async function decide(decision: "allow" | "deny"): Promise<void> {
    const owner = await app.relay.signIn();
    const { approvals } = await app.relay.request(owner, "GET /v1/approvals", approvalsSchema);
    const open = approvals.filter(({ state }) => state === "pending");
    expect(open.map(({ tool }) => tool)).toEqual(["SystemInfo"]);
    for (const { device, id } of open)
      await app.relay.request(owner, `POST /v1/devices/${device}/approvals/${id}`, z.unknown(), { decision });
  }

  async function questions(): Promise<number> {
    const owner = await app.relay.signIn();
    return (await app.relay.request(owner, "GET /v1/approvals", approvalsSchema)).approvals.length;
  }

  test.each(["/fleet", "machine"])("is no question by itself on the page %s", async (where) => {
    await policy({ ask: [{ effects: ["read"] }] });
    const opened = await app.open("/settings");
    const { page } = opened;
    let calls = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/tools/SystemInfo")) calls += 1;
    });
    app.renewAfterTest();
    await page.clock.install();
    await page.goto(`${app.relay.url}${where === "machine" ? `/d/${app.machine.id}` : where}`);
    await again(page).waitFor();
    await expect.poll(questions).toBe(0);
    await expectNoObjections(opened);
    await page.clock.runFor(180_000);
    expect(calls, "by itself").toBe(1);

    await again(page).click();
    await waits(page).getByRole("link", { name: "Decide in Activity" }).waitFor();
    await expectNoObjections(opened);
    await decide("deny");
    await again(page).waitFor();
    await page.clock.runFor(180_000);
    expect(calls, "after one was denied").toBe(2);

    await again(page).click();
    await waits(page).waitFor();
    await decide("allow");
    await page
      .getByText(/^\d+%$/)
      .first()
      .waitFor();
    await page.clock.runFor(180_000);
    expect(calls, "after one was allowed").toBe(3);
    // Another page of the app asks nobody, either.
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByRole("link", { name: "Machines" }).first().click();
    await again(page).waitFor();
    expect(calls, "on another page").toBe(3);

    await policy({});
    await again(page).click();
    await again(page).waitFor({ state: "detached" });
    await page.clock.runFor(60_000);
    await expect.poll(() => calls).toBe(5);
    expect(opened.faults).toEqual([]);
  });

  test("is offered once the page's own question is withdrawn: who presses before would get nothing", async () => {
    await policy({ ask: [{ tools: ["SystemInfo"] }] });
    const { page } = await app.openAlone("/settings");
    const withdrawing = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route("**/calls/*/cancel", async (route) => {
      withdrawing.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole("link", { name: "Machines" }).first().click();
    await withdrawing.promise;
    expect(await again(page).count()).toBe(0);
    held.resolve();
    await again(page).click();
    await waits(page).waitFor();
  });

  test("is no question any more when its page is left", async () => {
    await policy({ ask: [{ tools: ["SystemInfo"] }] });
    const { page, faults } = await app.open("/fleet");
    await again(page).click();
    await waits(page).waitFor();
    await expect.poll(questions).toBe(1);
    await page.getByRole("link", { name: "Settings" }).first().click();
    await expect.poll(questions).toBe(0);
    await page.getByRole("link", { name: "Machines" }).first().click();
    await again(page).waitFor();
    expect(await questions()).toBe(0);
    expect(faults).toEqual([]);
  });
});
