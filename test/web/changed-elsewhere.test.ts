/** What a person changes while others, another tab or a slow line have their part in it: nothing is undone unseen. */
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { deviceViewSchema } from "../../shared/api.ts";
import { type Policy, policySetSchema } from "../../shared/policy.ts";
import { createdTokenSchema, tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { startApp } from "./app.ts";

describe("what is changed elsewhere meanwhile", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const device = () => `/v1/devices/${app.machine.id}` as const;
  const owner = () => app.relay.signIn();
  const stored = async () => app.relay.request(await owner(), `GET ${device()}/policy`, policySetSchema);
  const set = async (policy: Policy) =>
    app.relay.request(await owner(), `PUT ${device()}/policy`, policySetSchema, policy);

  afterEach(() => set({}));

  test("in a machine's permissions is seen before anything is saved, and stays", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/permissions`);
    const results = page.getByRole("region", { name: /What (holds now|would result)/ });
    await page.getByLabel("Calls per minute").fill("77");
    await set({ denied_tools: ["Bash"] });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("changed elsewhere meanwhile").waitFor();
    await results.getByText("not limited here, but not Bash").waitFor();
    expect(await stored()).toEqual({ denied_tools: ["Bash"] });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The permissions were saved").waitFor();
    expect(await stored()).toEqual({ denied_tools: ["Bash"], rates: { calls_per_minute: 77 } });
    await expect.poll(() => page.getByText("changed elsewhere meanwhile").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("in permissions that a tab kept unsaved through a reload stays, too", async () => {
    const { page } = await app.open(`/d/${app.machine.id}/permissions`);
    await page.getByLabel("Calls per minute").fill("78");
    await set({ denied_tools: ["Delete"], denied_paths: ["**/.env*"] });
    await page.reload();
    await page.getByRole("alert").getByText("changed elsewhere meanwhile").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The permissions were saved").waitFor();
    expect(await stored()).toEqual({
      ...{ denied_tools: ["Delete"], denied_paths: ["**/.env*"] },
      rates: { calls_per_minute: 78 },
    });
  });

  test("of permissions is what somebody sees who comes back to the page", async () => {
    const { page } = await app.open(`/d/${app.machine.id}/permissions`);
    const holds = page.getByRole("region", { name: "What holds now" });
    await holds.getByText("not limited here").first().waitFor();
    await set({ denied_tools: ["Write"] });
    const comesBack = async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      return holds.getByText("not limited here, but not Write").count();
    };
    // What is younger than five seconds is not asked anew.
    await expect.poll(comesBack, { timeout: 12_000, interval: 500 }).toBe(1);
  });

  test("in a token stays narrower, and is seen before anything is saved", async () => {
    const wish = { name: "gardener", effects: ["read", "write", "execute"], paths: ["/tmp"] };
    const { id } = await app.relay.request(await owner(), "POST /v1/tokens", createdTokenSchema, wish);
    const other = { name: "another", paths: ["/tmp"] };
    await app.relay.request(await owner(), "POST /v1/tokens", createdTokenSchema, other);
    const { page, faults } = await app.open("/settings/tokens");
    await page.getByRole("button", { name: "Change gardener" }).click();
    await page.getByLabel("Name", { exact: true }).fill("gardener 2");
    await app.relay.request(await owner(), `PATCH /v1/tokens/${id}`, z.unknown(), { effects: ["read"] });
    // Now the page reads all tokens again.
    await page.getByRole("button", { name: "Revoke another" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Revoke/ })
      .click();
    await expect.poll(() => page.getByRole("heading", { name: "another" }).count()).toBe(0);
    const save = page.getByRole("button", { name: /^Save gardener/ });
    await save.click();
    await page.getByRole("alert").getByText("changed elsewhere meanwhile").waitFor();
    await expect.poll(() => page.getByLabel("Run commands").isChecked()).toBe(false);
    await save.click();
    await page.getByText("gardener 2 was changed").waitFor();
    const { tokens } = await app.relay.request(await owner(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.find((token) => token.id === id)).toMatchObject({ name: "gardener 2", effects: ["read"] });
    expect(faults).toEqual([]);
  });

  test("tags that are changed faster than the line is are what was chosen last", async () => {
    const tags = async () =>
      (await app.relay.request(await owner(), `GET ${device()}`, deviceViewSchema)).tags;
    const before = { tags: ["trusted", "home"] };
    await app.relay.request(await owner(), `PATCH ${device()}`, deviceViewSchema, before);
    const { page } = await app.open(`/d/${app.machine.id}`);
    let held: (() => void)[] = [];
    await page.route(`**${device()}`, async (route) => {
      if (route.request().method() === "PATCH") await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.getByRole("combobox", { name: "Tags" }).focus();
    await page.keyboard.press("Backspace");
    await page.keyboard.type("garden");
    await page.keyboard.press("Enter");
    await page.keyboard.type("shed");
    await page.keyboard.press("Enter");
    const settled = async () => {
      for (const go of held) go();
      held = [];
      return tags();
    };
    await expect.poll(settled, { timeout: 10_000 }).toEqual(["trusted", "garden", "shed"]);
    await expect.poll(() => page.getByText("home", { exact: true }).count()).toBe(0);
  });
});
