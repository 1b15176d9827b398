/** Events and commands on the page, with a bare device that reports and obeys. */
import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventListSchema } from "../../shared/api.ts";
import { makeEventId } from "../../shared/ids.ts";
import type { BareDevice } from "../conformance/bare-device.mjs";
import { makePlace, messageOf, type Place, registered } from "../conformance/bare-place.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("the page of a device", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let browser: Browser;
  let page: Page;
  let faults: string[];
  let place: Place;
  let device: BareDevice;

  beforeAll(async () => {
    relay = await startRelay();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
  });
  // A device of each test's own: the page opens the only one that is online.
  beforeEach(async () => {
    faults = [];
    place = await makePlace(relay);
    device = await registered(place);
    const context = await browser.newContext();
    page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return async () => {
      await context.close();
      device.vanish();
      expect(faults).toEqual([]);
    };
  });

  const low = (more: Record<string, unknown> = {}) =>
    device.send("event", {
      event_type: "low_disk_space",
      severity: "critical",
      key: "/",
      data: { drive: "/", free_gb: 5.2 },
      id: makeEventId(),
      ...more,
    });
  const events = () => page.getByRole("region", { name: "Events of shed" }).getByRole("listitem");
  const titles = () => events().getByRole("heading").allTextContents();

  async function open(): Promise<void> {
    await page.goto(await relay.signInLink());
    await page.getByRole("heading", { name: "Events of shed" }).waitFor();
  }

  test("shows events, the newest first, and new ones as they come", async () => {
    low();
    const files = [{ path: "a.txt", change: "added" }, null];
    device.event("deur_open", "ernstig", { bericht: HOSTILE, files });
    await open();
    await expect.poll(titles).toEqual(["deur open", "Low disk space"]);
    const [second, first] = await events().all();
    expect(await first?.textContent()).toMatch(/Critical.*Open.*\//);
    expect(await second?.textContent()).toMatch(/ernstig/);
    await page.getByText("1 open alert").waitFor();

    await second?.getByText("Details").click();
    expect(await second?.locator("dd").allTextContents()).toEqual([
      HOSTILE,
      "path: a.txt, change: added\nnull",
    ]);
    expect(await page.locator("main img").count()).toBe(0);

    low({ resolved: true, severity: "info", id: makeEventId(Date.now() + 1000) });
    await expect.poll(titles).toEqual(["Low disk space", "deur open", "Low disk space"]);
    expect(await events().first().textContent()).toMatch(/Info.*Over/);
    expect(await events().last().textContent()).not.toMatch(/Open/);
    await page.getByText("1 open alert").waitFor({ state: "detached" });
    expect(await page.title()).toBe("Matrx Relay");
  });

  test("shows that the device was paused at the machine", async () => {
    device.send("device_status", { paused: "ai" });
    await open();
    await page.getByText("Paused for AI").waitFor();
  });

  test("names the files that an event is about", async () => {
    const files = [{ path: "a.pdf", change: "added" }];
    device.event("new_file_detected", "info", { folder: "/scans", count: 3, files });
    device.event("new_file_detected", "info", { folder: "/scans", count: 1, files });
    device.event("new_file_detected", "info", { files: [null] });
    await open();
    await expect.poll(titles).toEqual(["File changed", "File changed", "File changed"]);
    const [odd, one, three] = await events().locator("p").allTextContents();
    expect(three).toMatch(/^a\.pdf and 2 more in \/scans · /);
    expect(one).toMatch(/^a\.pdf in \/scans · /);
    expect(odd).not.toMatch(/ in /);
  });

  test("shows names as the device gave them, whatever they mean to a program", async () => {
    device.event("constructor", "toString", {});
    device.event("__proto__", "__proto__", {});
    await open();
    await expect.poll(titles).toEqual(["  proto  ", "constructor"]);
    const badges = await events().locator(".severity").all();
    expect(await Promise.all(badges.map((badge) => badge.textContent()))).toEqual(["__proto__", "toString"]);
    expect(await Promise.all(badges.map((badge) => badge.getAttribute("class")))).toEqual([
      "severity ",
      "severity ",
    ]);
  });

  test("says how many were dropped", async () => {
    device.event("error_occurred", "warning", {});
    await page.route("**/events", async (route) => {
      const response = await route.fetch();
      const list = eventListSchema.parse(await response.json());
      const json = { ...list, events: list.events.map((event) => ({ ...event, dropped: 7 })) };
      await route.fulfill({ response, json });
    });
    await open();
    await events().getByText("7 earlier ones were dropped").waitFor();
  });

  test.each([
    ["the relay was started anew", 1012],
    ["the account could not be asked", 4403],
  ])("goes on after the live connection broke because %s, and shows what came meanwhile", async (_, code) => {
    const lines: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/devices\/[^/]+\/ws$/, (line) => {
      lines.push(line);
      line.connectToServer();
    });
    await open();
    device.event("error_occurred", "warning", { n: 1 });
    await expect.poll(titles).toEqual(["Error"]);
    await lines[0]?.close({ code });
    await page.getByText("Live connection lost. Reconnecting").waitFor();
    device.event("deur_open", "info", {});
    await expect.poll(titles, { timeout: 10_000 }).toEqual(["deur open", "Error"]);
    await expect.poll(() => lines.length).toBe(2);
    device.event("deur_dicht", "info", {});
    await expect.poll(titles).toEqual(["deur dicht", "deur open", "Error"]);
  });

  test("says that it is over when the session is", async () => {
    const lines: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/devices\/[^/]+\/ws$/, (line) => {
      lines.push(line);
      line.connectToServer();
    });
    await open();
    await expect.poll(() => lines.length).toBe(1);
    await page.context().clearCookies();
    // The page asks for another access token, and gets none.
    await page.route("**/events", (route) => route.fulfill({ status: 401, body: "{}" }));
    await lines[0]?.close({ code: 4403 });
    await page.getByText("New events are no longer shown.").waitFor({ timeout: 10_000 });
  });

  test("a person restarts and stops its program, after a question, by keyboard too", async () => {
    await open();
    const said = messageOf(device, "system_command");
    await page.getByRole("button", { name: "Restart program on shed" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText("The program on shed was asked to restart.").waitFor();
    expect(await said).toMatchObject({ command: "restart_client" });

    await page.getByRole("button", { name: "Stop program on shed" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Stop program on shed" }).click();
    const closed = new Promise((resolve) => device.once("closed", resolve));
    await page.getByRole("dialog").getByRole("button", { name: "Stop program" }).click();
    await page.getByText("The program on shed was asked to stop.").waitFor();
    await closed;
    await page.getByRole("button", { name: "Restart program on shed" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restart program" }).click();
    await page.getByText("The device is not connected").waitFor();
  });

  test.each([
    ["light", 320],
    ["dark", 320],
    ["light", 1280],
    ["dark", 1280],
  ] as const)(
    "axe finds nothing to object to, and nothing is too wide: %s, %i px",
    async (colorScheme, width) => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      low();
      device.event("x".repeat(64), "y".repeat(32), {
        long: "z".repeat(500),
        nested: { deep: ["w".repeat(200)] },
      });
      low({ resolved: true, severity: "info", id: makeEventId(Date.now() + 1000) });
      low({ severity: "warning", key: "k".repeat(256), timestamp: "gisteren" });
      await open();
      await expect.poll(titles).toHaveLength(4);
      for (const summary of await page.getByText("Details").all()) await summary.click();
      expect(await objections(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await page.getByRole("button", { name: "Stop program on shed" }).click();
      await page.getByRole("dialog").waitFor();
      expect(await objections(page)).toEqual([]);
    },
  );
});
