/** A person lets an AI app in: signing in on the way, choosing, thinking better of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { issuedTokensSchema } from "../../shared/oauth-api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { signInThere, startIssuer } from "../helpers/issuer.ts";
import { startRelay } from "../helpers/relay.ts";
import { expectFitting, expectNoObjections, SCREENS, smallTargets, startApp } from "./app.ts";
import { addMachine, allow, appsNamed, asking, deny, newApp, settled, signInByPastedLink } from "./asked.ts";

const WAITING = "An app wants to use your machines";

describe("an app asks to be let in", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let laptop: string;

  beforeAll(async () => {
    laptop = await addMachine(app.relay, "laptop");
    await addMachine(app.relay, "server");
  });

  test("the person signs in by a pasted link, chooses, and the app gets its token", async () => {
    const asker = await newApp(app.relay);
    const id = await asker.register();
    const opened = await app.openSignedOut("", { screen: "phone" });
    const { page, faults } = opened;
    await page.goto(asker.address(id));
    await page.getByText(WAITING).waitFor();
    await expectNoObjections(opened);
    await signInByPastedLink(page, app.relay);

    await asking(page).waitFor();
    await page.getByText("Not verified").waitFor();
    await page.getByText("a program on the computer where this browser runs").waitFor();
    await page.getByLabel("laptop").check();
    await page.getByLabel("Folders, one a line").fill("~/projects\n~/notes");
    await page.getByLabel("Change files").check();
    await page.getByLabel("Ends").selectOption("7");
    await page.getByLabel("Name in your list").fill("helper");
    await allow(page).click();

    const back = await asker.returned;
    await page.getByText("Back in the app").waitFor();
    expect(back.get("state")).toBe("the state");
    expect(back.get("iss")).toBe(app.relay.url);
    const response = await asker.trade(id, back.get("code") ?? "");
    expect(issuedTokensSchema.parse(await response.json()).expires_in).toBe(3600);
    const [made] = await appsNamed(app.relay, "helper");
    expect(made).toMatchObject({
      devices: [laptop],
      paths: ["~/projects", "~/notes"],
      effects: ["read", "write"],
      ask: [{ effects: ["write", "execute"] }],
      client: { id, name: "Some assistant", host: null },
    });
    expect(Date.parse(made?.expires ?? "")).toBeLessThan(Date.now() + 8 * 24 * 60 * 60_000);

    // The way back does not ask again what was answered.
    await page.goto(`${app.relay.url}/settings/tokens`);
    const row = page.getByRole("listitem").filter({ hasText: "helper" });
    await row.getByText("AI app, not verified").waitFor();
    await page.getByRole("button", { name: "Revoke helper" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("helper was revoked.").waitFor();
    expect(await appsNamed(app.relay, "helper")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("a sign-in link in place of the page, or in another tab, leads back to the request", async () => {
    const asker = await newApp(app.relay);
    const { page, faults } = await app.openSignedOut("");
    await page.goto(asker.address(await asker.register("Second app")));
    await page.getByText(WAITING).waitFor();
    const other = await page.context().newPage();
    await other.goto(await app.relay.signInLink());
    await asking(page, "Second app").waitFor();
    await asking(other, "Second app").waitFor();
    // It is asked once.
    await other.goto(app.relay.url);
    await other.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("an issuer's page leads back to the request too", async () => {
    const issuer = await startIssuer();
    const dataDir = temporaryFolder();
    const entry = { ...issuer.client, issuer: issuer.url, local: true, accounts: { ann: "owner" } };
    writeFileSync(join(dataDir, "oidc.json"), JSON.stringify([{ ...entry, id: "home", name: "Our home" }]));
    await using relay = await startRelay({ dataDir });
    issuer.register(relay.url, "home");
    try {
      const asker = await newApp(relay);
      const { page, faults } = await app.openSignedOut("");
      // The provider's pages ask for a font of the internet, which is not there.
      await page.context().route(/googleapis/, (route) => route.abort());
      await page.goto(asker.address(await asker.register("Patient app")));
      await page.getByRole("button", { name: "Sign in with Our home" }).click();
      await signInThere(page, "ann");
      await asking(page, "Patient app").waitFor();
      expect(faults).toEqual([]);
    } finally {
      await issuer.stop();
    }
  });

  test("it only reads unless the person wants more, and nothing is chosen for them", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("Modest")));
    await asking(page, "Modest").waitFor();
    await expect.poll(() => page.getByRole("checkbox", { checked: true }).count()).toBe(1);
    await expect.poll(() => page.getByLabel("Read files and look around").isChecked()).toBe(true);
    await expect.poll(() => page.getByLabel("Folders, one a line").inputValue()).toBe("");
    await allow(page).click();
    await page.getByRole("alert").getByText("Choose at least one machine.").waitFor();
    await page.getByLabel("server").check();
    await allow(page).click();
    await page.getByRole("alert").getByText("Name at least one folder.").waitFor();
    expect(await appsNamed(app.relay, "Modest")).toEqual([]);
    await page.getByLabel("Folders, one a line").fill("~/projects");
    await allow(page).click();
    await asker.returned;
    const [made] = await appsNamed(app.relay, "Modest");
    expect(made).toMatchObject({ effects: ["read"], paths: ["~/projects"] });
  });

  test("machines of the same name are told apart", async () => {
    const ids = [await addMachine(app.relay, "twin"), await addMachine(app.relay, "twin")];
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("Careful")));
    await asking(page, "Careful").waitFor();
    for (const id of ids) await page.getByRole("checkbox", { name: `twin (${id})`, exact: true }).waitFor();
  });

  test("who asks for one machine is offered that one", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    const resource = `${app.relay.url}/mcp/d/${laptop}`;
    await page.goto(asker.address(await asker.register("One machine"), { resource }));
    await asking(page, "One machine").waitFor();
    await expect.poll(() => page.getByLabel("laptop").isChecked()).toBe(true);
    await expect.poll(() => page.getByLabel("server").count()).toBe(0);
    await page.getByText("In every folder").click();
    await allow(page).click();
    await asker.returned;
    const [made] = await appsNamed(app.relay, "One machine");
    expect(made).toMatchObject({ devices: [laptop], paths: null });
  });

  test("a machine of somebody else's can only be refused", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    const resource = `${app.relay.url}/mcp/d/other-0000000000`;
    await page.goto(asker.address(await asker.register(), { resource }));
    await page.getByText("not among yours").waitFor();
    await expect.poll(() => allow(page).count()).toBe(0);
    await deny(page).click();
    expect((await asker.returned).get("error")).toBe("access_denied");
  });

  test("by keyboard alone, no is an answer too", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("Unwanted")));
    await asking(page, "Unwanted").waitFor();
    await settled(page);
    await deny(page).focus();
    await page.keyboard.press("Enter");
    const back = await asker.returned;
    expect(back.get("error")).toBe("access_denied");
    expect(back.get("iss")).toBe(app.relay.url);
    expect(await appsNamed(app.relay, "Unwanted")).toEqual([]);
  });

  test("a program that opens addresses of its own is said to do so, and the page says that it is done", async () => {
    const asker = await newApp(app.relay);
    const redirect = "com.example.app://localhost/callback";
    const { page, faults } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("Desktop app", redirect), { redirect_uri: redirect }));
    await asking(page, "Desktop app").waitFor();
    await page.getByText("the program that opens com.example.app: addresses on this computer").waitFor();
    await deny(page).click();
    await page.getByRole("heading", { name: "Not connected" }).waitFor();
    await page.getByText("You denied it: it gets nothing.").waitFor();
    expect(faults).toEqual([]);
  });

  test("a page whose files do not come says so, and can be loaded again", async () => {
    const asker = await newApp(app.relay);
    const address = asker.address(await asker.register());
    const { page } = await app.openSignedOut("");
    await page.route("**/assets/ConsentPage-*.js", (route) => route.abort());
    let loads = 0;
    page.on("load", () => loads++);
    await page.goto(address);
    // It loads itself again, once. How often the browser asks for a file in each load is its own affair.
    await expect.poll(() => loads).toBe(2);
    await page.getByText("Nothing was allowed.").waitFor();
    expect(loads).toBe(2);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Reload the page" }).click();
    await page.getByText(WAITING).waitFor();
  });

  test("a wrong request leads nowhere", async () => {
    const asker = await newApp(app.relay);
    const id = await asker.register();
    const opened = await app.openSignedOut("");
    const { page } = opened;
    await page.goto(asker.address(id, { redirect_uri: "https://evil.example/" }));
    await page.getByText("This app can't be connected").waitFor();
    await expectNoObjections(opened);
    await expect.poll(() => page.getByRole("link").count()).toBe(0);
    await page.goto(asker.address(id, { code_challenge_method: "plain" }));
    await expectFitting(opened);
    await page.getByRole("link", { name: /Back to 127/ }).click();
    expect((await asker.returned).get("error")).toBe("invalid_request");
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const asker = await newApp(app.relay);
    const opened = await app.open("/fleet", { screen });
    const { page } = opened;
    const name = "An assistant whose name is much longer than any phone is wide";
    await page.goto(asker.address(await asker.register(name)));
    await asking(page, name).waitFor();
    await page.getByText("More options").click();
    await page.getByLabel("Run commands").check();
    await settled(page);
    await expectNoObjections(opened);
    if (screen !== "phone") return;
    expect(await smallTargets(page, "main button, main .mantine-Input-input, main summary", 36)).toEqual([]);
    for (const answer of [allow(page), deny(page)])
      expect((await answer.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await page.setViewportSize({ width: 320, height: SCREENS.phone.viewport.height });
    await settled(page);
    await expectFitting(opened);
  });
});
