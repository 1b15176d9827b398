/** A relay of another release, one that never answers, and a newer release of the app while somebody types. */
import type { Page, Request, WebSocketRoute } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, startApp } from "./app.ts";

describe("a relay that this page does not know", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const device = () => `/d/${app.machine.id}`;
  const problem = (page: Page) => page.locator("main").getByRole("alert");

  test("that can't do something yet says so, and the rest goes on", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.route("**/v1/shares", (route) =>
      route.fulfill(noRoute(404, "NOT_FOUND", "Nothing here at this path")),
    );
    await page.route("**/v1/devices/*/policy", (route) =>
      route.fulfill(noRoute(405, "METHOD_NOT_ALLOWED", "This path accepts GET")),
    );
    const older = "This relay can't do that yet: it is older than this page.";
    await page.goto(`${app.relay.url}${APP}/settings/people`);
    await problem(page).getByText(older).first().waitFor();
    await page.getByRole("button", { name: "Invite somebody" }).waitFor();
    await page.goto(`${app.relay.url}${APP}${device()}/permissions`);
    await problem(page).getByText(older).waitFor();
    await page.unrouteAll();
    await problem(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "What holds now" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("that sends frames, events, states and effects of another release breaks nothing", async () => {
    const { page, faults } = await app.open("/fleet");
    const lines: WebSocketRoute[] = [];
    await page.routeWebSocket(/account\/ws$/, (line) => {
      lines.push(line);
      line.connectToServer();
    });
    await page.route("**/v1/devices", async (route) => {
      const response = await route.fetch();
      const { devices } = await response.json();
      const strange = { ...devices[0], id: "dev_strange", name: "strange", state: "DREAMING", kind: "cloud" };
      await route.fulfill({ response, json: { devices: [...devices, strange], news: [1] } });
    });
    await page.route("**/v1/devices/*/tools", async (route) => {
      const response = await route.fetch();
      const { tools, ...rest } = await response.json();
      const strange = {
        name: "Strange",
        description: "x",
        effect: "teleport",
        input_schema: { type: ["?", 4] },
      };
      await route.fulfill({
        response,
        json: { ...rest, tools: [...tools, strange, { ...strange, name: "No", input_schema: 5 }] },
      });
    });
    await page.goto(`${app.relay.url}${APP}/activity`);
    await page.getByText("Connected", { exact: true }).waitFor();
    const call = {
      at: "x",
      call: "c1",
      tool: "Bash",
      device: app.machine.id,
      grant: { id: "g" },
      input: { a: "b" },
    };
    const frames: unknown[] = [
      ...[
        5,
        null,
        "x",
        [],
        {},
        { type: "later", more: [] },
        { type: "hello" },
        { type: "approval" },
        { type: "paused" },
      ],
      ...[{ type: "running" }, { type: "running", device: 1, calls: [5] }, { type: "activity", entries: 7 }],
      {
        type: "activity",
        entries: [
          null,
          {},
          { ...call, type: "dreamed" },
          { ...call, type: "finished", status: "odd", effect: "odd" },
        ],
      },
    ];
    for (const frame of frames) lines.at(-1)?.send(JSON.stringify(frame));
    lines.at(-1)?.send("{ not JSON");
    await page.getByText("odd", { exact: true }).first().waitFor();
    for (const path of [
      "/fleet",
      device(),
      `${device()}/tools`,
      `${device()}/tools/Strange`,
      `${device()}/tools/No`,
    ]) {
      await page.goto(`${app.relay.url}${APP}${path}`);
      await page.locator("main").getByRole("heading", { level: 1 }).waitFor();
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
      await expect.poll(() => page.getByText("could not be shown").count(), { message: path }).toBe(0);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expect(faults).toEqual([]);
  });

  test("that tells a call's end in another way says that the call ended", async () => {
    const { page, faults } = await app.open(`${device()}/tools/SystemInfo`);
    const run = page.getByRole("button", { name: "Run", exact: true });
    for (const data of ["{}", "[]", "{ not JSON", "null"]) {
      const body = `event: dream\ndata: 5\n\nevent: result\ndata: ${data}\n\n`;
      await page.route("**/tools/SystemInfo", (route) =>
        route.fulfill({ contentType: "text/event-stream", headers: { "Matrx-Call": "x" }, body }),
      );
      await run.click();
      await page.getByRole("alert").getByText("The call ended, and its answer can't be read here.").waitFor();
      await page.unrouteAll();
    }
    await run.click();
    await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    expect(faults).toEqual([]);
  });

  test("that never answers is not waited for without end, and what is typed stays", async () => {
    const { page, faults } = await app.open("/fleet");
    app.renewAfterTest();
    await page.clock.install();
    await page.route("**/v1/**/policy", () => undefined);
    const asked = page.waitForRequest(/\/policy$/);
    await page.goto(`${app.relay.url}${APP}${device()}/permissions`);
    await asked;
    // Its request would otherwise be late too when the clock jumps.
    const whoMay = page.getByRole("region", { name: "Who may do what" });
    await whoMay.getByText("Allowed", { exact: true }).waitFor();
    await page.clock.fastForward(6_000);
    await page.getByText("Still waiting for the relay …").first().waitFor();
    await page.clock.fastForward(30_000);
    await problem(page).getByText("The relay doesn't answer.").waitFor();
    await page.unrouteAll();
    await problem(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("combobox", { name: "Never these paths" }).fill("/never");
    await page.keyboard.press("Enter");
    const isSaving = (request: Request) => request.method() === "PUT" && request.url().endsWith("/policy");
    await page.route("**/v1/**/policy", (route) =>
      isSaving(route.request()) ? undefined : route.continue(),
    );
    const sent = page.waitForRequest(isSaving);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await sent;
    await page.clock.fastForward(31_000);
    await problem(page).getByText("it is unclear whether it was done").waitFor();
    await page.getByRole("heading", { name: "What would result" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("in whose place a network's own page answers signs nobody out", async () => {
    const { page, faults } = await app.open("/fleet");
    // What this browser knows by now is shown later.
    await page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
    await page.route("**/v1/**", (route) =>
      route.fulfill({ status: 401, contentType: "text/html", body: "<h1>Hotel: sign in</h1>" }),
    );
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
    await page.getByText("Can't reach the relay", { exact: true }).waitFor();
    await page.getByText("A proxy in front of the relay asks you to sign in.").waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Sign in to Matrx Relay" }).count()).toBe(0);
    await page.unrouteAll();
    await page.evaluate('dispatchEvent(new Event("online"))');
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("brings a newer release of the app: it waits for a word, and what is typed stays", async () => {
    const { page, faults } = await app.open(`${device()}/tools/Write`, { workers: true });
    await page.evaluate("navigator.serviceWorker.ready");
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await page.getByLabel("Content").fill("typed before the new release");
    // Another address is another worker, as another release has.
    await page.evaluate(`navigator.serviceWorker.getRegistration().then(({ scope }) =>
      navigator.serviceWorker.register("/sw.js?newer", { scope }))`);
    await page.getByRole("button", { name: "Update ready" }).click();
    await expect
      .poll(() => page.evaluate("performance.getEntriesByType('navigation')[0].type"))
      .toBe("reload");
    await expect.poll(() => page.getByLabel("Content").inputValue()).toBe("typed before the new release");
    expect(faults).toEqual([]);
  });
});

function noRoute(status: number, code: string, detail: string) {
  const body = { type: "about:blank", title: "Not found", status, detail, code, hop: "relay" };
  return { status, contentType: "application/problem+json", body: JSON.stringify(body) };
}
