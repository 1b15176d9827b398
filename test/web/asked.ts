/** The page where an app asks to be let in, as a person finds it, and what the account says afterwards. */
import type { Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { type TokenView, tokenListSchema } from "../../shared/token-api.ts";
import { type OauthApp, startOauthApp } from "../helpers/oauth-app.ts";
import type { TestRelay } from "../helpers/relay.ts";

/** An app for one test. */
export async function newApp(relay: TestRelay): Promise<OauthApp> {
  const app = await startOauthApp(relay.url);
  onTestFinished(() => app[Symbol.asyncDispose]());
  return app;
}

/** A machine that is never online. Returns its id. */
export async function addMachine(relay: TestRelay, name: string): Promise<string> {
  const schema = z.object({ device: z.object({ id: z.string() }) });
  return (await relay.request(await relay.signIn(), "POST /v1/devices", schema, { name })).device.id;
}

/** The account's tokens that an app holds, by their name there. */
export async function appsNamed(relay: TestRelay, name: string): Promise<TokenView[]> {
  const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
  return tokens.filter((token) => token.client && token.name === name);
}

export function asking(page: Page, name = "Some assistant"): Locator {
  return page.getByRole("heading", { level: 1, name: `Connect ${name}?` });
}

export function allow(page: Page): Locator {
  return page.getByRole("button", { name: "Allow", exact: true });
}

export function deny(page: Page): Locator {
  return page.getByRole("button", { name: "Deny", exact: true });
}

/** The buttons take presses: nothing has moved for a while. */
export function settled(page: Page): Promise<void> {
  return page.locator("button[aria-disabled]").first().waitFor({ state: "detached" });
}

export async function signInByPastedLink(page: Page, relay: TestRelay): Promise<void> {
  await page.getByLabel("Paste the link here").fill(await relay.signInLink());
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
