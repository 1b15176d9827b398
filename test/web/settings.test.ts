/** Settings in the app: who is signed in where, and who else has access. */
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, expectFitting, expectNoObjections, startApp } from "./app.ts";

describe("settings", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("another browser's session is seen, and ended there at once", async () => {
    app.renewAfterTest();
    const other = await app.openAlone("/fleet");
    const { page } = await app.open("/settings/account");
    const sessions = page.getByRole("list", { name: "Signed in" });
    await sessions.getByText("This browser").waitFor();
    await page.getByRole("button", { name: /everywhere else/i }).click();
    await page.getByRole("dialog").getByRole("button").last().click();
    await other.page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await other.page.getByText("You were signed out here").waitFor();
  });

  test("dark or light is remembered", async () => {
    const opened = await app.open("/settings/appearance");
    const { page } = opened;
    await page.getByRole("radiogroup", { name: "Colours" }).getByText("Light").click();
    await page.reload();
    await page.locator('html[data-mantine-color-scheme="light"]').waitFor({ state: "attached" });
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Appearance" }).waitFor();
    await expectFitting(opened);
  });

  test("the record is read, and verified to be in order", async () => {
    const { page, faults } = await app.open("/settings/record");
    await page.getByRole("listitem").first().waitFor();
    await page.getByRole("button", { name: "Verify the record" }).click();
    await page.getByText(/^In order: \d+ entries, each as it was written/).waitFor();
    expect(faults).toEqual([]);
  });

  test("somebody is invited, makes an account, and gets a machine shared", async () => {
    const { page, faults } = await app.open("/settings/people");
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByLabel("For whom").fill("Ben");
    await page.getByRole("button", { name: "Make an invite" }).click();
    const invite = (await page.getByRole("group", { name: "Link of the invite" }).textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();

    const ben = await app.openSignedOut("");
    await ben.page.goto(`${app.relay.url}${APP}#${invite.split("#")[1]}`);
    await ben.page.getByLabel("Your name").fill("Ben");
    await ben.page.getByRole("button", { name: "Create my account" }).click();
    await ben.page.getByText("No machines yet").waitFor();

    await page.getByRole("button", { name: "Share a machine" }).click();
    const form = page.getByRole("region", { name: "Share a machine" });
    await form.getByLabel("For whom").fill("Ben");
    await form.getByText("In every folder").click();
    await form.getByRole("button", { name: "Make a link" }).click();
    const share = (await page.getByRole("group", { name: "Link of the share" }).textContent()) ?? "";
    await ben.page.goto(`${app.relay.url}${APP}#${share.split("#")[1]}`);
    await ben.page.getByRole("button", { name: "Accept" }).click();
    await ben.page
      .getByText(/shares with you/)
      .first()
      .waitFor();
    await ben.page.getByRole("link", { name: app.machine.name, exact: true }).waitFor();
    await ben.page.getByText("Shared by", { exact: false }).first().waitFor();
    expect([...faults, ...ben.faults]).toEqual([]);
  });

  test("keys lead to places, and stay out of what is typed", async () => {
    const { page, faults } = await app.open("/fleet");
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Activity", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill("g s");
    expect(page.url()).toContain("/activity");
    expect(faults).toEqual([]);
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const opened = await app.open("/settings/none", { screen });
    const { page } = opened;
    const expectFine = async (title: string) => {
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
      await expectNoObjections(opened);
    };
    const back = () => page.getByRole("link", { name: "All settings", exact: true }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    await expectFine("There is no such setting");
    if (screen === "phone") {
      await back();
      await expectFine("Settings");
    }
    for (const part of [
      ...["Account", "AI and tokens", "People", "Record", "Notifications"],
      ...["Connection", "Appearance", "Shortcuts", "About"],
    ]) {
      await page.getByRole("link", { name: new RegExp(`^${part}`) }).click();
      await expectFine(part);
      if (screen === "phone") await back();
    }
  });
});
