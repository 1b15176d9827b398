/** A person lets an AI app in, on a phone: signing in on the way, choosing, thinking better of it. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { issuedTokensSchema } from "../../shared/oauth-api.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { type OauthApp, startOauthApp } from "../helpers/oauth-app.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'">`;
const PHONE = { width: 320, height: 640 };

describe("an app asks to be let in", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let browser: Browser;
  let page: Page;
  let faults: string[];
  let app: OauthApp;
  let laptop: string;

  beforeAll(async () => {
    relay = await startRelay();
    laptop = await addDevice("laptop");
    await addDevice("server");
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
  });
  beforeEach(async () => {
    faults = [];
    app = await startOauthApp(relay.url);
    page = await newPage();
    return async () => {
      await app[Symbol.asyncDispose]();
      expect(faults).toEqual([]);
    };
  });

  async function addDevice(name: string): Promise<string> {
    const schema = z.object({ device: z.object({ id: z.string() }) });
    return (await relay.request(await relay.signIn(), "POST /v1/devices", schema, { name })).device.id;
  }

  async function newPage(colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const context = await browser.newContext({ viewport: PHONE, colorScheme });
    onTestFinished(() => context.close());
    const made = await context.newPage();
    made.on("pageerror", (error) => faults.push(error.message));
    made.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return made;
  }

  async function signIn(): Promise<void> {
    await page.goto(await relay.signInLink());
    await page.getByText("Signed in as owner").waitFor();
  }

  const question = (name = "Some assistant") => page.getByRole("heading", { name: `Connect ${name}?` });
  const allow = () => page.getByRole("button", { name: "Allow", exact: true });

  /** The buttons take presses: nothing has moved for a while. */
  const settled = () => page.locator("[aria-disabled]").first().waitFor({ state: "detached" });

  async function apps() {
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    return tokens.filter(({ client }) => client);
  }

  test("signs in by a pasted link, chooses, and the app gets its token", async () => {
    const id = await app.register();
    await page.goto(app.address(id));
    await page.getByText("An app wants to use your devices").waitFor();
    expect(await objections(page)).toEqual([]);
    await page.getByLabel("Or paste the link here").fill(await relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();

    await question().waitFor();
    await page.getByText("Not verified").waitFor();
    await page.getByText("a program on the computer where this browser runs").waitFor();
    await page.getByLabel("laptop").check();
    await page.getByLabel("Folders it may work in").fill("~/projects\n~/notes");
    await page.getByLabel("It may change files", { exact: true }).check();
    await page.getByLabel("Until").selectOption({ label: "In 30 days" });
    await page.getByLabel("Name in your list").fill("helper");
    await allow().click();

    const back = await app.returned;
    await page.getByText("Back in the app").waitFor();
    expect(back.get("state")).toBe("the state");
    expect(back.get("iss")).toBe(relay.url);
    const response = await app.trade(id, back.get("code") ?? "");
    expect(issuedTokensSchema.parse(await response.json()).expires_in).toBe(3600);
    const [made] = (await apps()).filter(({ name }) => name === "helper");
    expect(made).toMatchObject({
      devices: [laptop],
      paths: ["~/projects", "~/notes"],
      effects: ["read", "write"],
      ask: [{ effects: ["write", "execute"] }],
      client: { id, name: "Some assistant", host: null },
    });

    // The way back does not ask again what was answered.
    await page.goto(relay.url);
    const row = page.getByRole("listitem").filter({ hasText: "helper" });
    await row.getByText("AI app, not verified").waitFor();
    await page.getByRole("button", { name: "Revoke helper" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("helper was revoked.").waitFor();
    expect((await apps()).map(({ name }) => name)).not.toContain("helper");
  });

  test("a sign-in that leads through another page comes back to the app's request", async () => {
    await page.goto(app.address(await app.register("Second app")));
    await page.getByText("An app wants to use your devices").waitFor();
    await page.goto(await relay.signInLink());
    await question("Second app").waitFor();
    // It is asked once.
    await page.goto(relay.url);
    await page.getByRole("heading", { name: "Access" }).waitFor();
  });

  test("it only reads unless the person wants more, and nothing is chosen for them", async () => {
    await signIn();
    await page.goto(app.address(await app.register("Modest")));
    await question("Modest").waitFor();
    expect(await page.getByLabel("laptop").isChecked()).toBe(false);
    expect(await page.getByLabel("It may run commands").isChecked()).toBe(false);
    await page.getByLabel("Folders it may work in").fill("~/projects");
    await allow().click();
    // No device is chosen: the browser says so, and nothing is sent.
    expect(await page.evaluate("document.querySelector('input[type=checkbox]').validationMessage")).toBe(
      "Choose at least one device",
    );
    expect((await apps()).map(({ name }) => name)).not.toContain("Modest");
    await page.getByLabel("server").check();
    await allow().click();
    await app.returned;
    const [made] = (await apps()).filter(({ name }) => name === "Modest");
    expect(made).toMatchObject({ effects: ["read"] });
  });

  test("who asks for one device is offered that one", async () => {
    await signIn();
    const resource = `${relay.url}/mcp/d/${laptop}`;
    await page.goto(app.address(await app.register("One device"), { resource }));
    await question("One device").waitFor();
    expect(await page.getByLabel("laptop").isChecked()).toBe(true);
    expect(await page.getByLabel("server").count()).toBe(0);
    await page.getByLabel("Folders it may work in").fill("/");
    await allow().click();
    await app.returned;
    const [made] = (await apps()).filter(({ name }) => name === "One device");
    expect(made).toMatchObject({ devices: [laptop] });
  });

  test("a device of somebody else's can only be refused", async () => {
    await signIn();
    const resource = `${relay.url}/mcp/d/other-0000000000`;
    await page.goto(app.address(await app.register(), { resource }));
    await page.getByText("not among yours").waitFor();
    expect(await allow().count()).toBe(0);
    await page.getByRole("button", { name: "Don't allow" }).click();
    expect((await app.returned).get("error")).toBe("access_denied");
  });

  test("by keyboard alone, no is an answer too", async () => {
    await signIn();
    await page.goto(app.address(await app.register("Unwanted")));
    await question("Unwanted").waitFor();
    await settled();
    await page.getByRole("button", { name: "Don't allow" }).focus();
    await page.keyboard.press("Enter");
    const back = await app.returned;
    expect(back.get("error")).toBe("access_denied");
    expect(back.get("iss")).toBe(relay.url);
    expect((await apps()).map(({ name }) => name)).not.toContain("Unwanted");
  });

  test("a name is text, and a press by a script is none", async () => {
    await signIn();
    await page.goto(app.address(await app.register(HOSTILE)));
    await page.getByText(HOSTILE).waitFor();
    expect(await page.title()).toContain("Connect an app");
    await settled();
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((one) => one.textContent === \"Don't allow\").click()",
    );
    await question(HOSTILE).waitFor();
    expect(page.url()).toContain("/authorize");
  });

  test("a wrong request leads nowhere", async () => {
    const id = await app.register();
    await page.goto(app.address(id, { redirect_uri: "https://evil.example/" }));
    await page.getByText("This app can't be connected").waitFor();
    expect(await objections(page)).toEqual([]);
    expect(await page.getByRole("link").count()).toBe(0);
    await page.goto(app.address(id, { code_challenge_method: "plain" }));
    await page.getByRole("link", { name: /Back to 127/ }).click();
    expect((await app.returned).get("error")).toBe("invalid_request");
  });

  test.each(["light", "dark"] as const)(
    "axe finds nothing to object to, and nothing is too wide: %s",
    async (scheme) => {
      page = await newPage(scheme);
      await signIn();
      await page.goto(
        app.address(await app.register("An assistant whose name is much longer than any phone is wide")),
      );
      await page.getByRole("heading", { name: /Connect An assistant/ }).waitFor();
      await page.getByText("Only some tools").click();
      await settled();
      expect(await objections(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(PHONE.width);
    },
  );
});
