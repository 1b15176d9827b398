/** Approvals on the page: a real agent, an AI grant that asks, and people who decide. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Policy } from "../../shared/policy.ts";
import { createdTokenSchema, type NewToken, tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

describe("approvals on the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let page: Page;
  let folder: string;
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
    folder = makeFolder();
    page = await opened();
  });
  afterEach(() => {
    removeFolder(folder);
    expect(faults).toEqual([]);
  });

  /** A browser of a person's own, signed in. */
  async function opened(options: { userAgent?: string } = {}): Promise<Page> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const made = await context.newPage();
    made.on("pageerror", (error) => faults.push(error.message));
    made.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    await made.goto(await relay.signInLink());
    await made.getByRole("heading", { name: "Access" }).waitFor();
    return made;
  }

  /** A token for the folder, an AI's if nothing else is said, and calls with it. */
  async function ai(name: string, more: Partial<NewToken> = {}) {
    const wish = { name, paths: [folder], ...more };
    const { token } = await relay.request(await relay.signIn(), "POST /v1/tokens", createdTokenSchema, wish);
    return async (tool: string, input: Record<string, unknown>) => {
      const response = await fetch(`${relay.url}/v1/devices/${machine.id}/tools/${tool}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(input),
      });
      return await response.text();
    };
  }

  /** The relay's own policy of the machine, until the end of the test. */
  async function policy(wanted: Policy): Promise<void> {
    const put = async (one: Policy) =>
      relay.request(await relay.signIn(), `PUT /v1/devices/${machine.id}/policy`, z.unknown(), one);
    onTestFinished(() => put({}).then(() => undefined));
    await put(wanted);
  }

  const section = (of = page) => of.getByRole("region", { name: "Approvals" });
  const waiting = (name: string, of = page) => section(of).getByRole("listitem", { name });
  const decided = (of = page) => section(of).getByRole("list", { name: "Decided recently" });

  test("a file that an AI wants to write is shown as a diff, and written once it is allowed", async () => {
    const file = join(folder, "a.txt");
    writeFileSync(file, "one\ntwo\n-- three\n");
    const call = await ai("writer");
    const answer = call("Write", { file_path: file, content: "one\n2\n" });
    const card = waiting("writer asks to use Write");
    await card.getByText(`Change ${file}`).waitFor();
    await expect.poll(() => page.title()).toBe("(1) Matrx Relay");
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("writer (AI grant)");
    expect(text).toContain(machine.name);
    expect(text).toContain("Write (changes files)");
    expect(text).toContain(`change: ${file}`);
    expect(text).toMatch(/Expires in \d+ (min|s)/);
    expect(await card.locator("ins").allTextContents()).toEqual(["+2\n"]);
    expect(await card.locator("del").allTextContents()).toEqual(["-two\n", "--- three\n"]);
    expect(readFileSync(file, "utf8")).toContain("two");
    expect(await section().getByRole("status").first().textContent()).toContain("writer asks on");

    await card.getByRole("button", { name: "Allow once" }).click();
    await decided().getByText("Allowed once by you").waitFor();
    expect(await answer).toContain("a.txt");
    expect(readFileSync(file, "utf8")).toBe("one\n2\n");
    expect(await page.title()).toBe("Matrx Relay");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Approvals");
  });

  test(
    "a command is shown with what its sandbox reaches, and its caller is told why not",
    NEEDS_SANDBOX,
    async () => {
      const call = await ai("runner", { network: ["example.com"] });
      const answer = call("Bash", { command: `cd '${folder}'\ntouch ran` });
      const card = waiting("runner asks to use Bash");
      await card.getByText("May change").waitFor();
      expect(await card.getByLabel("Command").textContent()).toBe(`cd '${folder}'\ntouch ran\n`);
      expect(await card.locator("dl").textContent()).toMatch(/SandboxYes.*May change.*example\.com/s);
      await card.getByText("Deny with a word to the AI").click();
      await card.getByLabel("What it should know").fill("Use make check instead");
      await card.getByRole("button", { name: "Deny with this word" }).click();
      await decided().getByText("Denied by you: Use make check instead").waitFor();
      expect(await answer).toMatch(/APPROVAL_DENIED/);
      expect(await answer).toMatch(/Use make check instead/);
    },
  );

  test("a person edits what runs, and sees what the device made of it", async () => {
    const file = join(folder, "a.txt");
    const call = await ai("edited");
    const answer = call("Write", { file_path: file, content: "rm\u202e -rf" });
    const card = waiting("edited asks to use Write");
    await card.getByText("Edit before allowing").click();
    const input = card.getByLabel("Input as JSON");
    expect(await input.inputValue()).toBe(
      `{\n  "content": "rm\\u202E -rf",\n  "file_path": ${JSON.stringify(file)}\n}`,
    );
    const send = card.getByRole("button", { name: "Allow with these changes" });
    await input.fill("[1");
    await send.click();
    await page.getByText("The input is not valid JSON").waitFor();
    await input.fill(JSON.stringify({ file_path: "/etc/passwd", content: "x" }));
    await send.click();
    await page.getByText(/\/etc\/passwd/).waitFor();
    await card.getByText("Expires in").waitFor();

    await input.fill(JSON.stringify({ file_path: file, content: "safe\n" }));
    await send.click();
    await decided().getByText("Allowed with changes by you").waitFor();
    expect(await decided().locator("ins").allTextContents()).toEqual(["+safe\n"]);
    expect(await answer).toContain("a.txt");
    expect(readFileSync(file, "utf8")).toBe("safe\n");
  });

  test("always edits the token, visibly, and it is not asked about that tool again", async () => {
    const call = await ai("trusted");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("trusted asks to use Write");
    await card.getByText("this edits the token “trusted”").waitFor();
    await card.getByRole("button", { name: "Always for this tool" }).click();
    await page.getByText("The token “trusted” was edited").waitFor();
    await decided().getByText("Always allowed by you").waitFor();
    expect(await answer).toContain("a.txt");
    const { tokens } = await relay.request(await relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.find(({ name }) => name === "trusted")?.ask).toMatchObject([{ except: ["Write"] }]);
    expect(await call("Write", { file_path: join(folder, "b.txt"), content: "b" })).toContain("b.txt");
  });

  test("the same call is allowed for an hour", async () => {
    const call = await ai("hourly");
    const input = { path: join(folder, "new") };
    const answer = call("create_directory", input);
    await waiting("hourly asks to use create_directory")
      .getByRole("button", { name: "Allow the same call for an hour" })
      .click();
    await decided().getByText("Allowed for an hour by you").waitFor();
    expect(await answer).toContain("new");
  });

  test("what a policy asks can't be lifted for a token: that is said, and the call still waits", async () => {
    const call = await ai("bound");
    await policy({ ask: [{ tools: ["Write"] }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("bound asks to use Write");
    await card.getByRole("button", { name: "Always for this tool" }).click();
    await page.getByText("policy asks about Write").waitFor();
    await card.getByRole("button", { name: "Always for this tool" }).waitFor({ state: "detached" });
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test("an own script has no rules of its own: always is not offered", async () => {
    const call = await ai("backup", { credential: "script" });
    await policy({ ask: [{ tools: ["Write"] }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("backup asks to use Write");
    await card.getByText("backup (Own script: acts as you)").waitFor();
    expect(await card.getByRole("button", { name: "Always for this tool" }).count()).toBe(0);
    await card.getByRole("button", { name: "Allow once" }).click();
    expect(await answer).toContain("a.txt");
  });

  test("what only the machine may decide has no buttons here", async () => {
    const call = await ai("local");
    await policy({ ask: [{ tools: ["Write"], at: "machine" }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("local asks to use Write");
    await card.getByText("matrx approvals --here").waitFor();
    expect(await card.getByRole("button").count()).toBe(0);
    await policy({});
    await decided().getByText("Over: the call ended before anybody decided").waitFor();
    expect(await answer).toContain("UNAVAILABLE");
  });

  test("of two people the first decides, and the other is told who did", async () => {
    const other = await opened({ userAgent: FIREFOX });
    const call = await ai("contested");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/approvals/*", async (route) => {
      if (route.request().method() === "POST") await released;
      await route.continue();
    });
    const name = "contested asks to use Write";
    await waiting(name, page).getByRole("button", { name: "Allow once" }).click();
    await waiting(name, page).getByRole("button", { name: "Sending" }).waitFor();
    expect(await waiting(name, page).getByRole("button", { name: "Deny", exact: true }).isDisabled()).toBe(
      true,
    );
    await waiting(name, other).getByRole("button", { name: "Deny", exact: true }).click();
    await decided(other).getByText("Denied by you").waitFor();
    release();
    await page.getByText("Firefox on Linux has already denied this call").waitFor();
    await decided(page).getByText("Denied by Firefox on Linux").waitFor();
    expect(await answer).toContain("APPROVAL_DENIED");
    await page.unrouteAll({ behavior: "wait" });

    const second = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await waiting(name, page).getByRole("button", { name: "Allow once" }).waitFor();
    await waiting(name, other).getByRole("button", { name: "Allow once" }).click();
    await decided(page).getByText("Allowed once by Firefox on Linux").waitFor();
    expect(await waiting(name, page).count()).toBe(0);
    expect(await second).toContain("b.txt");
  });

  test("a hostile question does nothing, hides nothing, and takes no more room than others", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const call = await ai(HOSTILE);
    const file = join(folder, "<img src=x onerror=alert(1)>\u202egpj.exe");
    const line = `${HOSTILE}\u202e\u200b${"x".repeat(500)}\n+++ /etc/passwd\n`;
    const answer = call("Write", { file_path: file, content: line.repeat(400) });
    const card = section().getByRole("listitem").filter({ hasText: "asks to use Write" });
    await card.getByRole("button", { name: "Deny", exact: true }).waitFor();
    expect(await card.getByRole("heading").textContent()).toContain(HOSTILE);
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("<img src=x onerror=alert(1)>\\u{202E}gpj.exe");
    expect(text).not.toMatch(/[\u202e\u200b]/);
    expect(text).toContain("Not all of it is shown.");
    expect(await card.locator(".warnings").textContent()).toContain("Warning: ");
    expect(await card.locator("img, b").count()).toBe(0);
    const shown = "document.querySelector('[aria-label=Changes]')";
    expect(await page.evaluate(`${shown}.scrollHeight > ${shown}.clientHeight`)).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    // Half an input can't be edited.
    expect(await card.getByText("Edit before allowing").count()).toBe(0);
    expect(await objections(page)).toEqual([]);
    expect(await page.title()).toBe("(1) Matrx Relay");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test("what has only just appeared can't be pressed, by mouse, by keys or by a script", async () => {
    const call = await ai("sudden");
    let decisions = 0;
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/approvals/")) decisions++;
    });
    // Time stands still on the page.
    await page.clock.install();
    await page.reload();
    await page.getByRole("heading", { name: "Access" }).waitFor();
    await page.clock.pauseAt(Date.now() + 1000);
    const first = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("sudden asks to use Write").first();
    const yes = card.getByRole("button", { name: "Allow once" });
    const press = async () => {
      await yes.click({ force: true });
      await yes.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Space");
    };
    await yes.waitFor();
    await press();
    expect(await yes.getAttribute("aria-disabled")).toBe("true");
    const isInert = () => page.clock.runFor(700).then(() => yes.getAttribute("aria-disabled"));
    await expect.poll(isInert).toBe(null);
    await page.evaluate("document.querySelector('.decision button').click()");

    // Another one makes all wait again.
    const second = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await section().getByRole("button", { name: "Allow once" }).nth(1).waitFor();
    await press();
    expect(decisions).toBe(0);
    await page.clock.resume();
    for (const [name, answer] of [
      ["a.txt", first],
      ["b.txt", second],
    ] as const) {
      await card.getByText(name).first().waitFor();
      await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
      await yes.focus();
      await page.keyboard.press("Enter");
      expect(await answer).toContain(name);
    }
    expect(decisions).toBe(2);
  });

  test("the connection breaks: what came, and what others decided meanwhile, is shown", async () => {
    const lines: WebSocketRoute[] = [];
    let isCut = false;
    await page.routeWebSocket(/account\/ws$/, (line) => {
      if (isCut) return void line.close({ code: 1012 });
      lines.push(line);
      line.connectToServer();
    });
    await page.reload();
    await page.getByRole("heading", { name: "Access" }).waitFor();
    const other = await opened({ userAgent: FIREFOX });
    const call = await ai("patient");
    const first = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await waiting("patient asks").waitFor();
    isCut = true;
    await lines[0]?.close({ code: 1012 });
    await section().getByText("Live connection lost. Reconnecting").waitFor();
    await waiting("patient asks", other).getByRole("button", { name: "Deny", exact: true }).click();
    expect(await first).toContain("APPROVAL_DENIED");
    const second = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await decided().getByText("Denied by Firefox on Linux").waitFor();
    await waiting("patient asks").getByText("b.txt").first().waitFor();
    isCut = false;
    await section().getByText("Live connection lost").waitFor({ state: "detached" });
    await waiting("patient asks").getByRole("button", { name: "Allow once" }).click();
    expect(await second).toContain("b.txt");
  });

  test("expiry is counted down, and shown when it came", async () => {
    let tell: ((frame: string) => void) | undefined;
    let asked: unknown;
    await page.routeWebSocket(/account\/ws$/, (line) => {
      const server = line.connectToServer();
      tell = (frame) => line.send(frame);
      server.onMessage((data) => {
        const frame = JSON.parse(String(data)) as { approval?: unknown };
        asked = frame.approval ?? asked;
        line.send(data);
      });
    });
    await page.reload();
    await page.getByRole("heading", { name: "Access" }).waitFor();
    const call = await ai("slow");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await waiting("slow asks")
      .getByRole("timer")
      .getByText(/Expires in (10 min|9 min \d+ s)/)
      .waitFor();
    await waiting("slow asks").getByRole("button", { name: "Deny", exact: true }).waitFor();
    tell?.(JSON.stringify({ type: "approval", approval: { ...(asked as object), state: "expired" } }));
    await decided().getByText("Expired: nobody decided in time").waitFor();
    expect(await waiting("slow asks").count()).toBe(0);
    const other = await opened();
    await waiting("slow asks", other).getByRole("button", { name: "Deny", exact: true }).click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test.each([
    ["light", 320],
    ["dark", 320],
    ["light", 1280],
    ["dark", 1280],
  ] as const)(
    "axe finds nothing to object to, and nothing is too wide: %s, %i px",
    async (colorScheme, width) => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const call = await ai("looked at");
      const file = join(folder, "a.txt");
      writeFileSync(file, "old\n");
      const answer = call("Write", { file_path: file, content: `new\n${"long ".repeat(100)}` });
      const card = waiting("looked at asks");
      await card.getByRole("button", { name: "Allow once", disabled: false }).waitFor();
      for (const summary of await card.locator("summary").all()) await summary.click();
      expect(await objections(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await card.getByRole("button", { name: "Allow once" }).click();
      expect(await answer).toContain("a.txt");
      await decided().getByText("Allowed once by you").waitFor();
      expect(await objections(page)).toEqual([]);
    },
  );
});
