/** The app without a network: it starts, and says how old what it shows is. And when the network is back. */
import { describe, expect, test } from "vitest";
import { NEEDS_FULL_CHROMIUM, startFullBrowser } from "../helpers/browser.ts";
import { APP, startApp } from "./app.ts";

describe("the app without a network", NEEDS_FULL_CHROMIUM, () => {
  const app = startApp({ browser: startFullBrowser });

  test("starts with what it knew, says when that was, and goes on by itself", async () => {
    const { page, faults } = await app.open("/fleet", { workers: true });
    await page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
    await page.evaluate("navigator.serviceWorker.ready");
    // A page that was loaded before its worker does not go through it.
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await page.getByText("Connected", { exact: true }).waitFor();

    await page.context().setOffline(true);
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
    await page.getByText("Can't reach the relay", { exact: true }).waitFor();
    await page.getByText(/^As of .*online$/).waitFor();
    await page.getByText("Was online", { exact: true }).waitFor();
    expect(await page.getByText("Online", { exact: true }).count()).toBe(0);
    expect(await page.locator('[data-state="ONLINE"]').count()).toBe(0);
    await page.goto(`${app.relay.url}${APP}/d/${app.machine.id}`);
    await page.getByText("Was online", { exact: true }).waitFor();
    // A time that does not change by itself.
    await expect.poll(() => page.getByText("Last seen").locator("xpath=..").textContent()).toMatch(/\d:\d\d/);
    await page.getByText("Can't reach the relay.").first().waitFor();
    expect(await page.getByText("Nothing has been reported yet.").count()).toBe(0);
    await page.goBack();

    await page.context().setOffline(false);
    await page.evaluate('dispatchEvent(new Event("online"))');
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("1 of 1 online", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("can be installed", async () => {
    const { page } = await app.open("/fleet", { workers: true });
    const session = await page.context().newCDPSession(page);
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    // Every browser of a test is a private one.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
  });
});
