/** Passkeys in a real browser, with the authenticator that Chromium has for tests. */
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

describe("passkeys on the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let browser: Browser;
  let faults: string[];

  beforeAll(async () => {
    relay = await startRelay();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
  });
  beforeEach(() => {
    faults = [];
  });

  async function newPage(context?: BrowserContext): Promise<Page> {
    const own = context ?? (await browser.newContext());
    if (!context) onTestFinished(() => own.close());
    const page = await own.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return page;
  }

  /** A phone's own authenticator, whose owner always says yes. */
  async function addAuthenticator(
    page: Page,
    { verified = true } = {},
  ): Promise<{ cdp: CDPSession; authenticatorId: string }> {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        ctap2Version: "ctap2_1",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: verified,
        automaticPresenceSimulation: true,
      },
    });
    return { cdp, authenticatorId };
  }

  async function signInByLink(page: Page): Promise<void> {
    await page.goto(await relay.signInLink());
    await page.getByRole("heading", { name: "You", exact: true }).waitFor();
  }

  async function addPasskey(page: Page, name: string): Promise<void> {
    await page.locator("summary", { hasText: "Add a passkey" }).click();
    await page.getByLabel("Name of the new passkey").fill(name);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText(`${name} was added`).waitFor();
  }

  async function signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  }

  async function signedInByPasskey(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("Signed in as owner").waitFor();
  }

  test("one is added, signs in without a link, is renamed, and removed", async () => {
    const page = await newPage();
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await signInByLink(page);
    await page.getByText("You have no passkey here").waitFor();
    await addPasskey(page, "my phone");
    // The list is fetched again once the page has said so.
    await page.getByText("You have no passkey here").waitFor({ state: "detached" });
    const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);

    await signOut(page);
    await signedInByPasskey(page);
    await page.reload();
    await page.getByText("Signed in as owner").waitFor();
    await page.getByText(/last used/).waitFor();

    await page.getByLabel("Rename passkey my phone").click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("old phone");
    await page.getByRole("button", { name: "Save the name of my phone" }).click();
    await page.getByText("my phone is now called old phone.").waitFor();
    await page.getByRole("button", { name: "Remove passkey old phone" }).click();
    await page.getByRole("dialog").getByText("It is your last one.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("old phone was removed.").waitFor();
    await page.getByText("You have no passkey here").waitFor();
    await signOut(page);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page
      .getByRole("status")
      .getByText(/passkey/i)
      .waitFor();
    expect(await page.getByText("Signed in as").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a device makes no second one for the same account", async () => {
    const page = await newPage();
    await addAuthenticator(page);
    await signInByLink(page);
    await addPasskey(page, "once");
    await page.locator("summary", { hasText: "Add a passkey" }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("This device already has a passkey for this account.").waitFor();
    expect(faults).toEqual([]);
  });

  test("a copy of a passkey that lags behind signs nobody in", async () => {
    const page = await newPage();
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await signInByLink(page);
    await addPasskey(page, "security key");
    const stolen = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
    await signOut(page);
    await signedInByPasskey(page);

    const thief = await newPage();
    const other = await addAuthenticator(thief);
    await thief.goto(relay.url);
    for (const credential of stolen.credentials)
      await other.cdp.send("WebAuthn.addCredential", { authenticatorId: other.authenticatorId, credential });
    await thief.getByRole("button", { name: "Use a passkey" }).click();
    await thief.getByText("This passkey signs nobody in here").waitFor();
    expect(faults).toEqual([]);
  });

  test("who is not verified by the device makes none", async () => {
    const page = await newPage();
    await addAuthenticator(page, { verified: false });
    await signInByLink(page);
    await page.locator("summary", { hasText: "Add a passkey" }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("No passkey was used").waitFor();
    expect(faults).toEqual([]);
  });

  test("a page at another port of this host gets no use out of a passkey", async () => {
    const page = await newPage();
    const { cdp, authenticatorId } = await addAuthenticator(page);
    await signInByLink(page);
    await addPasskey(page, "for one port");
    const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });

    // Its passkeys are the same to the browser, since ports do not count there; the relay counts them.
    await using hostile = await startRelay();
    const elsewhere = await newPage();
    const there = await addAuthenticator(elsewhere);
    for (const credential of credentials)
      await there.cdp.send("WebAuthn.addCredential", { authenticatorId: there.authenticatorId, credential });
    const begun = await fetch(`${relay.url}/v1/sign-in/passkey/options`, { method: "POST" });
    const { state, options } = (await begun.json()) as { state: string; options: object };
    await elsewhere.goto(hostile.url);
    const lured = await elsewhere.evaluate(`(async () => {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)});
      return (await navigator.credentials.get({ publicKey })).toJSON();
    })()`);
    const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
      "sign",
    ]);
    const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
    const sent = await fetch(`${relay.url}/v1/sign-in/passkey`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ state, credential: lured, key: { kty, crv, x, y } }),
    });
    expect([sent.status, await sent.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  });

  test("at an address that is no name, the page says where passkeys work", async () => {
    const page = await newPage();
    await page.goto(relay.url.replace("localhost", "127.0.0.1"));
    await page.getByText(`Passkeys need a name: open ${relay.url} instead of 127.0.0.1.`).waitFor();
    expect(await page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("who lost every passkey signs in with a recovery code, once, and is told how many are left", async () => {
    const page = await newPage();
    await signInByLink(page);
    await page.getByRole("button", { name: "Make recovery codes" }).click();
    const shown = page.locator("#recovery-codes");
    const [first] = ((await shown.textContent()) ?? "").split("\n");
    expect(await shown.evaluate((codes) => codes === codes.ownerDocument.activeElement)).toBe(true);

    await page.getByRole("button", { name: "Make recovery codes" }).click();
    await page.getByRole("dialog").getByText("Those that you have now will no longer work.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Make recovery codes" }).click();
    await expect.poll(() => shown.textContent()).not.toContain(first);
    const codes = ((await shown.textContent()) ?? "").split("\n");
    expect(codes).toHaveLength(10);
    const link = page.getByRole("link", { name: "Save as a file" });
    const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
    expect(file.suggestedFilename()).toBe("matrx-recovery-codes.txt");
    expect(await objections(page)).toEqual([]);
    await page.reload();
    await page.getByText(/^10 left, made/).waitFor();
    expect(await page.locator("#recovery-codes").count()).toBe(0);
    await signOut(page);

    const recover = async () => {
      await page.getByText("Lost your passkeys?").click();
      await page.getByLabel("One of your recovery codes").fill(codes[0]?.toLowerCase() ?? "");
      await page.getByRole("button", { name: "Use this code" }).click();
    };
    await recover();
    await page.getByText("That recovery code is used up.").waitFor();
    await page.getByText(/^9 left, made/).waitFor();
    await signOut(page);
    await recover();
    await page.getByText("This recovery code signs nobody in here").waitFor();
    expect(faults).toEqual([]);
  });

  test("other browsers are listed, and signed out one by one or all at once", async () => {
    const [page, first, second] = [await newPage(), await newPage(), await newPage()];
    for (const one of [page, first]) await signInByLink(one);
    await page.reload();
    const everywhere = page.getByRole("button", { name: "Sign out everywhere else" });
    const endOthers = async () => {
      await everywhere.click();
      await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
      await page.getByText(/^Signed out in/).waitFor();
    };
    await endOthers();
    for (const other of [first, second]) await signInByLink(other);
    await page.reload();
    const signOuts = page.getByRole("button", { name: /^Sign out Chrome/ });
    await signOuts.nth(1).waitFor();
    expect(await page.getByText("this browser", { exact: true }).count()).toBe(1);

    await signOuts.first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText(/was signed out\.$/).waitFor();
    await expect.poll(() => signOuts.count()).toBe(1);
    await endOthers();
    await page.getByText("Signed out in one other place.").waitFor();
    await expect.poll(() => signOuts.count()).toBe(0);
    for (const other of [first, second]) {
      await other.reload();
      await other.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
    }
    expect(faults).toEqual([]);
  });

  test.each([
    ["phone", "light", 320, 640],
    ["phone", "dark", 320, 640],
    ["desktop", "light", 1280, 800],
    ["desktop", "dark", 1280, 800],
  ] as const)(
    "axe finds nothing to object to on a %s, %s, and nothing is wider",
    async (_, colorScheme, width, height) => {
      const page = await newPage();
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await addAuthenticator(page);
      const fits = async () => {
        expect(await objections(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      };
      await page.goto(relay.url);
      await page.getByText("Lost your passkeys?").click();
      await fits();
      await signInByLink(page);
      await addPasskey(page, "w".repeat(64));
      await page.getByRole("button", { name: "Close" }).click();
      for (const summary of await page.locator("summary:visible").all()) await summary.click();
      await fits();
      await page
        .getByRole("button", { name: `Remove passkey ${"w".repeat(64)}` })
        .last()
        .click();
      await page.getByRole("dialog").waitFor();
      await fits();
    },
  );

  test("adding one and signing in work with the keyboard alone, and the focus has a place", async () => {
    const page = await newPage();
    await addAuthenticator(page);
    await signInByLink(page);
    await page.locator("summary", { hasText: "Add a passkey" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Enter");
    await page.getByText("by keyboard was added").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("You");
    await signOut(page);
    await page.getByRole("button", { name: "Use a passkey" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Signed in as owner").waitFor();
    expect(faults).toEqual([]);
  });
});
