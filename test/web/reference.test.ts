/** The reference in a real Chromium: in the app, signed in and not, and of the local server. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LocalServer, startLocalServer } from "../conformance/local-server.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { LONG } from "../helpers/long-mode.ts";
import {
  APP,
  expectFitting,
  expectNoObjections,
  type Opened,
  SCREENS,
  smallTargets,
  startApp,
} from "./app.ts";

/** As hostile as a description can be: markup, marks that turn the text around, words without an end. */
const HOSTILE = `<img src=x onerror="document.title='taken'"> \u202Eevil\u202C \`<b>\` ${"long".repeat(200)}`;

describe("the reference", NEEDS_CHROMIUM, () => {
  const app = startApp();

  async function opened(page: Page): Promise<void> {
    await page.getByRole("heading", { name: "Contents" }).waitFor();
  }

  async function openAll(page: Page): Promise<void> {
    // What is inside comes when its outside is open.
    await expect
      .poll(() =>
        page.evaluate<number>(`(() => {
          const closed = [...document.querySelectorAll("details:not([open])")];
          for (const details of closed) details.open = true;
          return closed.length;
        })()`),
      )
      .toBe(0);
  }

  test("in the app shows every operation, and asks no other host", async () => {
    const { page, faults } = await app.open("/fleet");
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(`${app.relay.url}/`)) foreign.push(request.url());
    });
    await page.goto(`${app.relay.url}${APP}/docs`);
    await opened(page);
    await page.getByText(`${await operationsOf(app.relay.url)} operations`, { exact: true }).waitFor();
    await openAll(page);
    await expect.poll(() => page.locator("main details[id]").count()).toBe(await operationsOf(app.relay.url));
    await expect.poll(() => page.getByText("undefined").count()).toBe(0);
    await expect.poll(() => page.getByText("[object Object]").count()).toBe(0);
    expect(faults).toEqual([]);
    expect(foreign).toEqual([]);
  });

  test("leads from the contents to an operation, by keyboard, and its curl line can be copied and run", async () => {
    const { page, faults } = await app.openSignedOut("/docs", {
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await page.getByRole("link", { name: "Is the relay working?" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("/v1/health");
    expect(page.url()).toBe(`${app.relay.url}${APP}/docs#getHealth`);
    const topOf = "document.getElementById('getHealth').getBoundingClientRect().top";
    await expect.poll(() => page.evaluate(`${topOf} >= 54 && ${topOf} < innerHeight - 100`)).toBe(true);
    await page.getByRole("button", { name: "Copy the curl line of getHealth" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
    expect(await copied()).toBe(`curl -sS '${app.relay.url}/v1/health'`);
    await page.getByRole("button", { name: "Copy the link to getHealth" }).click();
    await expect.poll(copied).toBe(`${app.relay.url}${APP}/docs#getHealth`);
    expect(faults).toEqual([]);
  });

  test("an address with an operation opens it, with its parameters, errors and curl line", async () => {
    const { page } = await app.openSignedOut("/docs#callTool");
    const operation = page.locator("#callTool");
    await operation.getByText("Idempotency-Key").waitFor();
    await expect
      .poll(() => operation.getByRole("group", { name: "The curl line of callTool" }).textContent())
      .toBe(
        `curl -sS -H @authorization -H 'Content-Type: application/json' -d '{"command":"make test"}' '${app.relay.url}/v1/devices/laptop-4k7m2x9qpa/tools/Bash'`,
      );
    await expect.poll(() => operation.getByText("TOOL_NOT_FOUND", { exact: true }).isVisible()).toBe(true);
  });

  test("an operation with the name of a link that the app follows is only an operation", async () => {
    const { page } = await app.openSignedOut("/docs#claim");
    await page.locator("#claim[open]").waitFor();
    expect(page.url()).toBe(`${app.relay.url}${APP}/docs#claim`);
  });

  test("is filtered by words, and the address brings back what the filter hides", async () => {
    const { page } = await app.openSignedOut("/docs");
    await page.getByRole("searchbox", { name: "Filter" }).fill("health relay");
    await page.getByText(/^1 of \d+ operations$/).waitFor();
    await expect.poll(() => page.locator("main details[id]").count()).toBe(1);
    await page.getByRole("searchbox", { name: "Filter" }).fill("no such words");
    await page.getByText("No operation has these words.").waitFor();
    await page.evaluate('location.hash = "callTool"');
    await page.locator("#callTool[open]").waitFor();
    await expect.poll(() => page.getByRole("searchbox", { name: "Filter" }).inputValue()).toBe("");
  });

  test("is found from the settings and from the palette, and leads to the sign-in who is signed out", async () => {
    const { page, faults } = await app.open("/settings/about");
    await page.getByRole("link", { name: "Reference for programs" }).click();
    await opened(page);
    await page.getByRole("navigation", { name: "Main", exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("activity");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Activity", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("reference");
    await page.keyboard.press("Enter");
    await opened(page);

    const stranger = await app.openSignedOut("/docs");
    await opened(stranger.page);
    await expect.poll(() => stranger.page.getByRole("navigation", { name: "Main" }).count()).toBe(0);
    await stranger.page.getByRole("link", { name: "Sign in", exact: true }).click();
    await stranger.page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    expect([...faults, ...stranger.faults]).toEqual([]);
  });

  test("says what is wrong when there is no description, and tries again", async () => {
    const { page } = await app.openSignedOut("");
    await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "{}" }));
    await page.goto(`${app.relay.url}${APP}/docs`);
    await page.getByText("the server answered 503").waitFor();
    await page.unroute("**/openapi.json");
    await page.getByRole("button", { name: "Try again" }).click();
    await opened(page);
  });

  test("shows a hostile description as text", async () => {
    const opening = await app.openSignedOut("", { screen: "phone" });
    const { page } = opening;
    await page.route("**/openapi.json", (route) => route.fulfill({ json: hostileApi() }));
    await page.goto(`${app.relay.url}${APP}/docs`);
    await opened(page);
    await openAll(page);
    await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
    await expect
      .poll(() => page.getByText("<img src=x onerror=", { exact: false }).count())
      .toBeGreaterThan(8);
    await expect.poll(() => page.locator("main").innerText()).not.toMatch(/[\u202A-\u202E]/);
    await page.getByText("\\u{202E}evil", { exact: false }).first().waitFor();
    await expect.poll(() => page.title()).not.toBe("taken");
    await expectNoObjections(opening);
  });

  test.each(["desktop", "phone"] as const)("on a %s there is nothing to object to", async (screen) => {
    const opening = await app.open("/docs", { screen });
    await opening.page.goto(`${app.relay.url}${APP}/docs#callTool`);
    await opening.page.locator("#callTool").getByText("Idempotency-Key").waitFor();
    await expectNoObjections(opening);
  });

  test.each(["desktop", "phone"] as const)(
    "on a %s there is nothing to object to when all is open",
    { timeout: 180_000 },
    async (screen) => {
      const opening = await app.openSignedOut("/docs", { screen });
      const { page } = opening;
      await opened(page);
      await openAll(page);
      await (LONG || screen === "desktop" ? expectNoObjections : expectFitting)(opening);
      if (screen === "phone") expect(await smallTargets(page, "a, summary, button, input", 36)).toEqual([]);
    },
  );

  describe("of the local server", () => {
    const [home, temporary] = [makeFolder(), makeFolder()];
    let local: LocalServer;
    beforeAll(async () => {
      local = await startLocalServer({ home, temporary });
    });
    afterAll(async () => {
      await local?.child.stop(5000);
      for (const folder of [home, temporary]) removeFolder(folder);
    });

    async function openLocal(screen: keyof typeof SCREENS): Promise<Opened & { foreign: string[] }> {
      const context = await app.browser.newContext({ ...SCREENS[screen], reducedMotion: "reduce" });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const [faults, foreign]: [string[], string[]] = [[], []];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" || message.text().includes("Content Security Policy"))
          faults.push(message.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(`${local.url}/`)) foreign.push(request.url());
      });
      await page.goto(`${local.url}/docs#invokeTool`);
      return { page, faults, foreign };
    }

    test.each(["desktop", "phone"] as const)("is the same page, without the app, on a %s", async (screen) => {
      const opening = await openLocal(screen);
      const { page, foreign } = opening;
      await page.getByRole("heading", { name: "Reference: Matrx, local server", level: 1 }).waitFor();
      await page.locator("#invokeTool[open]").waitFor();
      await expect
        .poll(() => page.getByRole("group", { name: "The curl line of invokeTool" }).textContent())
        .toContain(`'${local.url}/tools/invoke'`);
      await expect.poll(() => page.locator("main details[id]").count()).toBe(await operationsOf(local.url));
      await openAll(page);
      await expect.poll(() => page.getByText("undefined").count()).toBe(0);
      await expect.poll(() => page.getByRole("link", { name: "Sign in", exact: true }).count()).toBe(0);
      await expectNoObjections(opening);
      expect(foreign).toEqual([]);
    });
  });
});

/** How many a server describes. */
async function operationsOf(url: string): Promise<number> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
}

