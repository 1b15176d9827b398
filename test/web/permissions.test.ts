/** A machine's permissions in the app: limited, explained, refused when they are wrong. */
import { describe, expect, test } from "vitest";
import { policySetSchema } from "../../shared/policy.ts";
import { createdTokenSchema } from "../../shared/token-api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { startApp } from "./app.ts";

describe("permissions", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const stored = async () =>
    app.relay.request(await app.relay.signIn(), `GET /v1/devices/${app.machine.id}/policy`, policySetSchema);

  test("a limit is shown in words before it is saved, holds at once, and is lifted again", async () => {
    const { page, faults } = await app.open(`/d/${app.machine.id}/permissions`);
    const results = page.getByRole("region", { name: /What (holds now|would result)/ });
    await page.locator("input").and(page.getByLabel("Never these tools")).fill("Delete");
    await page.locator("input").and(page.getByLabel("Never these tools")).press("Enter");
    await results.getByText("not limited here, but not Delete").waitFor();
    expect(await stored()).toEqual({});
    await results.getByRole("button", { name: "Save" }).click();
    await page.getByText("The permissions were saved").waitFor();
    expect(await stored()).toEqual({ denied_tools: ["Delete"] });

    const who = page.getByRole("region", { name: "Who may do what" });
    await who.getByLabel("Calls").selectOption("Delete");
    await who.getByText("Refused", { exact: true }).waitFor();
    await who.getByText("refuses (decides)").waitFor();

    await page
      .getByRole("group", { name: "Tools", exact: true })
      .or(page.getByRole("radiogroup", { name: "Tools", exact: true }))
      .getByLabel("Only these")
      .check();
    await page.getByText("An empty list allows nothing.").waitFor();
    await results.getByRole("button", { name: "Discard" }).click();
    await results.getByText("not limited here, but not Delete").waitFor();
    expect(faults).toEqual([]);
  });

  test("what is wrong is said, and stays to be corrected", async () => {
    const { page } = await app.open(`/d/${app.machine.id}/permissions`);
    await page.locator("input").and(page.getByLabel("Never these paths")).fill("no/full/path");
    await page.locator("input").and(page.getByLabel("Never these paths")).press("Enter");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/full path/)
      .waitFor();
    await page.getByText("no/full/path", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
  });

  test("a rule that asks is made, and explained for a token", async () => {
    const owner = await app.relay.signIn();
    await app.relay.request(owner, "POST /v1/tokens", createdTokenSchema, {
      name: "helper",
      paths: ["/tmp"],
    });
    const { page, faults } = await app.open(`/d/${app.machine.id}/permissions`);
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Whose path, command or address matches").fill("*git push*");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The permissions were saved").waitFor();
    expect((await stored()).ask).toEqual([{ effects: ["write", "execute"], match: "*git push*" }]);
    const who = page.getByRole("region", { name: "Who may do what" });
    await who.getByLabel("Who").selectOption("helper");
    await who.getByText("Asks first", { exact: true }).waitFor();
    await who
      .getByText(/in the sandbox/)
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });
});
