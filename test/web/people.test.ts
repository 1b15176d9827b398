/** Two people in two browsers: an invite, an account of one's own, and a machine that one shares with the other. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { invoke } from "../e2e/caller.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, faultsOf, type Opened, SCREENS, startApp } from "./app.ts";

const NAME = "Ben <b>x</b>";

describe("people on one relay", NEEDS_CHROMIUM, () => {
  const app = startApp();
  /** Signed in from the first story to the last. */
  let ann: Opened;
  let ben: Opened;
  beforeAll(async () => {
    [ann, ben] = await Promise.all([newPerson(), newPerson()]);
    await ann.page.goto(await app.relay.signInLink());
    await ann.page.getByRole("heading", { name: "Your machines" }).waitFor();
  });

  async function newPerson(): Promise<Opened> {
    const context = await app.browser.newContext({ ...SCREENS.desktop, serviceWorkers: "block" });
    const page = await context.newPage();
    return { page, faults: faultsOf(page) };
  }

  const go = (page: Page, path: string) => page.goto(`${app.relay.url}${path}`);
  const secret = async (page: Page, label: string) =>
    (await page.getByRole("group", { name: label }).textContent()) ?? "";
  const answer = (page: Page, yes: string) =>
    page.getByRole("dialog").getByRole("button", { name: yes, exact: true }).click();
  const atTheDoor = (page: Page) => page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
  const noMachines = (page: Page) => page.getByRole("heading", { name: "No machines yet" }).waitFor();

  /** On a phone and on a desk. */
  async function expectNoObjectionsOnBoth(opened: Opened): Promise<void> {
    const { page } = opened;
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoObjections(opened);
    }
  }

  test("the owner invites somebody, who gets an account of their own", async () => {
    await go(ann.page, "/settings/people");
    await ann.page.getByRole("button", { name: "Invite somebody" }).click();
    await ann.page.getByLabel("For whom").fill("Ben");
    await ann.page.getByRole("button", { name: "Make an invite" }).click();
    const link = await secret(ann.page, "Link of the invite");
    await ann.page.getByText(/^invited .* until/).waitFor();
    await expectNoObjectionsOnBoth(ann);

    await ben.page.goto(link);
    await ben.page.getByRole("heading", { name: "You are invited to this relay" }).waitFor();
    expect(ben.page.url()).toBe(`${app.relay.url}/fleet`);
    await expectNoObjectionsOnBoth(ben);
    await ben.page.getByLabel("Your name").fill(NAME);
    await ben.page.getByRole("button", { name: "Create my account" }).click();
    await noMachines(ben.page);
    await ben.page.getByText(`This is your account: you are signed in as ${NAME}.`).waitFor();
    await go(ben.page, "/settings/account");
    await ben.page.getByText(`Signed in as ${NAME}`).waitFor();
    await expect.poll(() => ben.page.locator("main b").count()).toBe(0);
    await go(ben.page, "/settings/people");
    await ben.page.getByText("Nobody shares a machine with you at present.").waitFor();
    await expect.poll(() => ben.page.getByRole("region", { name: "Accounts on this relay" }).count()).toBe(0);

    const late = await app.openSignedOut("");
    await late.page.goto(link);
    await late.page.getByLabel("Your name").fill("Eve");
    await late.page.getByRole("button", { name: "Create my account" }).click();
    await late.page.getByRole("alert").getByText("This invite was used, withdrawn or has expired").waitFor();
    await expect.poll(() => late.page.getByLabel("Your name").inputValue()).toBe("Eve");
    expect([...ann.faults, ...ben.faults, ...late.faults]).toEqual([]);
  });

  test("an invite that is withdrawn makes no account", async () => {
    const { page } = ann;
    await go(page, "/settings/people");
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel("For whom").fill("Mallory");
    await page.getByRole("button", { name: "Make an invite" }).click();
    const link = await secret(page, "Link of the invite");
    await page.getByRole("button", { name: "Withdraw the invite for Mallory" }).click();
    await page.getByRole("dialog").getByText("Its link stops working.").waitFor();
    await answer(page, "Withdraw it");
    await page.getByText("Mallory is no longer invited.").waitFor();
    await expect
      .poll(() => page.evaluate("document.activeElement.textContent"))
      .toBe("Accounts on this relay");
    const mallory = await app.openSignedOut("", { screen: "phone" });
    await mallory.page.goto(link);
    await mallory.page.getByLabel("Your name").fill("Mallory");
    await mallory.page.getByRole("button", { name: "Create my account" }).click();
    await mallory.page.getByText("This invite was used, withdrawn or has expired").waitFor();
    await expectNoObjections(mallory);
  });

  test("a machine is shared from its page, accepted, used, and left", async () => {
    const { machine } = app;
    await go(ann.page, `/d/${machine.id}`);
    await ann.page.getByRole("link", { name: "Share this machine" }).click();
    const form = ann.page.getByRole("region", { name: "Share a machine" });
    await form.getByLabel("For whom").fill("Ben");
    await form.getByLabel("Folders, one a line").fill("/");
    await expectNoObjectionsOnBoth(ann);
    await form.getByRole("button", { name: "Make a link" }).click();
    const link = await secret(ann.page, "Link of the share");
    await ann.page.getByText("Not accepted yet").waitFor();
    await expectNoObjectionsOnBoth(ann);

    await ben.page.goto(link);
    await ben.page.getByRole("heading", { name: "Somebody shares machines with you" }).waitFor();
    await expectNoObjectionsOnBoth(ben);
    await ben.page.getByRole("button", { name: "Accept" }).click();
    await ben.page.getByText(`owner shares with you: ${machine.name}.`).waitFor();
    await ben.page.getByRole("link", { name: machine.name, exact: true }).click();
    await ben.page.getByText("Shared by owner").first().waitFor();
    await ben.page.getByRole("heading", { name: machine.name, level: 1 }).waitFor();
    // A guest has no buttons for what is the owner's.
    await expect.poll(() => ben.page.getByRole("button", { name: "Remove this machine" }).count()).toBe(0);
    await expect.poll(() => ben.page.getByRole("link", { name: "Share this machine" }).count()).toBe(0);
    await go(ben.page, `/d/${machine.id}/tools/ListDirectory`);
    await ben.page.getByLabel("Path", { exact: true }).fill("/");
    await ben.page.getByRole("button", { name: "Run", exact: true }).click();
    await ben.page
      .getByText(/Answered in/)
      .first()
      .waitFor();
    await expectNoObjectionsOnBoth(ben);

    await go(ben.page, "/settings/people");
    await ben.page.getByRole("button", { name: "Leave Ben" }).click();
    await answer(ben.page, "Leave");
    await ben.page.getByText("Nobody shares a machine with you at present.").waitFor();
    await expect.poll(() => ben.page.evaluate("document.activeElement.textContent")).toBe("Shared with you");
    await go(ben.page, "/fleet");
    await noMachines(ben.page);
    expect([...ann.faults, ...ben.faults]).toEqual([]);
  });

  test("a link that was opened signed out waits for the sign-in", async () => {
    const { page, faults } = await app.openSignedOut("/#share=eyJhbGciOiJIUzI1NiJ9.e30.c2ln");
    await page.getByText("Sign in to accept").waitFor();
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByText(/link's signature is wrong|link can't be read/).waitFor();
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("the owner closes the account, and its browser is signed out", async () => {
    await go(ann.page, "/settings/people");
    await ann.page.getByRole("button", { name: "Close the account of Ben" }).click();
    await ann.page.getByRole("dialog").getByText("it can't be opened again").waitFor();
    await answer(ann.page, "Close it for good");
    await ann.page.getByText("Ben's account was closed.").waitFor();
    await ann.page.getByText(/ closed /).waitFor();
    await ben.page.getByText("You were signed out here").waitFor();
    await atTheDoor(ben.page);
    await expect.poll(() => ben.page.getByRole("navigation").count()).toBe(0);
    expect([...ann.faults, ...ben.faults]).toEqual([]);
  });

  test("nothing of the owner's stays on the screen of whoever accepts an invite in the same tab", async () => {
    const { relay, machine } = app;
    const { link } = await relay.request(
      await relay.signIn(),
      "POST /v1/invites",
      z.object({ link: z.string() }),
      { name: "Eve" },
    );
    const call = async (tool: string, input: Record<string, unknown>) =>
      invoke(`${relay.url}/v1/devices/${machine.id}`, await relay.token(), { tool, input });
    const { page: tab, faults } = await app.openAlone("/settings/account");
    const beside = await tab.context().newPage();
    const faultsBeside = faultsOf(beside);
    await go(beside, "/settings/account");
    await beside.getByText("Signed in as owner").waitFor();
    // Much of the owner's is on the screen: calls, the machine's name, and a question that is not answered.
    await go(tab, `/d/${machine.id}`);
    await call("Bash", { command: "echo of the owner" });
    await tab.getByRole("list", { name: "Recent calls" }).getByText("Bash").waitFor();
    await expect.poll(() => tab.title()).toContain(machine.name);
    await tab.getByRole("button", { name: "Remove this machine" }).click();
    await tab.getByRole("dialog").getByText(`Remove ${machine.name}?`).waitFor();

    await tab.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
    await tab.getByRole("heading", { name: "You are invited to this relay" }).waitFor();
    await tab.getByText("This browser is signed in as owner.").waitFor();
    await tab.getByLabel("Your name").fill("Eve");
    await tab.getByRole("button", { name: "Create my account" }).click();
    await noMachines(tab);
    // The other tab has the same session, so it shows the same account.
    await beside.getByText("Signed in as Eve").waitFor();

    const seen = async () => [
      tab.url(),
      await tab.title(),
      await tab.evaluate<string>("document.body.innerText"),
      await beside.evaluate<string>("document.body.innerText"),
      await tab.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"),
    ];
    const owners = [machine.name, machine.id, "of the owner", "ListDirectory"];
    const left = async () => {
      const texts = await seen();
      // As words: the machine's short name may stand in a random id.
      return owners.filter((one) => texts.some((text) => new RegExp(`\\b${one}\\b`).test(text)));
    };
    expect(await left()).toEqual([]);
    await tab.getByRole("link", { name: "Activity" }).first().click();
    await tab.getByRole("heading", { name: "Activity", level: 1 }).waitFor();
    await go(ann.page, "/activity");
    await ann.page.getByRole("heading", { name: "Activity", level: 1 }).waitFor();
    await ann.page.getByText("Connected", { exact: true }).waitFor();
    await call("ListDirectory", { path: "/" });
    await ann.page.getByText("ListDirectory").first().waitFor();
    expect(await left()).toEqual([]);

    await beside.getByRole("button", { name: "Sign out", exact: true }).click();
    await answer(beside, "Sign out");
    for (const page of [tab, beside]) await atTheDoor(page);
    await tab.getByText("You signed out in another tab.").waitFor();
    await expect.poll(() => beside.getByText(/You (?:were signed|signed) out/).count()).toBe(0);
    await expect.poll(() => tab.title()).toBe("Sign in · Matrx Relay");
    expect([...faults, ...faultsBeside]).toEqual([]);
  });
});