function hostileApi(): object {
  const schema = {
    type: "object",
    description: HOSTILE,
    properties: {
      [HOSTILE]: { type: "string", pattern: HOSTILE, default: HOSTILE },
      itself: { $ref: "#/components/schemas/Circle" },
      nowhere: { $ref: "#/components/__proto__/x" },
    },
  };
  return {
    openapi: "3.1.1",
    info: { title: HOSTILE, version: HOSTILE, description: HOSTILE },
    tags: [{ name: HOSTILE, description: HOSTILE }],
    paths: {
      [`/${HOSTILE}/{name}`]: {
        post: {
          operationId: HOSTILE,
          tags: [HOSTILE],
          summary: HOSTILE,
          description: HOSTILE,
          parameters: [{ name: HOSTILE, in: HOSTILE, description: HOSTILE, schema }],
          requestBody: { content: { [HOSTILE]: { schema, example: { [HOSTILE]: HOSTILE } } } },
          responses: { 200: { description: HOSTILE, content: { [HOSTILE]: { schema, example: HOSTILE } } } },
        },
      },
      "/empty": { get: {} },
    },
    components: {
      securitySchemes: { [HOSTILE]: { description: HOSTILE } },
      schemas: {
        Circle: { allOf: [{ $ref: "#/components/schemas/Circle" }, schema], anyOf: [schema] },
        Problem: schema,
      },
    },
  };
}
