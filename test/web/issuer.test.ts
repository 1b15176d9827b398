/** Signing in by a real OpenID Connect provider, from page to page, and what strangers make of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startedPairingSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { type RealIssuer, signInThere, startIssuer } from "../helpers/issuer.ts";
import { expectFitting, expectNoObjections, type OpenOptions, startApp } from "./app.ts";

const CALLBACK = /\/v1\/sign-in\/oidc\/home\/callback/;
const SMALL = { screen: "phone", context: { viewport: { width: 320, height: 640 } } } as const;

describe("signing in by an issuer", NEEDS_CHROMIUM, () => {
  const dataDir = makeFolder();
  let issuer: RealIssuer;
  afterAll(() => removeFolder(dataDir));
  const app = startApp({
    relay: async () => {
      issuer = await startIssuer();
      const entry = { ...issuer.client, issuer: issuer.url, local: true };
      const accounts = { ann: "owner", "ben@home.test": "ben", "eve@home.test": "owner" };
      const issuers = [
        { ...entry, id: "home", name: "Our home", accounts },
        { ...entry, id: "far", name: "Far away", local: false, accounts: "open" },
      ];
      writeFileSync(join(dataDir, "oidc.json"), JSON.stringify(issuers));
      return { dataDir };
    },
  });
  beforeAll(() => issuer.register(app.relay.url, "home"));
  afterAll(() => issuer?.stop());

  /** A browser with nobody signed in. The provider's pages ask for a font of the internet, which is not there. */
  async function newPage(options?: OpenOptions) {
    const opened = await app.openSignedOut("", options);
    await opened.page.context().route(/googleapis/, (route) => route.abort());
    return opened;
  }

  async function leave(page: Page): Promise<void> {
    await page.goto(app.relay.url);
    await page.getByRole("button", { name: "Sign in with Our home" }).click();
  }

  /** Where the provider sends this person's browser, which stops there. */
  async function intercepted(name: string): Promise<string> {
    const { page: there } = await newPage();
    await there.route(CALLBACK, (route) => route.abort());
    const sent = there.waitForRequest(CALLBACK);
    await leave(there);
    await signInThere(there, name);
    return (await sent).url();
  }

  const notice = (page: Page) => page.getByRole("status", { name: "News" });
  const atTheDoor = (page: Page) => page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();

  async function expectSignedInAs(page: Page, name: string): Promise<void> {
    await page.getByRole("navigation").first().waitFor();
    await page.goto(`${app.relay.url}/settings/account`);
    await page.getByText(`Signed in as ${name}`, { exact: true }).waitFor();
  }

  /** What the browser's back button leads to, of the relay's own addresses. */
  async function historyOf(page: Page): Promise<string[]> {
    const cdp = await page.context().newCDPSession(page);
    const { entries } = await cdp.send("Page.getNavigationHistory");
    return entries.map(({ url }) => url).filter((url) => url.startsWith(app.relay.url));
  }

  test("a button leads there and back, and nothing of it stays in the address or the history", async () => {
    const opened = await newPage();
    const { page } = opened;
    await page.goto(app.relay.url);
    await page.getByRole("button", { name: "Sign in with Our home" }).waitFor();
    await expectNoObjections(opened);
    await leave(page);
    await signInThere(page, "ann");
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(page.url()).toBe(`${app.relay.url}/fleet`);
    expect((await historyOf(page)).filter((url) => url !== `${app.relay.url}/fleet`)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    await page.goBack();
    await page.goForward();
    await expectSignedInAs(page, "owner");
    expect(opened.faults).toEqual([]);
  });

  test("a verified address leads to its account, one that is not verified to nothing", async () => {
    const ben = await newPage();
    await leave(ben.page);
    await signInThere(ben.page, "ben");
    await expectSignedInAs(ben.page, "ben");

    const eve = await newPage(SMALL);
    await leave(eve.page);
    await signInThere(eve.page, "eve");
    await notice(eve.page).getByText("eve of Our home has no account on this relay").waitFor();
    await atTheDoor(eve.page);
    await expectNoObjections(eve);
    expect(await eve.page.context().cookies(app.relay.url)).toEqual([]);
  });

  test("who thinks better of it is still signed out, and may try again", async () => {
    const { page, faults } = await newPage();
    await leave(page);
    await page.getByText("Cancel").click();
    await notice(page).getByText("Our home did not sign you in: access_denied").waitFor();
    await atTheDoor(page);
    await leave(page);
    await signInThere(page, "ann");
    await expectSignedInAs(page, "owner");
    expect(faults).toEqual([]);
  });

  test("a machine that waits for its owner is still there after the way through the issuer", async () => {
    const body = { name: "laptop of ann" };
    const { code } = await app.relay.request(undefined, "POST /v1/logins", startedPairingSchema, body);
    const { page } = await newPage(SMALL);
    await page.goto(`${app.relay.url}/#pair=${code}`);
    await page.getByText(code).waitFor();
    await page.getByRole("button", { name: "Sign in with Our home" }).click();
    await signInThere(page, "ann");
    await page.getByText("laptop of ann").first().waitFor();
  });

  test("a link with somebody else's sign-in signs nobody in", async () => {
    const link = await intercepted("ben");
    const { page, faults } = await newPage();
    await page.goto(link);
    await notice(page).getByText("This sign-in was not begun in this browser").waitFor();
    await atTheDoor(page);

    // Nor does it reach into a sign-in of one's own that is under way, or that is done.
    await leave(page);
    await page.getByPlaceholder("Enter any login").waitFor();
    const there = page.url();
    await page.goto(link);
    await notice(page).getByText("This sign-in was begun elsewhere").waitFor();
    await page.goto(there);
    await signInThere(page, "ann");
    await expectSignedInAs(page, "owner");
    await page.goto("about:blank");
    await page.goto(link);
    await notice(page).getByText("not begun in this browser").waitFor();
    await expectSignedInAs(page, "owner");
    expect((await historyOf(page)).filter((url) => url.includes("oidc="))).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("a link to a made-up end of a sign-in does nothing", async () => {
    const { page, faults } = await newPage();
    for (const end of ["oidc=home", "oidc=none&response=code%3D1%26state%3D2", "oidc=../claim&response="]) {
      await page.goto("about:blank");
      await page.goto(`${app.relay.url}/#${end}`);
      await notice(page).getByText("not begun in this browser").waitFor();
      expect(page.url()).toBe(`${app.relay.url}/fleet`);
    }
    expect(faults).toEqual([]);
  });

  test("an issuer that is not said to be local is not looked for in the local network", async () => {
    const { page } = await newPage();
    await page.goto(app.relay.url);
    await page.getByRole("button", { name: "Sign in with Far away" }).click();
    await notice(page).getByText("Far away can't be reached").waitFor();
    expect(page.url()).toBe(`${app.relay.url}/fleet`);
  });

  test("issuers that cannot be asked for are no secret", async () => {
    const { page } = await newPage();
    await page.route("**/v1/sign-in", (route) => route.abort());
    await page.goto(app.relay.url);
    await page.getByRole("alert").getByText("Can't reach the relay.").waitFor();
    await page.unroute("**/v1/sign-in");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Sign in with Our home" }).waitFor();
  });

  test("another device of the size of a phone is signed in by the code that this page shows", async () => {
    const { page } = await newPage();
    await leave(page);
    await signInThere(page, "ben");
    await expectSignedInAs(page, "ben");
    await page.getByRole("button", { name: "Make a link" }).click();
    await page.getByRole("img", { name: "QR code: Sign-in link" }).waitFor();
    const link = (await page.getByRole("group", { name: "Sign-in link" }).textContent()) ?? "";
    const phone = await newPage(SMALL);
    await phone.page.goto(link);
    await phone.page.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(phone.page.url()).toBe(`${app.relay.url}/fleet`);
    await expectFitting(phone);
    await expectSignedInAs(phone.page, "ben");
  });
});
