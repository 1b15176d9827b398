/** A page that is open while the relay's keys are replaced: it goes on by its cookie and its key. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseKeys, rotated } from "../../scripts/rotate/keys.ts";
import { makeClaimSecret, replaceSecrets } from "../../scripts/start/secrets.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { until } from "../helpers/launcher.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";

describe("a page whose relay has new keys", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let browser: Browser;

  beforeAll(async () => {
    relay = await startRelay();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
  });

  test("stays signed in: its account link is back by itself, and its buttons work", async () => {
    const page = await browser.newPage();
    let hellos = 0;
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (String(payload).includes('"hello"')) hellos++;
      }),
    );
    await page.goto(await relay.signInLink());
    await page.getByText("Signed in as owner").waitFor();
    await until("the account link stands", () => hellos > 0);

    const keys = await rotated(parseKeys(relay.secrets.relayKeys), Date.now());
    const secrets = { relayKeys: JSON.stringify(keys), claimSecret: makeClaimSecret() };
    replaceSecrets(relay.dataDir, secrets);
    const before = hellos;
    await relay.kill();
    await until("the account link is back", () => hellos > before);

    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/recovery-codes"));
    await page.reload();
    await page.getByText("Signed in as owner").waitFor();
    expect((await answered).status()).toBe(200);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  });
});
