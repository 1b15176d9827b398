/** A session that ends in the middle of work, and several tabs: the same person finds all as they left it, another one nothing. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createdInviteSchema } from "../../shared/invite-api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP } from "./app.ts";
import { expectOnScreen, expectPrompt, newTerminal, startTerminalApp, typeLine } from "./terminal.ts";

const SIGN_IN = "Sign in to Matrx Relay";

describe("a session that ends while somebody works", { ...NEEDS_CHROMIUM, timeout: 120_000 }, () => {
  const app = startTerminalApp();
  const tool = (name: string) => `/d/${app.machine.id}/tools/${name}`;
  const permissions = () => `/d/${app.machine.id}/permissions`;
  const title = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  const path = (page: Page) => new URL(page.url()).pathname;

  /** Ends every session of the owner's. */
  async function revoke(): Promise<void> {
    const { relay } = app;
    await relay.request(await relay.signIn(), "POST /v1/sessions/revoke-others", z.unknown(), {});
  }

  /** As a person who pastes their link into the page that asks for it. */
  async function signIn(page: Page, link?: string): Promise<void> {
    await title(page, SIGN_IN).waitFor();
    await page.getByLabel("Paste the link here").fill(link ?? (await app.relay.signInLink()));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  test("a tool's form is as it was after signing in again, at the same address", async () => {
    const { page, faults } = await app.openAlone(tool("Write"));
    await page.getByLabel("File path").fill("/tmp/a note.txt");
    await page.getByLabel("Content").fill("three lines\nof a\nnote");
    await revoke();
    await title(page, SIGN_IN).waitFor();
    await page.getByText("You were signed out here").waitFor();
    await expect.poll(() => page.getByLabel("File path").isVisible()).toBe(false);
    expect(path(page)).toBe(`${APP}${tool("Write")}`);
    await signIn(page);
    await title(page, "Write").waitFor();
    expect(path(page)).toBe(`${APP}${tool("Write")}`);
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe("/tmp/a note.txt");
    await expect.poll(() => page.getByLabel("Content").inputValue()).toBe("three lines\nof a\nnote");
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("a call that ran when the page was closed is told how it ended, after signing in again", async () => {
    const { page, faults } = await app.openAlone(tool("Bash"));
    await page.getByLabel("Command").fill("echo begun; sleep 60");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect.poll(() => page.getByRole("group", { name: "Output so far" }).textContent()).toBe("begun\n");
    await page.goto("about:blank");
    await revoke();
    await page.goto(`${app.relay.url}${APP}${tool("Bash")}`);
    await signIn(page);
    await page
      .getByRole("region", { name: "Answer" })
      .getByText(/^Stopped after/)
      .waitFor();
    expect(faults).toEqual([]);
  });

  test("a call that can't be sent is not made in the name of whoever signs in meanwhile", async () => {
    const { page, faults } = await app.openAlone(tool("Bash"));
    await page.route("**/tools/Bash", (route) => route.abort());
    await page.getByLabel("Command").fill("echo mine");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByText(/Making sure that it got the call/).waitFor();
    const second = await page.context().newPage();
    const [, code] = (await app.relay.signInLink()).split("#");
    await second.goto(`${app.relay.url}${APP}/fleet#${code}`);
    await second.getByRole("navigation").first().waitFor();
    await answer.getByText("Somebody signed in or out in the meantime.").waitFor();
    await answer.getByText("Check whether it was done, then try again.").waitFor();
    expect(faults).toEqual([]);
  });

  test("unsaved permissions are as they were, and can be saved; a reload keeps them too", async () => {
    const { page, faults } = await app.openAlone(permissions());
    await page.getByRole("combobox", { name: "Never these paths" }).fill("**/secret*");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "What would result" }).waitFor();
    await revoke();
    await signIn(page);
    await page.getByRole("heading", { name: "What would result" }).waitFor();
    await page.getByText("**/secret*").first().waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "What would result" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The permissions were saved.").waitFor();
    await page.getByRole("heading", { name: "What holds now" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "What holds now" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("a token that is being made is as it was, after a reload too", async () => {
    const { page, faults } = await app.openAlone("/settings/tokens");
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("half a name");
    await page.getByLabel("Folders, one a line").fill("/srv/one\n/srv/two");
    await revoke();
    await signIn(page);
    await page.getByLabel("Name", { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel("Name", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("half a name");
    await expect.poll(() => page.getByLabel("Folders, one a line").inputValue()).toBe("/srv/one\n/srv/two");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.reload();
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("");
    expect(faults).toEqual([]);
  });

  test("another account finds nothing of it", async () => {
    const { page, faults } = await app.openAlone(permissions());
    await page.getByRole("combobox", { name: "Never these paths" }).fill("**/of-the-first*");
    await page.keyboard.press("Enter");
    await page.goto(`${app.relay.url}${APP}/settings/tokens`);
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("of the first");
    await revoke();
    await title(page, SIGN_IN).waitFor();
    const { relay } = app;
    const { link } = await relay.request(await relay.signIn(), "POST /v1/invites", createdInviteSchema, {
      name: "Second",
    });
    await page.goto("about:blank");
    await page.goto(`${relay.url}${APP}/fleet#${link.split("#")[1]}`);
    await page.getByLabel("Your name").fill("Second");
    await page.getByRole("button", { name: "Create my account" }).click();
    await page.getByRole("navigation").first().waitFor();
    await page.goto(`${app.relay.url}${APP}/settings/tokens`);
    await page.getByRole("button", { name: "New token for an AI" }).waitFor();
    const kept = await page.evaluate<string>("JSON.stringify({ ...sessionStorage, ...localStorage })");
    expect(kept).not.toContain("of the first");
    expect(kept).not.toContain("of-the-first");
    expect(await page.locator("body").innerHTML()).not.toContain(app.machine.name);
    expect(faults).toEqual([]);
  });

  test("signing out in one tab signs out the other one, and leaves nothing there", async () => {
    const { page: first, faults } = await app.openAlone(tool("Write"));
    await first.getByLabel("Content").fill("a draft");
    const second = await first.context().newPage();
    await second.goto(`${app.relay.url}${APP}/settings/account`);
    await second.getByRole("button", { name: "Sign out", exact: true }).click();
    await second.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await title(second, SIGN_IN).waitFor();
    await title(first, SIGN_IN).waitFor();
    await first.getByText("You signed out in another tab.").waitFor();
    expect(await first.evaluate<string>("JSON.stringify({ ...sessionStorage })")).not.toContain("a draft");
    await signIn(second);
    await title(first, "Write").waitFor();
    await expect.poll(() => first.getByLabel("Content").inputValue()).toBe("");
    expect(faults).toEqual([]);
  });

  test("two tabs have drafts of their own, and each hears of the other's news", async () => {
    const { page: first, faults } = await app.openAlone(tool("Write"));
    const second = await first.context().newPage();
    await second.goto(`${app.relay.url}${APP}${tool("Write")}`);
    await second.getByLabel("Content").fill("second");
    await first.getByLabel("Content").fill("first");
    await first.reload();
    await second.reload();
    await expect.poll(() => first.getByLabel("Content").inputValue()).toBe("first");
    await expect.poll(() => second.getByLabel("Content").inputValue()).toBe("second");
    expect(faults).toEqual([]);
  });

  test("a terminal is told to be gone after signing in again, at the same place; what stood in the line goes into the next", async () => {
    const { page, faults } = await app.openAlone(`/d/${app.machine.id}/terminal`, { screen: "phone" });
    await newTerminal(page);
    await page.locator(".xterm").click();
    await typeLine(page, "echo shown-$((1 + 1))");
    await expectOnScreen(page, "shown-2");
    const line = page.getByLabel("Type a command");
    await line.fill("echo new-$((2 + 2))");
    await revoke();
    await title(page, SIGN_IN).waitFor();
    expect(await page.getByRole("tab").filter({ visible: true }).count()).toBe(0);
    await signIn(page);
    await page.getByRole("tab").first().waitFor();
    expect(path(page)).toBe(`${APP}/d/${app.machine.id}/terminal`);
    await page.getByText("This terminal is gone").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The terminal takes no keys now: nothing was sent.").waitFor();
    expect(await line.inputValue()).toBe("echo new-$((2 + 2))");
    await page.getByRole("button", { name: "Start again" }).click();
    await expectPrompt(page);
    await page.getByRole("button", { name: "Send" }).click();
    await expectOnScreen(page, "new-4");
    expect(faults).toEqual([]);
  });
});
