/** What apps, sites and other tabs could do with the page that lets an app in, and what comes of it. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectFitting, startApp } from "./app.ts";
import { addMachine, allow, appsNamed, asking, deny, newApp, settled } from "./asked.ts";

const MARKUP = `<img src=x onerror="document.title='owned'">`;

describe("an app that means no good asks to be let in", NEEDS_CHROMIUM, () => {
  const app = startApp();

  beforeAll(async () => {
    await addMachine(app.relay, "laptop");
  });

  /** Counts the answers that a page sends. */
  function answersOf(page: Page): { count: number } {
    const answers = { count: 0 };
    page.on("request", (request) => {
      if (/\/v1\/oauth\/(?:consents|refusals)$/.test(request.url())) answers.count += 1;
    });
    return answers;
  }

  async function fillIn(page: Page): Promise<void> {
    await page.getByLabel("laptop").check();
    await page.getByLabel("Folders, one a line").fill("~/projects");
  }

  test("its name is text, on one line of its own direction, and not longer than a name", async () => {
    const asker = await newApp(app.relay);
    const opened = await app.open("/fleet", { screen: "phone" });
    const { page } = opened;
    const title = page.locator("#page-title");
    for (const [name, shown] of [
      [MARKUP, MARKUP],
      ["\u202egnp.exe\u2066 \u200bHelper\nYou are safe", "gnp.exe HelperYou are safe"],
      ["\u0645\u0633\u0627\u0639\u062f ab", "\u0645\u0633\u0627\u0639\u062f ab"],
      ["\u3164\u3164", "An app without a name"],
      ["a".repeat(5_000), "a".repeat(64)],
    ] as const) {
      await page.goto(asker.address(await asker.register(name)));
      await expect.poll(() => title.textContent()).toBe(`Connect ${shown}?`);
      await expect.poll(() => title.locator("bdi").textContent()).toBe(shown);
      await expect.poll(() => page.title()).toBe("Connect an app · Matrx Relay");
    }
    await settled(page);
    await expectFitting(opened);
  });

  test("its name is said to be of letters that only look right, and not to be ours", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("\u0421laude, verified by Matrx")));
    await page.getByText("mixes Latin and Cyrillic letters: \\u{421}laude").waitFor();
    await page.getByText("It uses the name Matrx, but Matrx vouches for no app").waitFor();
    await page.goto(asker.address(await asker.register("Claude")));
    await asking(page, "Claude").waitFor();
    expect(await page.getByText(/mixes|Matrx vouches/).count()).toBe(0);
    const [known] = await page.getByRole("term").allTextContents();
    expect(known).toBe("Then you go to");
  });

  test("can't be sent back to by a scheme that runs or reads something here", async () => {
    const asker = await newApp(app.relay);
    const id = await asker.register();
    for (const redirect of [
      "javascript:alert(1)//",
      "JavaScript://x/%0aalert(1)",
      " javascript:alert(1)",
      "java\nscript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "blob:https://relay.example/1",
      "file:///etc/passwd",
      "vbscript:x",
      "//evil.example/",
      "http://evil.example/",
    ]) {
      const body = JSON.stringify({ redirect_uris: [redirect], token_endpoint_auth_method: "none" });
      const headers = { "Content-Type": "application/json" };
      const registered = await fetch(`${app.relay.url}/oauth/register`, { method: "POST", headers, body });
      expect(registered.status, redirect).toBe(400);
      const answer = await fetch(asker.address(id, { redirect_uri: redirect }), { redirect: "manual" });
      expect(answer.status, redirect).toBe(400);
    }
  });

  test("that wants a program opened has it opened by nobody who denies", async () => {
    const asker = await newApp(app.relay);
    const redirect_uri = "com.example.app:/callback";
    const id = await asker.register("Opener", redirect_uri);
    const { page } = await app.open("/fleet");
    const browser = await page.context().newCDPSession(page);
    const opened: string[] = [];
    browser.on("Page.frameRequestedNavigation", ({ url }) => opened.push(url));
    await browser.send("Page.enable");
    for (const [answer, name] of [
      [deny, "Not connected"],
      [allow, "Back to the app"],
    ] as const) {
      await page.goto(asker.address(id, { redirect_uri, state: name }));
      await asking(page, "Opener").waitFor();
      await fillIn(page);
      await settled(page);
      opened.length = 0;
      await answer(page).click();
      await page.getByRole("heading", { name }).waitFor();
      if (answer === allow) await expect.poll(() => opened.length).toBe(1);
      else expect(opened).toEqual([]);
    }
    expect(opened[0]).toMatch(/^com\.example\.app:\/callback\?code=/);
  });

  test("gets its request to the relay exactly as it wrote it, however often the page is loaded", async () => {
    const asker = await newApp(app.relay);
    const query = `${new URL(asker.address(await asker.register())).search.slice(1).replace("state=the+state", "state=1e5")}&%7Eown=a+b%20c~'&empty=&n=007`;
    const address = `${app.relay.url}/authorize?${query}#code=x`;
    const { page, faults } = await app.open("/fleet");
    const bodySchema = z.object({ request: z.string() });
    for (const load of [() => page.goto(address), () => page.reload()]) {
      const asked = page.waitForRequest(`${app.relay.url}/v1/oauth/requests`);
      await load();
      // Browsers write an apostrophe in a query as %27.
      expect(bodySchema.parse((await asked).postDataJSON()).request).toBe(query.replace("'", "%27"));
    }
    await asking(page).waitFor();
    await deny(page).click();
    expect((await asker.returned).get("state")).toBe("1e5");
    expect(faults).toEqual([]);
  });

  test("can't be answered by a script, nor on what has only just appeared", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    const answers = answersOf(page);
    // Time stands still on the page, but for moments.
    app.renewAfterTest();
    await page.clock.install();
    await page.goto(asker.address(await asker.register("Sudden")));
    await asking(page, "Sudden").waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const isInert = () => page.clock.runFor(700).then(() => deny(page).getAttribute("aria-disabled"));
    await expect.poll(isInert).toBe(null);
    await page.evaluate("for (const one of document.querySelectorAll('main fieldset button')) one.click()");
    await page.evaluate("document.querySelector('main fieldset').dispatchEvent(new Event('submit'))");

    // Another window lay on top, and is gone.
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.clock.runFor(20);
    await expect.poll(() => deny(page).getAttribute("aria-disabled")).toBe("true");
    await deny(page).click({ force: true });
    await deny(page).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    await page.getByLabel("Name in your list").press("Enter");
    expect(answers.count).toBe(0);
    await page.clock.resume();
    await settled(page);
    await deny(page).click();
    expect((await asker.returned).get("error")).toBe("access_denied");
    expect(answers.count).toBe(1);
  });

  test("is let in once, however often somebody presses, and the way back does not lead to it", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    const answers = answersOf(page);
    await page.goto(asker.address(await asker.register("Twice")));
    await asking(page, "Twice").waitFor();
    await fillIn(page);
    await settled(page);
    await allow(page).dblclick();
    await asker.returned;
    await page.getByText("Back in the app").waitFor();
    expect(answers.count).toBe(1);
    expect(await appsNamed(app.relay, "Twice")).toHaveLength(1);
    await page.goBack();
    await page.getByRole("heading", { name: "Your machines" }).waitFor();
  });

  test("in two tabs is answered once: the other tab says so at once, and so does one that comes later", async () => {
    const asker = await newApp(app.relay);
    const address = asker.address(await asker.register("Doubled"));
    const { page, faults } = await app.open("/fleet");
    await page.goto(address);
    const other = await page.context().newPage();
    await other.goto(address);
    for (const tab of [page, other]) await asking(tab, "Doubled").waitFor();
    await fillIn(page);
    await settled(page);
    await allow(page).click();
    await asker.returned;
    // Another address would break its way back off.
    await page.getByText("Back in the app").waitFor();
    await other.getByRole("heading", { name: "Answered already" }).waitFor();
    await other.getByText("You allowed this request on another page").waitFor();
    await page.goto(address);
    await page.getByText("You allowed this request on another page").waitFor();
    expect(await appsNamed(app.relay, "Doubled")).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test("is shown anew to whoever signs in in another tab, and can have nothing of theirs", async () => {
    const asker = await newApp(app.relay);
    const { page, faults } = await app.openAlone("/fleet");
    await page.goto(asker.address(await asker.register("Between")));
    await asking(page, "Between").waitFor();
    await fillIn(page);
    const invited = z.object({ link: z.string() });
    const owner = await app.relay.signIn();
    const { link } = await app.relay.request(owner, "POST /v1/invites", invited, { name: "Ben" });
    const other = await page.context().newPage();
    await other.goto(link);
    await other.getByLabel("Your name").fill("Ben");
    await other.getByRole("button", { name: "Create my account" }).click();
    await other.getByText("No machines yet").waitFor();

    await page.getByText("You have no machine of your own yet.").waitFor();
    await page.getByText(/^Ben \(.+\)$/).waitFor();
    await expect.poll(() => allow(page).count()).toBe(0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("An app wants to use your machines").waitFor();
    expect(await appsNamed(app.relay, "Between")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("gets nothing from a session that was ended in the middle", async () => {
    const asker = await newApp(app.relay);
    const { page } = await app.open("/fleet");
    await page.goto(asker.address(await asker.register("Late")));
    await asking(page, "Late").waitFor();
    await fillIn(page);
    const owner = await app.relay.signIn();
    app.renewAfterTest();
    await app.relay.request(owner, "POST /v1/sessions/revoke-others", z.object({}), {});
    await allow(page).click();
    await page.getByRole("heading", { name: "Sign in to Matrx Relay" }).waitFor();
    expect(await appsNamed(app.relay, "Late")).toEqual([]);
  });

  test("is checked by the relay first, also where the app has a service worker", async () => {
    const asker = await newApp(app.relay);
    const id = await asker.register("Worked around");
    const { page } = await app.open("/fleet", { workers: true });
    await page.evaluate("navigator.serviceWorker.ready");
    await page.reload();
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await page.goto(asker.address(id, { redirect_uri: "https://evil.example/" }));
    await page.getByText("This app can't be connected").waitFor();
    await page.goto(asker.address(id));
    await asking(page, "Worked around").waitFor();
    await page.context().setOffline(true);
    await expect(page.goto(asker.address(id))).rejects.toThrow("ERR_INTERNET_DISCONNECTED");
  });
});
