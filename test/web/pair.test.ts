/** Codes in the app: machines that ask to be added, command lines that ask to sign in, and the code for another browser. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { polledPairingSchema, startedPairingSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { askToPair } from "../helpers/machine.ts";
import { APP, expectNoObjections, startApp } from "./app.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("codes", NEEDS_CHROMIUM, () => {
  const app = startApp();

  function machineAsks(name: string, key: string) {
    const wish = {
      name,
      hostname: `${name}.local`,
      os: "linux",
      os_version: "12",
      public_key: key.repeat(43),
    };
    return app.relay.request(undefined, "POST /v1/pairings", startedPairingSchema, wish);
  }

  function commandLineAsks() {
    return app.relay.request(undefined, "POST /v1/logins", startedPairingSchema, { name: "cli on laptop" });
  }

  async function stateOf({ code, secret }: { code: string; secret: string }) {
    const line = `POST /v1/pairings/${code}/poll` as const;
    return (await app.relay.request(undefined, line, polledPairingSchema, { secret })).status;
  }

  async function type(page: Page, code: string): Promise<void> {
    await page.getByLabel("Code from the machine or command line").fill(code);
    await page.getByRole("button", { name: "Look up" }).click();
  }

  const machinePanel = (page: Page) => page.getByRole("region", { name: "Add this machine?" });
  const loginPanel = (page: Page) => page.getByRole("region", { name: "Sign in this command line?" });
  const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");

  test("a machine's code shows what asks, as text, and is confirmed by hand", async () => {
    const { code } = await machineAsks(HOSTILE, "A");
    const opened = await app.open("/pair");
    const { page } = opened;
    await page.getByText(`Only this computer can reach the relay at ${app.relay.url}.`).waitFor();
    await type(page, code);
    await machinePanel(page).getByText("the machine shows the same code and key").waitFor();
    const facts = (await machinePanel(page).locator("dl").textContent()) ?? "";
    expect(facts).toContain(HOSTILE);
    expect(facts).toContain(code);
    expect(facts).toMatch(/Key[\w:+/= -]{8,}/);
    expect(facts).toMatch(/For the account.*owner/);
    await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: `${HOSTILE} was added` }).waitFor();
    await expect.poll(() => focused(page)).toBe(`${HOSTILE} was added`);
    expect(page.url()).not.toContain(code);
    await page.getByRole("link", { name: `Open ${HOSTILE}` }).click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await expect.poll(() => page.title()).toBe(`${HOSTILE} · Matrx Relay`);
    expect(opened.faults).toEqual([]);
  });

  test("a machine that is called like another one is followed until it has connected", async () => {
    const { name } = app.machine;
    const asking = await askToPair(app.relay, temporaryFolder(), name);
    const { page, faults } = await app.open("/pair");
    await type(page, asking.code);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Waiting for it to connect.").waitFor();
    const agent = await asking.connect();
    try {
      await page.getByText("The machine is connected and ready.").waitFor();
      await page.getByRole("link", { name: `Open ${name}` }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(page.url()).not.toContain(app.machine.id);
    } finally {
      await agent.stop();
    }
    expect(faults).toEqual([]);
  });

  test("a link to a login signs nobody in by a click: its code is typed, and what it allows is said", async () => {
    const started = await commandLineAsks();
    const opened = await app.open("/fleet");
    const { page } = opened;
    await page.goto(started.verification_uri);
    await loginPanel(page).waitFor();
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("cli on laptop");
    expect(text).toContain("run commands and change files on all your machines");
    expect(text).not.toContain(started.code);
    const yes = page.getByRole("button", { name: "Approve" });
    await yes.click();
    await page.getByLabel("Code", { exact: true }).fill("ABCD-EFGH");
    await yes.click();
    const news = page.getByRole("status", { name: "News" });
    await news.getByText("That is not the code of this request.").waitFor();
    await news.getByText("someone else is asking: choose Not now").waitFor();
    await expect.poll(() => stateOf(started)).toBe("pending");
    await expectNoObjections(opened);
    await page.getByLabel("Code", { exact: true }).fill(started.code.toLowerCase().replace("-", " "));
    await yes.click();
    await page.getByText("cli on laptop is signed in.").waitFor();
    await expect.poll(() => stateOf(started)).toBe("signed_in");
    expect(opened.faults).toEqual([]);
  });

  test("a login's code that was typed here needs no more than a click", async () => {
    const started = await commandLineAsks();
    const { page, faults } = await app.open("/pair");
    await type(page, started.code.toLowerCase());
    await loginPanel(page).getByRole("button", { name: "Approve" }).click();
    await page.getByText("cli on laptop is signed in.").waitFor();
    await expect.poll(() => stateOf(started)).toBe("signed_in");
    // The next link is another matter.
    const other = await commandLineAsks();
    await page.goto(other.verification_uri);
    await loginPanel(page).getByLabel("Code", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("heading", { name: "Add a machine" }).waitFor();
    await expect.poll(() => stateOf(other)).toBe("pending");
    expect(faults).toEqual([]);
  });

  test.each(["pasted", "opened in another tab"])(
    "who is signed out sees that a machine waits, and comes back to it by a link that is %s",
    async (how) => {
      const started = await machineAsks("nas", "B");
      const opened = await app.openSignedOut("");
      const { page } = opened;
      await page.goto(started.verification_uri);
      await page.getByText("Something is waiting for your approval").getByText(started.code).waitFor();
      const [, claim] = (await app.relay.signInLink()).split("#");
      const link = `${app.relay.url}${APP}#${claim}`;
      let seen = page;
      if (how === "pasted") {
        await expectNoObjections(opened);
        await page.getByLabel("Paste the link here").fill(link);
        await page.getByRole("button", { name: "Sign in", exact: true }).click();
      } else {
        seen = await page.context().newPage();
        await seen.goto(link);
        // Anybody can send a link, and the machine would be theirs.
        await seen.getByRole("dialog").getByText("This link signs you in as owner.").waitFor();
        await seen.getByRole("button", { name: "Sign in as owner" }).click();
        // The page that was there before has it, too.
        await machinePanel(page).waitFor();
      }
      await machinePanel(seen).getByText("nas.local").waitFor();
      await seen.getByRole("button", { name: "Not now" }).click();
      await seen.getByRole("heading", { name: "Add a machine" }).waitFor();
      expect(seen.url()).not.toContain(started.code);
      await seen.goto(`${app.relay.url}${APP}/fleet`);
      await seen.getByRole("heading", { name: "Your machines" }).waitFor();
      await expect.poll(() => stateOf(started)).toBe("pending");
      expect(opened.faults).toEqual([]);
    },
  );

  test("a link to what is no code shows nothing of it", async () => {
    const link = `${app.relay.url}${APP}#pair=${encodeURIComponent("<b>call 555 now to sign in</b>")}`;
    const { page } = await app.openSignedOut("");
    await page.goto(link);
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    await page.getByText("That link has no valid code.").waitFor();
    await expect.poll(() => page.locator("body").textContent()).not.toContain("555");
  });

  test("a wrong code is said, and the app goes on", async () => {
    const opened = await app.open("/pair");
    const { page } = opened;
    await type(page, "ABC");
    await page.getByText("That is no code. It has 8 letters and digits, such as ABCD-EFGH.").waitFor();
    await type(page, "ZZZZ-ZZZZ");
    await page.getByRole("alert").getByText(/code/).first().waitFor();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByLabel("Code from the machine or command line").waitFor();
    await page.goto(`${app.relay.url}${APP}#pair=ZZZZ-ZZZZ`);
    await page.getByRole("alert").getByText(/code/).first().waitFor();
    await page.getByRole("link", { name: "Machines" }).first().click();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
    expect(opened.faults).toEqual([]);
  });

  test("another device is signed in by a code that this one shows, once", async () => {
    const opened = await app.open("/settings/account");
    const { page } = opened;
    await page
      .getByRole("region", { name: "Sign in another device" })
      .getByRole("button", { name: "Make a link" })
      .click();
    const link = (await page.getByRole("group", { name: "Sign-in link" }).textContent()) ?? "";
    await expect.poll(() => focused(page)).toBe(link);
    const width =
      "const image = document.querySelector('img[alt^=QR]'); image.decode().then(() => image.naturalWidth)";
    expect(await page.evaluate(width)).toBeGreaterThan(0);
    await expectNoObjections(opened);
    for (const heading of ["Your machines", "Sign in to Matrx Relay"]) {
      const other = await app.openSignedOut("", { screen: "phone" });
      await other.page.goto(link);
      await other.page.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
