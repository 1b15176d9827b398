/** Signing in by a real OpenID Connect provider, from page to page, and what strangers make of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startedPairingSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type RealIssuer, signInThere, startIssuer } from "../helpers/issuer.ts";
import { startOauthApp } from "../helpers/oauth-app.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const CALLBACK = /\/v1\/sign-in\/oidc\/home\/callback/;

describe("signing in by an issuer", NEEDS_CHROMIUM, () => {
  let dataDir: string;
  let issuer: RealIssuer;
  let relay: TestRelay;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    dataDir = makeFolder();
    issuer = await startIssuer();
    const entry = { ...issuer.client, issuer: issuer.url, local: true };
    const accounts = { ann: "owner", "ben@home.test": "ben", "eve@home.test": "owner" };
    const issuers = [
      { ...entry, id: "home", name: "Our home", accounts },
      { ...entry, id: "far", name: "Far away", local: false, accounts: "open" },
    ];
    writeFileSync(join(dataDir, "oidc.json"), JSON.stringify(issuers));
    relay = await startRelay({ dataDir });
    issuer.register(relay.url, "home");
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
    await issuer?.stop();
    removeFolder(dataDir);
  });

  beforeEach(async () => {
    faults = [];
    const context = await newContext();
    page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return () => context.close();
  });

  /** The provider's pages ask for a font of the internet, which is not there. */
  async function newContext(): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 } });
    await context.route(/googleapis/, (route) => route.abort());
    return context;
  }

  async function leave(here: Page): Promise<void> {
    await here.goto(relay.url);
    await here.getByRole("button", { name: "Sign in with Our home" }).click();
  }

  /** Where the provider sends this person's browser, which stops there. */
  async function intercepted(name: string): Promise<string> {
    const context = await newContext();
    onTestFinished(() => context.close());
    const there = await context.newPage();
    await there.route(CALLBACK, (route) => route.abort());
    const sent = there.waitForRequest(CALLBACK);
    await leave(there);
    await signInThere(there, name);
    return (await sent).url();
  }

  const notice = () => page.getByRole("status");

  test("a button leads there and back, and nothing of it stays in the address or the history", async () => {
    await page.goto(relay.url);
    await page.getByRole("button", { name: "Sign in with Our home" }).waitFor();
    expect(await objections(page)).toEqual([]);
    await leave(page);
    await signInThere(page, "ann");
    await page.getByText("Signed in as owner").waitFor();
    expect(page.url()).toBe(`${relay.url}/`);
    await page.reload();
    await page.getByText("Signed in as owner").waitFor();
    await page.goBack();
    await page.goForward();
    await page.getByText("Signed in as owner").waitFor();
    expect(faults).toEqual([]);
  });

  test("a verified address leads to its account, one that is not verified to nothing", async () => {
    await leave(page);
    await signInThere(page, "ben");
    await page.getByText("Signed in as ben").waitFor();

    const context = await newContext();
    onTestFinished(() => context.close());
    page = await context.newPage();
    await leave(page);
    await signInThere(page, "eve");
    await notice().getByText("eve of Our home has no account on this relay").waitFor();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await objections(page)).toEqual([]);
    expect(await page.context().cookies(relay.url)).toEqual([]);
  });

  test("who thinks better of it is still signed out, and may try again", async () => {
    await leave(page);
    await page.getByText("Cancel").click();
    await notice().getByText("Our home did not sign you in: access_denied").waitFor();
    await leave(page);
    await signInThere(page, "ann");
    await page.getByText("Signed in as owner").waitFor();
  });

  test("a machine that waits for its owner is still there after the way through the issuer", async () => {
    const body = { name: "laptop of ann" };
    const { code } = await relay.request(undefined, "POST /v1/logins", startedPairingSchema, body);
    await page.goto(`${relay.url}/#pair=${code}`);
    await page.getByText(code).waitFor();
    await page.getByRole("button", { name: "Sign in with Our home" }).click();
    await signInThere(page, "ann");
    await page.getByText("laptop of ann").waitFor();
  });

  test("an app that asks to be let in is still there after the way through the issuer", async () => {
    await using app = await startOauthApp(relay.url);
    await page.goto(app.address(await app.register("Patient app")));
    await page.getByRole("button", { name: "Sign in with Our home" }).click();
    await signInThere(page, "ann");
    await page.getByRole("heading", { name: "Connect Patient app?" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("a link with somebody else's sign-in signs nobody in", async () => {
    const link = await intercepted("ben");
    await page.goto(link);
    await notice().getByText("This sign-in was not begun in this browser").waitFor();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();

    // Nor does it reach into a sign-in of one's own that is under way, or that is done.
    await leave(page);
    await page.getByPlaceholder("Enter any login").waitFor();
    const there = page.url();
    await page.goto(link);
    await notice().getByText("This sign-in was begun elsewhere").waitFor();
    await page.goto(there);
    await signInThere(page, "ann");
    await page.getByText("Signed in as owner").waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await notice().getByText("not begun in this browser").waitFor();
    await page.getByText("Signed in as owner").waitFor();
  });

  test("a link to a made-up end of a sign-in does nothing", async () => {
    for (const end of ["oidc=home", "oidc=none&response=code%3D1%26state%3D2", "oidc=../claim&response="]) {
      await page.goto("about:blank");
      await page.goto(`${relay.url}/#${end}`);
      await notice().getByText("not begun in this browser").waitFor();
      expect(page.url()).toBe(`${relay.url}/`);
    }
    expect(faults).toEqual([]);
  });

  test("an issuer that is not said to be local is not looked for in the local network", async () => {
    await page.goto(relay.url);
    await page.getByRole("button", { name: "Sign in with Far away" }).click();
    await notice().getByText("Far away can't be reached").waitFor();
    expect(page.url()).toBe(`${relay.url}/`);
  });

  test("another device of the size of a phone is signed in by the code that this page shows", async () => {
    await leave(page);
    await signInThere(page, "ben");
    await page.getByText("Sign in another device").click();
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = (await page.locator("#sign-in-link").textContent()) ?? "";
    const context = await newContext();
    onTestFinished(() => context.close());
    const phone = await context.newPage();
    await phone.goto(link);
    await phone.getByText("Signed in as ben").waitFor();
    expect(await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await objections(phone)).toEqual([]);
  });
});
