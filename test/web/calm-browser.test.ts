/** A browser that keeps nothing, keeps garbage, or forbids what the app would like to use: the app starts all the same. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, startApp } from "./app.ts";

/** What a page finds instead, before its own scripts run. */
const BROWSERS = {
  "forbids its stores": `for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("The operation is insecure.", "SecurityError"); } });`,
  "has full stores": `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
  "has no database": `Object.defineProperty(window, "indexedDB", { value: undefined });`,
  "refuses its database": `IDBFactory.prototype.open = function () {
    throw new DOMException("A mutation operation was attempted on a database that did not allow mutations.", "InvalidStateError");
  };`,
  "refuses service workers": `Object.defineProperty(navigator, "serviceWorker", { value: {
    addEventListener() {}, controller: null, register: () => Promise.reject(new Error("no")),
    getRegistration: () => Promise.reject(new Error("no")), ready: new Promise(() => {}),
  } });`,
  "has no service workers": `delete Navigator.prototype.serviceWorker;`,
} as const;

/** What another release, or a hand in the developer tools, may have left behind. */
const GARBAGE = [
  "5",
  "null",
  "{}",
  "[]",
  '{"at":1,"value":{"devices":[null]}}',
  '{"at":1,"value":7}',
  "{",
  '[[1,2],["a",{}]]',
];

describe("a browser that", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const device = () => `/d/${app.machine.id}`;
  const paths = () => [
    "/fleet",
    `${device()}/tools/Bash`,
    "/activity",
    "/settings/appearance",
    "/settings/notifications",
  ];

  async function signIn(page: Page): Promise<void> {
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
  }

  /** By the app's own links, as a page that keeps no session has to. */
  async function walk(page: Page): Promise<void> {
    const main = page.getByRole("navigation", { name: "Main", exact: true });
    for (const name of ["Tools", "Permissions", "Activity", "Settings"]) {
      await main.getByRole("link", { name }).click();
      await page.locator("main").getByRole("heading", { level: 1 }).waitFor();
      await expect.poll(() => page.getByText("could not be shown").count(), { message: name }).toBe(0);
    }
  }

  test.each(Object.entries(BROWSERS))("%s", async (_, before) => {
    const { page, faults } = await app.openSignedOut("", { before });
    await signIn(page);
    await walk(page);
    await page.getByRole("link", { name: "Appearance" }).click();
    await page.getByRole("radiogroup", { name: "Colours" }).getByText("Light").click();
    await page.locator('html[data-mantine-color-scheme="light"]').waitFor({ state: "attached" });
    await page.getByRole("link", { name: "Notifications" }).click();
    await page.locator("main").getByRole("heading", { level: 2 }).first().waitFor();
    expect(faults).toEqual([]);
  });

  test("has another language is told how long ago something was in the page's own", async () => {
    const before = `{ const Now = Date; globalThis.Date = class extends Now {
      constructor(...given) { given.length ? super(...given) : super(Now.now() + 3 * 3600_000); }
      static now() { return Now.now() + 3 * 3600_000; }
    }; }`;
    const context = { locale: "ar-EG", timezoneId: "Pacific/Kiritimati" };
    const { page, faults } = await app.open(`/d/${app.machine.id}`, { before, context });
    await page.getByText(/^Proven 3h ago: SystemInfo answered/).waitFor();
    expect(faults).toEqual([]);
  });

  test("has garbage in its stores", async () => {
    const { page, faults } = await app.open("/fleet");
    for (const [at, garbage] of GARBAGE.entries()) {
      // Two pages each, and every page with several.
      for (const path of [...paths(), ...paths()].slice(at % 5, (at % 5) + 2)) {
        await page.goto(`${app.relay.url}${APP}${path}`);
        await page.evaluate(
          `{ const names = [...Object.keys(localStorage), "matrx-last:devices", "matrx-last:account", "matrx-size",
              "matrx-last:tools:${app.machine.id}", "matrx-device", "matrx-color-scheme", "matrx-shortcuts"];
            for (const name of names) localStorage.setItem(name, ${JSON.stringify(garbage)});
            for (const name of ["runs", "account", "draft:${app.machine.id}:Bash", "form:new token", "form:policy:${app.machine.id}"])
              sessionStorage.setItem("matrx-tab:" + name, ${JSON.stringify(garbage)}); }`,
        );
        await page.reload();
        await page.locator("main").getByRole("heading", { level: 1 }).waitFor();
        await expect
          .poll(() => page.getByText("could not be shown").count(), { message: `${garbage} at ${path}` })
          .toBe(0);
      }
      expect(faults, garbage).toEqual([]);
    }
  });

  test("has no room for a new session's key keeps that session while the page is open", async () => {
    const { page } = await app.openAlone("/settings/account");
    await page.evaluate(
      'IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); }',
    );
    const { hash } = new URL(await app.relay.signInLink());
    let isClaimed = false;
    const signedIn = page.waitForResponse((answer) => {
      isClaimed ||= answer.url().endsWith("/v1/claim");
      return isClaimed && answer.url().endsWith("/v1/account");
    });
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await signedIn;
    // Another page's news makes this one prove its key anew.
    const proven = page.waitForResponse((answer) => answer.url().endsWith("/v1/session") && answer.ok());
    await page.evaluate('new BroadcastChannel("session").postMessage("signed in")');
    await proven;
    await page.getByRole("navigation").first().waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Sign in to Matrx Relay" }).count()).toBe(0);
  });

  test("lost the key of its session, or has another thing in its place", async () => {
    const { page, faults } = await app.openAlone("/fleet");
    await page.evaluate(`new Promise((done) => {
      indexedDB.open("matrx", 1).onsuccess = ({ target: { result } }) => {
        const keys = result.transaction("keys", "readwrite").objectStore("keys");
        keys.put({ privateKey: "no key", publicKey: 1 }, "session").onsuccess = done;
      };
    })`);
    await page.reload();
    await signIn(page);
    expect(faults).toEqual([]);
  });
});
