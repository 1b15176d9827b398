/** Settings in the app: who is signed in where, and who else has access. */
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";

describe("settings", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("a token for an AI reads only unless more is chosen, is shown once, works, and is revoked", async () => {
    const { page, faults } = await app.open("/settings/tokens");
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("page test");
    await page.getByLabel("Folders it may work in").fill("/tmp");
    await page.getByRole("button", { name: "Create AI token" }).click();
    const token = (await page.getByRole("group", { name: "The new token" }).textContent()) ?? "";
    const ask = (path: string, body?: object) =>
      fetch(`${app.relay.url}${path}`, {
        method: body ? "POST" : "GET",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await ask("/v1/account")).status).toBe(200);
    const bash = await ask(`/v1/devices/${app.machine.id}/tools/Bash`, { command: "true" });
    expect(await bash.json()).toMatchObject({ code: "PERMISSION_DENIED" });
    await page.getByRole("button", { name: "Revoke page test" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("page test was revoked.").waitFor();
    expect((await ask("/v1/account")).status).toBe(401);
    expect(faults).toEqual([]);
  });

  test("a script's token comes with a warning, and only after it was understood", async () => {
    const { page } = await app.open("/settings/tokens");
    await page.getByRole("button", { name: "New token for my script" }).click();
    await page.getByText("Never give it to an AI.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("backup");
    expect(await page.getByRole("button", { name: "Create script token" }).isDisabled()).toBe(true);
    await page.getByLabel("It is for a script of my own").check();
    await page.getByRole("button", { name: "Create script token" }).click();
    await page.getByRole("group", { name: "The new token" }).waitFor();
  });

  test("another browser's session is seen, and ended there at once", async () => {
    const other = await app.open("/fleet");
    const { page } = await app.open("/settings/account");
    const sessions = page.getByRole("list", { name: "Signed in" });
    await sessions.getByText("This browser").waitFor();
    await page.getByRole("button", { name: /everywhere else/i }).click();
    await page.getByRole("dialog").getByRole("button").last().click();
    await other.page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await other.page.getByText("You were signed out here").waitFor();
  });

  test("dark or light is remembered", async () => {
    const { page } = await app.open("/settings/appearance", { dark: true });
    await page.getByLabel("Light").check();
    await page.reload();
    await page.locator('html[data-mantine-color-scheme="light"]').waitFor({ state: "attached" });
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    for (const dark of [true, false])
      for (const path of [
        "/settings",
        "/settings/account",
        "/settings/tokens",
        "/settings/appearance",
        "/settings/about",
      ]) {
        const opened = await app.open(path, { screen, dark });
        await opened.page.getByText("Connected", { exact: true }).waitFor();
        await expectNoObjections(opened);
      }
  });
});
