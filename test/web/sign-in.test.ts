/** The app's door: links that sign in, codes that wait, machines that are added. */
import { describe, expect, test } from "vitest";
import { polledPairingSchema, startedPairingSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { APP, expectNoObjections, startApp } from "./app.ts";

const PUBLIC_KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

describe("the app's door", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const linkTo = async () => `${app.relay.url}${APP}#${(await app.relay.signInLink()).split("#")[1]}`;

  test("a sign-in link signs in once, and its code leaves the address", async () => {
    const link = await linkTo();
    const { page, faults } = await app.openSignedOut("");
    await page.goto(link);
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(page.url()).toBe(`${app.relay.url}${APP}/fleet`);
    const other = await app.openSignedOut("");
    await other.page.goto(link);
    await other.page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await other.page
      .getByRole("status", { name: "News" })
      .getByText(/used|link/i)
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  test("a pasted link signs in, and a wrong one is refused and stays", async () => {
    const { page } = await app.openSignedOut("/fleet");
    await page.getByLabel("Paste the link here").fill("nonsense");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await expect.poll(() => page.getByLabel("Paste the link here").inputValue()).toBe("nonsense");
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
  });

  test("signed out, it has no objections on desktop and phone", async () => {
    for (const screen of ["desktop", "phone"] as const) {
      const opened = await app.openSignedOut("/fleet", { screen });
      await opened.page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
      await expectNoObjections(opened);
    }
  });

  test("opens without a request that is refused, whether somebody is signed in or nobody", async () => {
    const signedIn = await app.openAlone("/fleet");
    const nobody = await app.openSignedOut("/fleet");
    for (const [{ page }, title] of [
      [signedIn, "Your machines"],
      [nobody, "Sign in to Matrx Relay"],
    ] as const) {
      const refused: string[] = [];
      page.on("response", (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      await page.reload();
      await page.getByRole("heading", { name: title }).waitFor();
      expect(refused).toEqual([]);
    }
    await signedIn.page.getByText("Connected", { exact: true }).waitFor();
  });

  test("whoever is not signed in loads none of the app's pages", async () => {
    const { page } = await app.openSignedOut("");
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    expect(loaded.filter((url) => /\/SignInPage-.*\.js$/.test(url)).length).toBe(1);
    expect(loaded.filter((url) => /\/FleetPage-/.test(url))).toEqual([]);
  });

  test("the frame and the connection do not wait for the page's own file", async () => {
    const { page } = await app.openAlone("/fleet");
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route("**/assets/FleetPage-*.js", async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByRole("navigation").first().waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    await expect.poll(() => page.locator("#page-title").count()).toBe(0);
    letGo();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("page-title");
  });

  test("a machine's code waits for the sign-in, is shown with its key, and the machine is added", async () => {
    const pairing = await app.relay.request(undefined, "POST /v1/pairings", startedPairingSchema, {
      name: "attic",
      hostname: "attic.local",
      os: "Linux",
      os_version: "6.1",
      public_key: PUBLIC_KEY,
    });
    const { page, faults } = await app.openSignedOut("");
    await page.goto(`${app.relay.url}${APP}#pair=${pairing.code}`);
    await page.getByText("Something is waiting for your approval").waitFor();
    await page.getByText(pairing.code).waitFor();
    await page.getByLabel("Paste the link here").fill(await app.relay.signInLink());
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("region", { name: "Add this machine?" }).getByText(pairing.code).waitFor();
    await page.getByText("attic.local").waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "attic was added" }).waitFor();
    await page.getByText("Waiting for it to connect").waitFor();
    const polled = await app.relay.request(
      undefined,
      `POST /v1/pairings/${pairing.code}/poll`,
      polledPairingSchema,
      {
        secret: pairing.secret,
      },
    );
    expect(polled).toMatchObject({ status: "paired", name: "attic" });
    expect(faults).toEqual([]);
  });

  test("a command line whose link came from elsewhere is approved by typing its code", async () => {
    const login = await app.relay.request(undefined, "POST /v1/logins", startedPairingSchema, {
      name: "cli",
    });
    const { page } = await app.openAlone("/fleet");
    await page.goto(`${app.relay.url}${APP}#pair=${login.code}`);
    await page.getByRole("region", { name: "Sign in this command line?" }).waitFor();
    await page.getByLabel("Code", { exact: true }).fill("AAAA-BBBB");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("That is not the code of this request.").waitFor();
    await page.getByLabel("Code", { exact: true }).fill(login.code.toLowerCase().replace("-", " "));
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("cli is signed in.").waitFor();
  });

  test("a program of one's own gets an id and a token", async () => {
    const { page, faults } = await app.openAlone("/pair");
    await page.getByRole("button", { name: "Your own program, without our agent" }).click();
    await page.getByLabel("Name", { exact: true }).fill("my robot");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Its token, shown only this once:").waitFor();
    await page.getByText(/ws:\/\/.*\/v1\/device\/ws\?device=my-robot-/).waitFor();
    expect(faults).toEqual([]);
  });
});
