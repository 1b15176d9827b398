/** Ways to sign in again: passkeys, recovery codes, and the places where somebody is signed in. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { startRelay } from "../helpers/relay.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { addAuthenticator, passkeysIn, putPasskeys } from "./authenticator.ts";

const ACCOUNT = "/settings/account";

describe("passkeys", NEEDS_CHROMIUM, () => {
  const app = startApp();

  /** The owner's account page, on a device with an authenticator. */
  async function openAccount({ verified = true } = {}) {
    const opened = await app.openAlone(ACCOUNT);
    return { ...opened, authenticator: await addAuthenticator(opened.page, { verified }) };
  }

  async function addPasskey(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByLabel("Name of the new passkey").fill(name);
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByText(`${name} was added`).waitFor();
  }

  const signOut = (page: Page) => page.getByRole("button", { name: "Sign out", exact: true }).click();
  const signedOut = (page: Page) => page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
  const usePasskey = (page: Page) => page.getByRole("button", { name: "Use a passkey" }).click();
  const signedIn = (page: Page) => page.getByText("Signed in as owner").waitFor();
  const answer = (page: Page, yes: string) =>
    page.getByRole("dialog").getByRole("button", { name: yes, exact: true }).click();

  /** Holds what the page asks for there, until it is released. */
  async function hold(page: Page, path: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route(path, async (route) => {
      await promise;
      await route.continue();
    });
    return resolve;
  }

  /** The focus is where what was removed stood. */
  async function expectFocusAt(page: Page, text: string): Promise<void> {
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe(text);
  }

  test("one is added, signs in without a link, is renamed, and removed", async () => {
    const { page, faults, authenticator } = await openAccount();
    await page.getByText("You have no passkey here").waitFor();
    await addPasskey(page, "my phone");
    await page.getByText("You have no passkey here").waitFor({ state: "detached" });
    expect(await passkeysIn(authenticator)).toMatchObject([
      { isResidentCredential: true, rpId: "localhost" },
    ]);

    await signOut(page);
    await signedOut(page);
    await usePasskey(page);
    await signedIn(page);
    await page.reload();
    await signedIn(page);
    await page.getByText(/last used/).waitFor();

    await page.getByLabel("Rename passkey my phone").click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("old phone");
    await page.getByRole("button", { name: "Save the name of my phone" }).click();
    await page.getByText("my phone is now called old phone.").waitFor();
    await expectFocusAt(page, "old phone");
    await page.getByRole("button", { name: "Remove passkey old phone" }).click();
    await page.getByRole("dialog").getByText("It is your last one.").waitFor();
    await answer(page, "Remove it");
    await page.getByText("old phone was removed.").waitFor();
    await page.getByText("You have no passkey here").waitFor();
    await expectFocusAt(page, "Passkeys");

    await signOut(page);
    await page.getByRole("dialog").getByText("You have no passkey here").waitFor();
    await answer(page, "Sign out");
    await signedOut(page);
    await usePasskey(page);
    await page
      .getByRole("status", { name: "News" })
      .getByText(/passkey/i)
      .waitFor();
    await expect.poll(() => page.getByRole("navigation").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("who signs out before the page has read the passkeys, or where it can't, is asked all the same", async () => {
    const { page } = await openAccount();
    const release = await hold(page, "**/v1/passkeys");
    await page.reload();
    await signOut(page);
    await expect
      .poll(() => page.getByRole("button", { name: "Sign out", exact: true }).isDisabled())
      .toBe(true);
    release();
    await page.getByRole("dialog").getByText("You have no passkey here").waitFor();
    await answer(page, "Stay signed in");

    await page.route("**/v1/passkeys", (route) => route.abort());
    await page.reload();
    await signOut(page);
    await page.getByRole("dialog").getByText("Your passkeys could not be read.").waitFor();
    await answer(page, "Sign out");
    await signedOut(page);
  });

  test("a device makes no second one for the same account", async () => {
    const { page, faults } = await openAccount();
    await addPasskey(page, "once");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByRole("alert").getByText("This device already has a passkey for this account.").waitFor();
    expect(faults).toEqual([]);
  });

  test("a copy of a passkey that lags behind signs nobody in", async () => {
    const { page, faults, authenticator } = await openAccount();
    await addPasskey(page, "security key");
    const stolen = await passkeysIn(authenticator);
    await signOut(page);
    await signedOut(page);
    await usePasskey(page);
    await signedIn(page);

    const thief = await app.openSignedOut("/fleet");
    await putPasskeys(await addAuthenticator(thief.page), stolen);
    await usePasskey(thief.page);
    await thief.page.getByText("This passkey signs nobody in here").waitFor();
    await signedOut(thief.page);
    expect([...faults, ...thief.faults]).toEqual([]);
  });

  test("who is not verified by the device makes none", async () => {
    const { page, faults } = await openAccount({ verified: false });
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("button", { name: "Add it" }).click();
    await page.getByRole("alert").getByText("No passkey was used").waitFor();
    expect(faults).toEqual([]);
  });

  test("a page at another port of this host gets no use out of a passkey", async () => {
    const { page, authenticator } = await openAccount();
    await addPasskey(page, "for one port");

    // Its passkeys are the same to the browser, since ports do not count there; the relay counts them.
    await using hostile = await startRelay();
    const { page: elsewhere } = await app.openSignedOut("");
    await putPasskeys(await addAuthenticator(elsewhere), await passkeysIn(authenticator));
    const begun = await fetch(`${app.relay.url}/v1/sign-in/passkey/options`, { method: "POST" });
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
    const sent = await fetch(`${app.relay.url}/v1/sign-in/passkey`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ state, credential: lured, key: { kty, crv, x, y } }),
    });
    expect([sent.status, await sent.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  });

  test("at an address that is no name, the page says where passkeys work", async () => {
    const { page, faults } = await app.openSignedOut("");
    await page.goto(app.relay.url.replace("localhost", "127.0.0.1"));
    await page.getByText(`Passkeys need a name: open ${app.relay.url} instead of 127.0.0.1.`).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("who lost every passkey signs in with a recovery code, once, and is told how many are left", async () => {
    const opened = await openAccount();
    const { page } = opened;
    await addPasskey(page, "soon lost");
    await page.getByText("You have none.").waitFor();
    await page.getByRole("button", { name: "Make recovery codes" }).click();
    const shown = page.getByRole("group", { name: "New recovery codes" });
    const [first] = ((await shown.textContent()) ?? "").split("\n");
    await expect
      .poll(() => shown.evaluate((codes) => codes === codes.ownerDocument.activeElement))
      .toBe(true);

    await page.getByRole("button", { name: "Make recovery codes" }).click();
    await page.getByRole("dialog").getByText("Those that you have now will no longer work.").waitFor();
    await answer(page, "Make recovery codes");
    await expect.poll(() => shown.textContent()).not.toContain(first);
    const codes = ((await shown.textContent()) ?? "").split("\n");
    expect(codes).toHaveLength(10);
    const save = page.getByRole("button", { name: "Save as a file" });
    const [file] = await Promise.all([page.waitForEvent("download"), save.click()]);
    expect(file.suggestedFilename()).toBe("matrx-recovery-codes.txt");
    await expectNoObjections(opened);
    const release = await hold(page, "**/v1/recovery-codes");
    await page.reload();
    await page.getByRole("button", { name: "Make recovery codes" }).click();
    await expect
      .poll(() => page.getByRole("button", { name: "Make recovery codes" }).isDisabled())
      .toBe(true);
    release();
    await page.getByRole("dialog").getByText("Those that you have now will no longer work.").waitFor();
    await answer(page, "Cancel");
    await page.getByText(/^10 left, made/).waitFor();
    await expect.poll(() => shown.count()).toBe(0);

    const leave = () => signOut(page).then(() => signedOut(page));
    const recover = async () => {
      await page.getByText("Lost your passkeys?").click();
      await page.getByLabel("One of your recovery codes").fill(codes[0]?.toLowerCase() ?? "");
      await page.getByRole("button", { name: "Use this code" }).click();
    };
    await leave();
    await recover();
    await page.getByText("That recovery code is used up. 9 left.").waitFor();
    await page.getByText(/^9 left, made/).waitFor();
    await leave();
    await recover();
    await page.getByRole("alert").getByText("This recovery code signs nobody in here").waitFor();
    expect(opened.faults).toEqual([]);
  });

  test("other browsers are listed, and signed out one by one or all at once", async () => {
    const { page, faults } = await app.openAlone(ACCOUNT);
    const sessions = page.getByRole("list", { name: "Signed in" });
    const endOthers = async () => {
      await page.getByRole("button", { name: "Sign out everywhere else" }).click();
      await answer(page, "Sign out everywhere else");
      await page.getByText(/^Signed out in/).waitFor();
    };
    await sessions.getByText("This browser").waitFor();
    await endOthers();
    const others = [await app.openAlone("/fleet"), await app.open("/fleet")];
    await page.reload();
    const signOuts = sessions.getByRole("button", { name: /^Sign out Chrome/ });
    await signOuts.nth(1).waitFor();
    await expect.poll(() => sessions.getByText("This browser").count()).toBe(1);

    await signOuts.first().click();
    await page.getByRole("dialog").getByText("What it has open ends at once.").waitFor();
    await answer(page, "Sign out");
    await page.getByText(/was signed out\.$/).waitFor();
    await expect.poll(() => signOuts.count()).toBe(1);
    await expectFocusAt(page, "Signed in");
    const isOver = ({ page: other }: (typeof others)[number]) =>
      other.getByRole("heading", { name: "Sign in to Matrx Relay" }).isVisible();
    await expect.poll(async () => (await Promise.all(others.map(isOver))).filter(Boolean)).toHaveLength(1);
    await endOthers();
    await page.getByText("Signed out in one other place.").waitFor();
    await expect.poll(() => signOuts.count()).toBe(0);
    await expectFocusAt(page, "Signed in");
    for (const { page: other } of others) {
      await signedOut(other);
      await other.reload();
      await signedOut(other);
    }
    expect([...faults, ...others.flatMap((other) => other.faults)]).toEqual([]);
  });

  test.each([
    ["phone", 320, 640],
    ["desktop", 1280, 800],
  ] as const)(
    "axe finds nothing to object to on a %s, and nothing is wider",
    async (screen, width, height) => {
      const opened = await app.openSignedOut("/fleet", { screen, context: { viewport: { width, height } } });
      const { page } = opened;
      const fits = () => expectNoObjections(opened);
      await addAuthenticator(page);
      await page.getByText("Lost your passkeys?").click();
      await page.getByLabel("One of your recovery codes").waitFor();
      await fits();
      await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: "Your machines" }).waitFor();
      await page.goto(`${app.relay.url}${ACCOUNT}`);
      const name = "w".repeat(64);
      await addPasskey(page, name);
      await page.getByRole("button", { name: "Close this message" }).click();
      await page.getByLabel(`Rename passkey ${name}`).last().click();
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByLabel("Name of the new passkey").waitFor();
      await fits();
      await page
        .getByRole("button", { name: `Remove passkey ${name}` })
        .last()
        .click();
      await page.getByRole("dialog").getByText("Nobody can sign in with it any more.").waitFor();
      await fits();
    },
  );

  test("adding one and signing in work with the keyboard alone, and the focus has a place", async () => {
    const { page, faults } = await openAccount();
    await page.getByRole("button", { name: "Add a passkey" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Enter");
    await page.getByText("by keyboard was added").waitFor();
    await expectFocusAt(page, "Passkeys");
    await page.getByRole("button", { name: "Sign out", exact: true }).focus();
    await page.keyboard.press("Enter");
    await signedOut(page);
    await expectFocusAt(page, "Sign in to Matrx Relay");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await signedIn(page);
    expect(faults).toEqual([]);
  });
});
