import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { listenAt } from "../../agent/local/loopback.ts";
import { createdDeviceSchema, polledPairingSchema, startedPairingSchema } from "../../shared/api.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });

  beforeEach(async () => {
    faults = [];
    const context = await browser.newContext();
    page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    return () => context.close();
  });

  /** The text of what has the focus. */
  function focused(): Promise<string> {
    return page.evaluate("document.activeElement.textContent");
  }

  async function open(): Promise<void> {
    await page.goto(await relay.signInLink());
    await page.getByRole("heading", { name: "Access" }).waitFor();
    // A device that comes later moves what is below it, also under a click.
    await page.locator('main[aria-busy="false"]').waitFor();
  }

  test("a sign-in link signs in once, and its code leaves the address bar", async () => {
    const link = await relay.signInLink();
    await page.goto(link);
    await page.getByText("Signed in as owner").waitFor();
    expect(page.url()).toBe(`${relay.url}/`);

    const other = await browser.newPage();
    onTestFinished(() => other.close());
    await other.goto(link);
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await other.getByRole("status").textContent()).toMatch(/used|link/i);
    expect(faults).toEqual([]);
  });

  test("a tool runs, its answer is shown, and the device is proven", async () => {
    await open();
    await page.getByRole("heading", { name: `Run a tool on ${machine.name}` }).waitFor();
    expect(await page.getByLabel("Tool", { exact: true }).inputValue()).toBe("SystemInfo");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in \d+ ms/).waitFor();
    expect(await page.getByLabel("Output").textContent()).not.toBe("");
    await page.getByText(/Proven now: SystemInfo answered/).waitFor();
    expect(faults).toEqual([]);
  });

  test("a form made from the schema sends what was typed, and output is text whatever it holds", async () => {
    await open();
    await page.getByLabel("Tool", { exact: true }).selectOption("Bash");
    await page.getByLabel("command (needed)").fill(`printf '%s' "${HOSTILE.replaceAll('"', '\\"')}"`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    expect(await page.getByLabel("Output").textContent()).toContain(HOSTILE);
    await page.getByLabel("Tool", { exact: true }).selectOption("Read");
    await page.getByLabel("file_path (needed)").fill("/no/such/file");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/From the (tool|agent)/).waitFor();
    expect(await page.title()).toBe("Matrx Relay");
    expect(faults).toEqual([]);
  });

  test.each([
    ["0", 0],
    ["HDMI-1", "HDMI-1"],
    ["065", "065"],
  ])("what may be a number or text is typed as it is: %s", async (typed, sent) => {
    await open();
    await page.getByLabel("Tool", { exact: true }).selectOption("Screenshot");
    await page.getByLabel("monitor", { exact: true }).fill(typed);
    const asked = page.waitForRequest(/\/tools\/Screenshot$/);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect((await asked).postDataJSON()).toEqual({ monitor: sent });
    expect(faults).toEqual([]);
  });

  test("Edit takes text away when the new text is left empty", async () => {
    const file = join(temporaryFolder(), "note.txt");
    writeFileSync(file, "keep drop keep");
    await open();
    await page.getByLabel("Tool", { exact: true }).selectOption("Edit");
    await page.getByLabel("file_path (needed)").fill(file);
    await page.getByLabel("old_string").fill(" drop");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    expect(readFileSync(file, "utf8")).toBe("keep keep");
    expect(faults).toEqual([]);
  });

  test("hostile names of devices and tokens are shown as text, and can be removed", async () => {
    const owner = await relay.signIn();
    const { device } = await relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name: HOSTILE });
    await open();
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    expect(await page.locator("main img, main b").count()).toBe(0);
    await page.getByRole("button", { name: `Remove ${HOSTILE}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText(`${HOSTILE} was removed.`).waitFor();
    expect(await page.getByText(device.id).count()).toBe(0);
    expect(await page.title()).toBe("Matrx Relay");
    expect(faults).toEqual([]);
  });

  test("a token is made, shown once, works, and is revoked", async () => {
    await open();
    await page.getByText("Create a token for an AI").click();
    await page.getByPlaceholder("coding assistant").fill("page test");
    await page.getByPlaceholder("~/projects").fill("/tmp");
    await page.getByRole("button", { name: "Create AI token" }).click();
    const token = (await page.locator("#new-token").textContent()) ?? "";
    const account = () => fetch(`${relay.url}/v1/account`, { headers: { Authorization: `Bearer ${token}` } });
    expect((await account()).status).toBe(200);
    await page.getByRole("button", { name: "Revoke page test" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("page test was revoked.").waitFor();
    expect((await account()).status).toBe(401);
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.map(({ name }) => name)).not.toContain("page test");
    expect(faults).toEqual([]);
  });

  test("a token is made for one device and some folders", async () => {
    await open();
    await page.getByText("Create a token for an AI").click();
    const making = page.locator("details[open]");
    await making.getByLabel("Name").fill("narrow");
    await making.getByRole("option", { name: machine.name }).waitFor({ state: "attached" });
    await making.getByLabel("On", { exact: true }).selectOption({ label: machine.name });
    await making.getByLabel("Folders it may work in").fill("/tmp\n\n /srv/scans ");
    await making.getByLabel("It may run commands").uncheck();
    await page.getByRole("button", { name: "Create AI token" }).click();
    await page
      .getByText(/May read and write in \/tmp and \/srv\/scans on .+; asks before it writes/)
      .waitFor();
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    const made = tokens.find(({ name }) => name === "narrow");
    expect(made).toMatchObject({
      credential: "ai",
      effects: ["read", "write"],
      devices: [expect.any(String)],
      paths: ["/tmp", "/srv/scans"],
    });

    await page.getByLabel("Change narrow").click();
    const changing = page.locator("li", { hasText: "narrow" });
    await changing.getByLabel("It may change files").uncheck();
    await changing.getByRole("button", { name: "Save narrow" }).click();
    await page.getByText("narrow was changed.").waitFor();
    await page.getByText(/May read in \/tmp and \/srv\/scans on/).waitFor();
    expect(faults).toEqual([]);
  });

  test("a token for an own script is made only by who knows what it may do", async () => {
    await open();
    await page.getByText("Create a token for your own script").click();
    const making = page.locator("details[open]");
    await making.getByText("Never give it to an AI").waitFor();
    await making.getByLabel("Name").fill("backup");
    await page.getByRole("button", { name: "Create script token" }).click();
    expect(await page.locator("#new-token").count()).toBe(0);
    await making.getByLabel("It is for a script of my own").check();
    await page.getByRole("button", { name: "Create script token" }).click();
    await making.getByText("This token acts as you on all your devices").waitFor();
    await page.locator("li", { hasText: "backup" }).getByText("Own script: acts as you").waitFor();
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.find(({ name }) => name === "backup")).toMatchObject({ credential: "script" });
    expect(faults).toEqual([]);
  });

  test("a machine's code shows what asks, and is confirmed by hand", async () => {
    const wish = {
      name: HOSTILE,
      hostname: "laptop",
      os: "linux",
      os_version: "12",
      public_key: "A".repeat(43),
    };
    const { code } = await relay.request(undefined, "POST /v1/pairings", startedPairingSchema, wish);
    await open();
    await page.getByLabel("Code from the machine or command line").fill(code);
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByRole("heading", { name: "Add this machine?" }).waitFor();
    expect(await page.locator("dl").textContent()).toContain(HOSTILE);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(`${HOSTILE} was added.`).waitFor();
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    expect(page.url()).not.toContain(code);
    expect(faults).toEqual([]);
  });

  async function login() {
    return relay.request(undefined, "POST /v1/logins", startedPairingSchema, { name: "cli on laptop" });
  }

  async function stateOf({ code, secret }: { code: string; secret: string }) {
    const line = `POST /v1/pairings/${code}/poll` as const;
    return (await relay.request(undefined, line, polledPairingSchema, { secret })).status;
  }

  test("a link to a login signs nobody in by a click: its code is typed, and what it allows is said", async () => {
    const started = await login();
    await open();
    await page.goto(started.verification_uri);
    await page.getByRole("heading", { name: "Sign in this command line?" }).waitFor();
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("cli on laptop");
    expect(text).toContain("run commands and change files on all your devices");
    expect(text).not.toContain(started.code);
    const yes = page.getByRole("button", { name: "Approve" });
    await yes.click();
    await page.getByLabel("Code", { exact: true }).fill("ABCD-EFGH");
    await yes.click();
    await page.getByText("That is not the code of this request.").waitFor();
    expect(await stateOf(started)).toBe("pending");
    expect(await objections(page)).toEqual([]);
    await page.getByLabel("Code", { exact: true }).fill(started.code.toLowerCase().replace("-", " "));
    await yes.click();
    await page.getByText("cli on laptop is signed in.").waitFor();
    expect(await stateOf(started)).toBe("signed_in");
    expect(faults).toEqual([]);
  });

  test("a login's code that was typed here needs no more than a click", async () => {
    const started = await login();
    await open();
    await page.getByLabel("Code from the machine or command line").fill(started.code.toLowerCase());
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("cli on laptop is signed in.").waitFor();
    expect(await stateOf(started)).toBe("signed_in");
    // The next link is another matter.
    const other = await login();
    await page.goto(other.verification_uri);
    await page.getByLabel("Code", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test.each(["pasted", "opened in another tab"])(
    "who is signed out sees that a machine waits, and comes back to it by a link that is %s",
    async (how) => {
      const wish = {
        name: "nas",
        hostname: "nas",
        os: "linux",
        os_version: "12",
        public_key: "B".repeat(43),
      };
      const started = await relay.request(undefined, "POST /v1/pairings", startedPairingSchema, wish);
      await page.goto(started.verification_uri);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.locator("#waiting").textContent()).toContain(started.code);
      expect(await objections(page)).toEqual([]);
      const link = await relay.signInLink();
      let seen = page;
      if (how === "pasted") {
        await page.getByLabel("Or paste the link here").fill(link);
        await page.getByRole("button", { name: "Sign in" }).click();
      } else {
        seen = await page.context().newPage();
        await seen.goto(link);
      }
      await seen.getByRole("heading", { name: "Add this machine?" }).waitFor();
      expect(await seen.locator("dl").textContent()).toContain("nas");
      await seen.getByRole("button", { name: "Not now" }).click();
      await seen.getByRole("heading", { name: "Access" }).waitFor();
      await seen.reload();
      await seen.getByRole("heading", { name: "Access" }).waitFor();
      expect(faults).toEqual([]);
    },
  );

  test("a link to what is no code shows nothing of it to who is signed out", async () => {
    await page.goto(`${relay.url}/#pair=${encodeURIComponent("<b>call 555 now to sign in</b>")}`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.locator("main").textContent()).not.toContain("555");
  });

  test("another device is signed in by a code that this one shows, once", async () => {
    await open();
    await page.getByText("Sign in another device").click();
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = (await page.locator("#sign-in-link").textContent()) ?? "";
    const width =
      "const image = document.querySelector('img.qr'); image.decode().then(() => image.naturalWidth)";
    expect(await page.evaluate(width)).toBeGreaterThan(0);
    expect(await objections(page)).toEqual([]);
    for (const heading of ["Access", "Sign in"]) {
      const phone = await browser.newContext();
      onTestFinished(() => phone.close());
      const other = await phone.newPage();
      await other.goto(link);
      await other.getByRole("heading", { name: heading, exact: true }).waitFor();
    }
    expect(faults).toEqual([]);
  });

  test("a page of another address begins no login, dials in as no device, and uses up nothing", async () => {
    const other = createServer((_, response) => response.end("<title>other</title>"));
    onTestFinished(() => void other.close());
    const port = await listenAt(other, "127.0.0.1", 0);
    await page.goto(`http://127.0.0.1:${port}/`);
    const script = `(async () => {
      const seen = new Set();
      for (let n = 0; n < 40; n++) {
        const init = { method: "POST", headers: { "Content-Type": "text/plain" }, body: '{"name":"x"}' };
        seen.add(await fetch("${relay.url}/v1/logins", init).then((answer) => answer.text(), () => "closed"));
      }
      const socket = new WebSocket("${relay.url.replace("http", "ws")}/v1/device/ws?device=${machine.id}");
      seen.add(await new Promise((resolve) => {
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("closed");
      }));
      return [...seen];
    })()`;
    expect(await page.evaluate(script)).toEqual(["closed"]);
    expect(await stateOf(await login())).toBe("pending");
  });

  test("a wrong code is said, and the page goes on", async () => {
    await open();
    await page.goto(`${relay.url}/#pair=ZZZZ-ZZZZ`);
    await page.getByRole("status").getByText(/code/).first().waitFor();
    await page.getByRole("heading", { name: "Access" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("signing out ends the session", async () => {
    await open();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("the first call works with the keyboard alone", async () => {
    await open();
    await page.getByLabel("Tool", { exact: true }).focus();
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Run");
    await page.keyboard.press("Enter");
    await page.getByText(/Answered in/).waitFor();
  });

  test("a device is removed and a token revoked with the keyboard alone, and the focus has a place", async () => {
    const owner = await relay.signIn();
    await relay.request(owner, "POST /v1/devices", createdDeviceSchema, { name: "spare" });
    await relay.request(owner, "POST /v1/tokens", newTokenAnswer, { name: "spare token", paths: null });
    await open();
    const answerWith = async (button: string, keys: string[]) => {
      await page.getByRole("button", { name: button }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      expect(await focused()).toBe("Keep it");
      for (const key of keys) await page.keyboard.press(key);
    };
    await answerWith("Remove spare", ["Escape"]);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Remove");
    // A list of devices that comes while the question stands must not take the button away.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/v1/devices", (route) => released.then(() => route.continue()));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    await answerWith("Remove spare", []);
    const listed = page.waitForResponse("**/v1/devices").then((response) => response.finished());
    release();
    await listed;
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("Remove");
    await page.unrouteAll();
    await answerWith("Remove spare", ["Shift+Tab", "Enter"]);
    await page.getByText("spare was removed.").waitFor();
    await expect.poll(focused).toBe("Devices");
    await answerWith("Revoke spare token", ["Shift+Tab", "Enter"]);
    await page.getByText("spare token was revoked.").waitFor();
    await expect.poll(focused).toBe("Access");
    await page.getByRole("button", { name: "Close" }).click();
    expect(await page.getByRole("status").first().textContent()).toBe("");
    expect(faults).toEqual([]);
  });

  test.each([
    ["phone", "light", 390, 844],
    ["phone", "dark", 390, 844],
    ["desktop", "light", 1280, 800],
    ["desktop", "dark", 1280, 800],
  ] as const)("axe finds nothing to object to on a %s, %s", async (_, colorScheme, width, height) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(relay.url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await objections(page)).toEqual([]);
    await open();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    for (const summary of await page.locator("summary:visible").all()) await summary.click();
    expect(await objections(page)).toEqual([]);
    await page.getByLabel("Tool", { exact: true }).selectOption("Bash");
    await page
      .getByRole("button", { name: /^Remove/ })
      .first()
      .click();
    await page.getByRole("dialog").waitFor();
    expect(await objections(page)).toEqual([]);
  });

  test.each([
    ["phone", 320, 640],
    ["desktop", 1280, 800],
  ])("nothing is wider than a %s", async (_, width, height) => {
    await page.setViewportSize({ width, height });
    await open();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });
});

const newTokenAnswer = z.object({ token: z.string() });
