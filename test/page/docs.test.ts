/** The reference at /docs, in a real browser: of the relay, and of the local server. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../conformance/local-server.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

describe("the reference", NEEDS_CHROMIUM, () => {
  const [home, temporary] = [makeFolder(), makeFolder()];
  let relay: TestRelay;
  let local: LocalServer;
  let browser: Browser;
  let page: Page;
  let faults: string[];
  let foreign: string[];

  beforeAll(async () => {
    relay = await startRelay();
    local = await startLocalServer({ home, temporary });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await local?.child.stop(5000);
    await relay?.stop();
    for (const folder of [home, temporary]) removeFolder(folder);
  });

  const own = (url: string) => [relay.url, local.url].some((origin) => url.startsWith(`${origin}/`));

  beforeEach(async () => {
    [faults, foreign] = [[], []];
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.text().includes("Content Security Policy"))
        faults.push(message.text());
    });
    page.on("request", (request) => {
      if (!own(request.url())) foreign.push(request.url());
    });
    return () => context.close();
  });

  async function open(url: string): Promise<void> {
    await page.goto(`${url}/docs`);
    await page.getByRole("heading", { name: "Contents" }).waitFor();
  }

  test.each(["relay", "local"] as const)(
    "of the %s shows every operation, and asks no other host",
    async (which) => {
      const { url } = { relay, local }[which];
      await open(url);
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
        paths: Record<string, object>;
      };
      const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
      expect(await page.locator(".operation").count()).toBe(operations.length);
      for (const summary of await page.locator(".operation > summary").all()) await summary.click();
      expect(await page.getByText("undefined").count()).toBe(0);
      expect(faults).toEqual([]);
      expect(foreign).toEqual([]);
    },
  );

  test("leads from the contents to an operation, by keyboard, and its curl line can be copied and run", async () => {
    await open(relay.url);
    await page.getByRole("link", { name: "Is the relay working?" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("/v1/health");
    expect(page.url()).toBe(`${relay.url}/docs#getHealth`);
    await page.getByRole("button", { name: "Copy the curl line of getHealth" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Copied.").waitFor();
    const line = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(line).toBe(`curl -sS '${relay.url}/v1/health'`);
    expect(faults).toEqual([]);
  });

  test("an address with an operation opens it", async () => {
    await page.goto(`${relay.url}/docs#callTool`);
    const operation = page.locator("#callTool");
    await operation.getByText("Idempotency-Key").waitFor();
    expect(await operation.getByRole("region", { name: "The curl line of callTool" }).textContent()).toBe(
      `curl -sS -H @authorization -H 'Content-Type: application/json' -d '{"command":"make test"}' '${relay.url}/v1/devices/laptop-4k7m2x9qpa/tools/Bash'`,
    );
    expect(await operation.getByText("TOOL_NOT_FOUND", { exact: true }).isVisible()).toBe(true);
  });

  test("says what is wrong when there is no description", async () => {
    await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "{}" }));
    await page.goto(`${relay.url}/docs`);
    await page.getByText("the server answered 503").waitFor();
  });

  test.each([
    ["phone", "dark", 320, 640],
    ["desktop", "light", 1280, 800],
  ] as const)(
    "axe finds nothing to object to on a %s, %s, and nothing is wider",
    { timeout: 60_000 },
    async (_, colorScheme, width, height) => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await open(relay.url);
      await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
      expect(await objections(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    },
  );
});
