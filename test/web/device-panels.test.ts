/** What a machine's page tells of it: its events, its program, its latest calls. */
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventListSchema } from "../../shared/api.ts";
import { makeEventId } from "../../shared/ids.ts";
import type { BareDevice } from "../conformance/bare-device.mjs";
import { makePlace, messageOf, type Place, registered } from "../conformance/bare-place.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, type Opened, startApp } from "./app.ts";
import { callerOf } from "./caller.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("the page of a machine", NEEDS_CHROMIUM, () => {
  const app = startApp();

  describe("a machine's events", () => {
    let place: Place;
    let device: BareDevice;
    let opened: Opened | undefined;
    let page: Page;

    beforeEach(async () => {
      place = await makePlace(app.relay);
      device = await registered(place);
    });
    afterEach(() => {
      expect(opened?.faults).toEqual([]);
    });

    async function open(options: Parameters<typeof app.open>[1] = {}): Promise<Opened> {
      opened = await app.open(`/d/${place.deviceId}`, options);
      page = opened.page;
      return opened;
    }

    const low = (more: Record<string, unknown> = {}) =>
      device.send("event", {
        event_type: "low_disk_space",
        severity: "critical",
        key: "/",
        data: { drive: "/", free_gb: 5.2 },
        id: makeEventId(),
        ...more,
      });
    const panel = () => page.getByRole("region", { name: "Events" });
    const events = () => panel().getByRole("list", { name: "Events" }).getByRole("listitem");
    const titles = () => events().getByRole("heading").allTextContents();

    test("stand there with the newest first, and new ones come by themselves", async () => {
      low();
      const files = [{ path: "a.txt", change: "added" }, null];
      device.event("deur_open", "ernstig", { bericht: HOSTILE, files });
      await open();
      await expect.poll(titles).toEqual(["deur open", "Low disk space"]);
      const [second, first] = await events().all();
      await expect.poll(() => first?.textContent()).toMatch(/Critical.*Open.*\//);
      await expect.poll(() => second?.textContent()).toMatch(/ernstig/);
      await panel().getByText("1 open alert").waitFor();

      await second?.getByText("Details").click();
      await expect
        .poll(() => second?.locator("dd").allTextContents())
        .toEqual([HOSTILE, "path: a.txt, change: added\nnull"]);
      await expect.poll(() => page.locator("main img").count()).toBe(0);

      low({ resolved: true, severity: "info", id: makeEventId(Date.now() + 1000) });
      await expect
        .poll(titles, { timeout: 10_000 })
        .toEqual(["Low disk space", "deur open", "Low disk space"]);
      await expect.poll(() => events().first().textContent()).toMatch(/Info.*Over/);
      await expect.poll(() => events().last().textContent()).not.toMatch(/Open/);
      await panel().getByText("1 open alert").waitFor({ state: "detached" });
      await expect.poll(() => page.title()).not.toContain("owned");
    });

    test("name the files that they are about", async () => {
      const files = [{ path: "a.pdf", change: "added" }];
      device.event("new_file_detected", "info", { folder: "/scans", count: 3, files });
      device.event("new_file_detected", "info", { folder: "/scans", count: 1, files });
      device.event("new_file_detected", "info", { files: [null] });
      await open();
      await expect.poll(titles).toEqual(["File changed", "File changed", "File changed"]);
      await expect
        .poll(() => events().locator("p").allTextContents())
        .toEqual(["a.pdf in /scans", "a.pdf and 2 more in /scans"]);
    });

    test("have the names that the machine gave them, with nothing hidden", async () => {
      device.event("constructor", "toString", {});
      device.event("__proto__", "__proto__", {});
      low({ key: "/mnt\u202egpj", timestamp: "gisteren" });
      await open();
      await expect.poll(titles).toEqual(["Low disk space", "  proto  ", "constructor"]);
      await expect.poll(() => events().first().textContent()).toContain("/mnt\\u{202E}gpj");
      await expect.poll(() => events().first().textContent()).toContain("The machine says gisteren");
      await expect.poll(() => events().nth(1).textContent()).toContain("__proto__");
      await expect.poll(() => events().nth(2).textContent()).toContain("toString");
    });

    test("say how many were dropped", async () => {
      device.event("error_occurred", "warning", {});
      await open();
      await page.route("**/events", async (route) => {
        const response = await route.fetch();
        const list = eventListSchema.parse(await response.json());
        const json = { ...list, events: list.events.map((event) => ({ ...event, dropped: 7 })) };
        await route.fulfill({ response, json });
      });
      await page.reload();
      await events().getByText("7 earlier ones were dropped").waitFor();
    });

    test("stay on the screen when the relay cannot be asked, which is said", async () => {
      device.event("error_occurred", "warning", {});
      await open();
      app.renewAfterTest();
      await page.clock.install();
      await page.reload();
      await expect.poll(titles).toEqual(["Error"]);
      await page.route("**/events", (route) => route.abort());
      await page.clock.fastForward(5_000);
      await panel().getByText("Can't reach the relay.").waitFor({ timeout: 10_000 });
      expect(await titles()).toEqual(["Error"]);
      await page.unrouteAll({ behavior: "wait" });
      await page.clock.fastForward(5_000);
      await panel().getByText("Can't reach the relay.").waitFor({ state: "detached", timeout: 10_000 });
    });

    test.each(["desktop", "phone"] as const)("have nothing to object to on a %s", async (screen) => {
      low();
      device.event("x".repeat(64), "y".repeat(32), {
        long: "z".repeat(500),
        nested: { deep: ["w".repeat(200)] },
      });
      low({ resolved: true, severity: "info", id: makeEventId(Date.now() + 1000) });
      low({ severity: "warning", key: "k".repeat(256), timestamp: "gisteren" });
      const seen = await open({ screen });
      await expect.poll(titles).toHaveLength(4);
      for (const summary of await page.getByText("Details").all()) await summary.click();
      await expectNoObjections(seen);
    });
  });

  describe("a machine's program", () => {
    test("is restarted and stopped by a person, after a question, by keyboard too", async () => {
      const place = await makePlace(app.relay);
      const device = await registered(place);
      const opened = await app.open(`/d/${place.deviceId}`);
      const { page } = opened;
      app.renewAfterTest();
      await page.clock.install();
      await page.reload();
      const focused = () => page.evaluate<string>("document.activeElement.textContent");
      const dialog = page.getByRole("dialog");
      const restart = page.getByRole("button", { name: "Restart the program" });
      const stop = page.getByRole("button", { name: "Stop the program" });
      const said = messageOf(device, "system_command");
      await restart.focus();
      await page.keyboard.press("Enter");
      await dialog
        .getByText(/^Restart the program on shed.*\? Calls running there will be stopped\.$/)
        .waitFor();
      await expect.poll(focused).toBe("Cancel");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByText(/^The program on shed.* was asked to restart\.$/).waitFor();
      expect(await said).toMatchObject({ command: "restart_client" });
      await expect.poll(focused).toBe("Restart the program");

      await stop.click();
      await dialog.getByText("The machine can't be reached until someone starts it there.").waitFor();
      await expectNoObjections(opened);
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await stop.click();
      const closed = new Promise((resolve) => device.once("closed", resolve));
      await dialog.getByRole("button", { name: "Stop the program" }).click();
      await page.getByText(/^The program on shed.* was asked to stop\.$/).waitFor();
      await closed;
      await page.clock.fastForward(10_000);
      await page
        .getByText(/^Seen /)
        .first()
        .waitFor({ timeout: 15_000 });
      await expect.poll(() => restart.isDisabled()).toBe(true);
      await page
        .getByText("It is not connected. Only somebody at the machine can start its program.")
        .waitFor();
      expect(opened.faults).toEqual([]);
    });

    test("that was paused at the machine is shown as that, with what lifts it", async () => {
      const place = await makePlace(app.relay);
      const device = await registered(place);
      device.send("device_status", { paused: "ai" });
      const { page, faults } = await app.open(`/d/${place.deviceId}`);
      await page.getByText("Paused for AI", { exact: true }).waitFor();
      await page.getByRole("alert").getByText("matrx resume").waitFor();
      await page.getByRole("link", { name: "Machines" }).first().click();
      await page
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name: `shed (${place.deviceId})`, exact: true }) })
        .getByText("Paused for AI", { exact: true })
        .first()
        .waitFor();
      expect(faults).toEqual([]);
    });
  });

  describe("a machine's latest calls", () => {
    test("tell what was called, by whom and how it ended; each leads to its record", async () => {
      const call = await callerOf(app, { name: "maker", credential: "script" });
      for (const number of Array.from({ length: 12 }, (_, at) => at + 1))
        await call("Bash", { command: `exit ${number === 12 ? 3 : 0} # call ${number}.` });
      const opened = await app.open(`/d/${app.machine.id}`);
      const { page } = opened;
      const calls = page.getByRole("list", { name: "Recent calls" }).getByRole("listitem");
      const newest = calls.filter({ hasText: "# call 12." });
      await newest.getByText("maker").waitFor();
      await newest.getByText("Failed", { exact: true }).waitFor();
      await calls.filter({ hasText: "# call 11." }).getByText("Done", { exact: true }).waitFor();
      await expect.poll(() => calls.count()).toBe(10);
      await page
        .getByRole("region", { name: "Recent calls" })
        .getByRole("button", { name: "Show older" })
        .click();
      await calls.filter({ hasText: "# call 1." }).waitFor();
      await expectNoObjections(opened);
      await newest.getByRole("link").click();
      await page.getByRole("heading", { level: 1, name: `Bash on ${app.machine.name}` }).waitFor();
      await page.getByText("exit 3 # call 12.").waitFor();
      expect(opened.faults).toEqual([]);
    });
  });
});
