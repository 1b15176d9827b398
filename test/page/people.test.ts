/** Two people in two browsers: an invite, an account of one's own, and a device that one shares with the other. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { invoke } from "../e2e/caller.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

describe("people on one relay", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let ann: Page;
  let ben: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    browser = await startBrowser();
    [ann, ben] = await Promise.all([newPage(), newPage()]);
    await ann.goto(await relay.signInLink());
    await ann.getByRole("heading", { name: "People" }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return page;
  }

  /** Neither on a phone nor on a desk, in light nor in dark. */
  async function expectNoObjections(page: Page): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [320, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        expect([colorScheme, width, await objections(page)]).toEqual([colorScheme, width, []]);
        const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        expect([width, await page.evaluate(overflow)]).toEqual([width, 0]);
      }
    await page.emulateMedia({ colorScheme: "light" });
  }

  const linkAt = async (page: Page, id: string) => (await page.locator(`#${id}`).textContent()) ?? "";

  test("the owner invites somebody, who gets an account of their own", async () => {
    await ann.getByText("Invite somebody").click();
    await ann.getByLabel("For whom").fill("Ben");
    await ann.getByRole("button", { name: "Make an invite" }).click();
    await ann.locator("#invite-link").waitFor();
    await ann.getByText(/^invited, until/).waitFor();
    await expectNoObjections(ann);

    await ben.goto(await linkAt(ann, "invite-link"));
    await ben.getByRole("heading", { name: "You are invited to this relay" }).waitFor();
    expect(ben.url()).toBe(`${relay.url}/`);
    await expectNoObjections(ben);
    await ben.getByLabel("Your name").fill("Ben <b>x</b>");
    await ben.getByRole("button", { name: "Create my account" }).click();
    await ben.getByText("Signed in as Ben <b>x</b>").waitFor();
    await ben.getByText("No devices yet. Add one below.").waitFor();
    expect(await ben.getByText("Accounts on this relay").count()).toBe(0);

    const late = await newPage();
    await late.goto(await linkAt(ann, "invite-link"));
    await late.getByLabel("Your name").fill("Eve");
    await late.getByRole("button", { name: "Create my account" }).click();
    await late.getByText("This invite was used, withdrawn or has expired").waitFor();
    await late.context().close();
    expect(faults).toEqual([]);
  });

  test("a device is shared by a dialog, accepted, used, and left", async () => {
    await ann.getByRole("button", { name: `Share ${machine.name}` }).click();
    const dialog = ann.getByRole("dialog", { name: `Share ${machine.name}` });
    await dialog.getByLabel("For whom").fill("Ben");
    await dialog.getByLabel("Folders they may use").fill("/");
    await expectNoObjections(ann);
    await dialog.getByRole("button", { name: "Make a link" }).click();
    await dialog.locator("#share-link").waitFor();
    await expectNoObjections(ann);
    const link = await linkAt(ann, "share-link");
    await dialog.getByRole("button", { name: "Close" }).click();
    await ann.getByText("Share, not accepted yet").waitFor();

    await ben.goto(link);
    await ben.getByRole("heading", { name: "Somebody shares devices with you" }).waitFor();
    await expectNoObjections(ben);
    await ben.getByRole("button", { name: "Accept" }).click();
    await ben.getByText(`owner shares with you: ${machine.name}.`).waitFor();
    await ben.getByText("Shared by owner").waitFor();
    await ben.getByRole("heading", { name: `Run a tool on ${machine.name}` }).waitFor();
    // A guest has no buttons for what is the owner's.
    for (const name of [`Remove ${machine.name}`, `Share ${machine.name}`])
      expect(await ben.getByRole("button", { name }).count()).toBe(0);
    await ben.getByLabel("Tool", { exact: true }).selectOption("ListDirectory");
    await ben.getByLabel(/^path/).first().fill("/");
    await ben.getByRole("button", { name: "Run", exact: true }).click();
    await ben.getByText(/Answered in/).waitFor();
    await expectNoObjections(ben);

    await ben.getByRole("button", { name: "Leave Ben" }).click();
    await ben.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await ben.getByText("No devices yet. Add one below.").waitFor();
    expect(faults).toEqual([]);
  });

  test("a link that was opened signed out waits for the sign-in", async () => {
    const other = await newPage();
    await other.goto(`${relay.url}/#share=eyJhbGciOiJIUzI1NiJ9.e30.c2ln`);
    await other.getByText("Sign in to accept").waitFor();
    await other.getByLabel("Or paste the link here").fill(await relay.signInLink());
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("button", { name: "Accept" }).click();
    await other.getByText(/link's signature is wrong|link can't be read/).waitFor();
    await other.getByRole("button", { name: "Not now" }).click();
    await other.getByRole("heading", { name: "People" }).waitFor();
    await other.context().close();
    expect(faults).toEqual([]);
  });

  test("the owner closes the account, and its browser is signed out", async () => {
    await ann.reload();
    await ann.getByRole("button", { name: "Close the account of Ben" }).click();
    await ann.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await ann.getByText("Ben's account was closed.").waitFor();
    await ann.getByText(/^closed /).waitFor();
    await ben.getByText("You were signed out here").waitFor();
    await ben.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await ben.getByRole("region", { name: "Activity" }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("nothing of the owner's stays on the screen of whoever accepts an invite in the same tab", async () => {
    const { link } = await relay.request(
      await relay.signIn(),
      "POST /v1/invites",
      z.object({ link: z.string() }),
      { name: "Eve" },
    );
    const tab = await newPage();
    const beside = await tab.context().newPage();
    for (const page of [tab, beside]) await page.goto(await relay.signInLink());
    await tab.getByRole("region", { name: "Activity" }).waitFor();
    await tab.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
    await tab.getByRole("heading", { name: "You are invited to this relay" }).waitFor();
    await tab.getByLabel("Your name").fill("Eve");
    await tab.getByRole("button", { name: "Create my account" }).click();
    await tab.getByText("Signed in as Eve").waitFor();
    await tab.getByText("No devices yet. Add one below.").waitFor();
    // The other tab has the same session, so it shows the same account.
    await beside.getByText("Signed in as Eve").waitFor();
    const base = `${relay.url}/v1/devices/${machine.id}`;
    await invoke(base, await relay.token(), { tool: "ListDirectory", input: { path: "/" } });
    await ann.getByText("ListDirectory").first().waitFor();
    expect(await tab.getByText("ListDirectory").count()).toBe(0);

    await beside.getByRole("button", { name: "Sign out" }).click();
    for (const page of [tab, beside]) await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await tab.getByText("You were signed out here").waitFor();
    expect(await beside.getByText("You were signed out here").count()).toBe(0);
    await tab.context().close();
    expect(faults).toEqual([]);
  });
});
