/** An app that is open while the relay's keys are replaced: it goes on by its cookie and its key. */
import { describe, expect, test } from "vitest";
import { parseKeys, rotated } from "../../scripts/rotate/keys.ts";
import { makeClaimSecret, replaceSecrets } from "../../scripts/start/secrets.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { startApp } from "./app.ts";

describe("an app whose relay has new keys", NEEDS_CHROMIUM, () => {
  const app = startApp();

  test("stays signed in: its account link is back by itself, and its buttons work", async () => {
    const { relay } = app;
    const { page, faults } = await app.openAlone("/fleet");
    let hellos = 0;
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (String(payload).includes('"hello"')) hellos++;
      }),
    );
    await page.goto(`${relay.url}/settings/account`);
    await page.getByText("Signed in as owner").waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    await expect.poll(() => hellos).toBeGreaterThan(0);

    const keys = await rotated(parseKeys(relay.secrets.relayKeys), Date.now());
    replaceSecrets(relay.dataDir, { relayKeys: JSON.stringify(keys), claimSecret: makeClaimSecret() });
    const before = hellos;
    await relay.kill();
    await expect.poll(() => hellos).toBeGreaterThan(before);
    await page.getByText("Connected", { exact: true }).waitFor();

    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/recovery-codes"));
    await page.reload();
    await page.getByText("Signed in as owner").waitFor();
    expect((await answered).status()).toBe(200);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    expect(faults).toEqual([]);
  });
});
