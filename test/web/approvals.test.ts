/** Approvals in the app: a real agent, an AI's token that asks, and people who decide. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Policy } from "../../shared/policy.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import {
  APP,
  expectFitting,
  expectNoObjections,
  type Opened,
  SCREENS,
  smallTargets,
  startApp,
} from "./app.ts";
import { callerOf } from "./caller.ts";
import { setPolicy } from "./policy.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const NEEDS_YOU = "/activity?show=needs-you";

describe("approvals in the app", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let opened: Opened;
  let page: Page;
  let folder: string;

  beforeEach(async () => {
    folder = makeFolder();
    opened = await app.open(NEEDS_YOU);
    page = opened.page;
    await online(page);
  });
  afterEach(() => {
    removeFolder(folder);
    expect(opened.faults).toEqual([]);
  });

  /** Another person's, or another browser of the same one. */
  async function other(options: { userAgent?: string } = {}): Promise<Page> {
    const context = await app.browser.newContext({ ...SCREENS.desktop, ...options });
    onTestFinished(() => context.close());
    const made = await context.newPage();
    await made.goto(await app.relay.signInLink());
    await made.getByRole("navigation").first().waitFor();
    await made.goto(`${app.relay.url}${APP}${NEEDS_YOU}`);
    await online(made);
    return made;
  }

  async function online(of: Page): Promise<void> {
    await of.getByText("Connected").first().waitFor();
  }

  /** A token for the folder, an AI's if nothing else is said, and calls with it. */
  const ai = (name: string, more = {}) => callerOf(app, { name, paths: [folder], ...more });

  const policy = (wanted: Policy) => setPolicy(app, wanted);

  const section = (of = page) => of.getByRole("region", { name: "Needs you" });
  const waiting = (name: string, of = page) => section(of).getByRole("listitem", { name });
  const decided = (of = page) => section(of).getByRole("list", { name: "Decided recently" });
  const ready = (name: string, button: string, of = page) =>
    waiting(name, of).getByRole("button", { name: button, exact: true, disabled: false });
  const focused = () => page.evaluate<string>("document.activeElement.textContent");

  test("a file that an AI wants to write is shown as a diff, and written once it is allowed", async () => {
    const file = join(folder, "a.txt");
    writeFileSync(file, "one\ntwo\n-- three\n");
    const call = await ai("writer");
    const answer = call("Write", { file_path: file, content: "one\n2\n" });
    const card = waiting("writer asks to use Write");
    await card.getByText(`Change ${file}`).waitFor();
    await expect.poll(() => page.title()).toBe("(1) Activity · Matrx Relay");
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("writer (AI token)");
    expect(text).toContain(app.machine.name);
    expect(text).toContain("Changes files");
    expect(text).toContain(`change: ${file}`);
    expect(text).toMatch(/Expires in \d+ (min|s)/);
    // With what rights it asks.
    expect(text).toMatch(/Its token.*may read, write/);
    await expect.poll(() => card.locator("ins").allTextContents()).toEqual(["+2\n"]);
    await expect.poll(() => card.locator("del").allTextContents()).toEqual(["-two\n", "--- three\n"]);
    expect(readFileSync(file, "utf8")).toContain("two");
    await page
      .getByRole("status", { name: "Calls that wait" })
      .getByText(/writer asks on .*: Change/)
      .waitFor({ state: "attached" });

    await ready("writer asks", "Allow once").click();
    await decided().getByText("You allowed it", { exact: true }).waitFor();
    await decided().getByText("It cannot be taken back").waitFor();
    expect(await answer).toContain("a.txt");
    expect(readFileSync(file, "utf8")).toBe("one\n2\n");
    await expect.poll(() => page.title()).toBe("Activity · Matrx Relay");
    await expect.poll(() => focused()).toBe("Needs you");
    await section()
      .getByRole("status")
      .getByText(/^You allowed it: /)
      .waitFor({ state: "attached" });
  });

  test("on other pages it is counted in the title, and told to those who listen", async () => {
    await page.goto(`${app.relay.url}${APP}/fleet`);
    await online(page);
    const call = await ai("elsewhere");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    await page
      .getByText(/^elsewhere asks on/)
      .first()
      .waitFor({ state: "attached" });
    await page.getByRole("link", { name: "1 needs you", exact: true }).click();
    await ready("elsewhere asks", "Deny").click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test(
    "a command is shown with what its sandbox reaches, and its caller is told why not",
    NEEDS_SANDBOX,
    async () => {
      const call = await ai("runner", { network: ["example.com"] });
      const answer = call("Bash", { command: `cd '${folder}'\ntouch ran` });
      const card = waiting("runner asks to use Bash");
      await card.getByText("May change").waitFor();
      await expect.poll(() => card.getByLabel("Command").textContent()).toBe(`cd '${folder}'\ntouch ran\n`);
      await expect
        .poll(() => card.locator("dl").textContent())
        .toMatch(/SandboxYes.*May change.*example\.com/s);
      await card.getByText("Runs or deletes things", { exact: true }).waitFor();
      await card.getByText("Deny with a word to the AI").click();
      await card.getByLabel("What it should know").fill("Use make check instead");
      await page.reload();
      await card.getByText("Deny with a word to the AI").click();
      await expect
        .poll(() => card.getByLabel("What it should know").inputValue())
        .toBe("Use make check instead");
      await ready("runner asks", "Deny with this word").click();
      await decided().getByText("You denied it: Use make check instead").waitFor();
      expect(await answer).toMatch(/APPROVAL_DENIED/);
      expect(await answer).toMatch(/Use make check instead/);
    },
  );

  test("a person edits what runs, and sees what the machine made of it", async () => {
    const file = join(folder, "a.txt");
    const call = await ai("edited");
    const answer = call("Write", { file_path: file, content: "rm\u202e -rf" });
    const card = waiting("edited asks to use Write");
    await card.getByText("Edit before allowing").click();
    const input = card.getByLabel("Input as JSON");
    await expect
      .poll(() => input.inputValue())
      .toBe(`{\n  "content": "rm\\u202E -rf",\n  "file_path": ${JSON.stringify(file)}\n}`);
    const send = ready("edited asks", "Allow with these changes");
    await input.fill("[1");
    await send.click();
    await card.getByText("The input is not valid JSON").waitFor();
    await input.fill(JSON.stringify({ file_path: "/etc/passwd", content: "x" }));
    await send.click();
    await card
      .getByRole("alert")
      .getByText(/\/etc\/passwd/)
      .waitFor();
    await card.getByText("Expires in").waitFor();
    // What was typed survives that.
    await expect.poll(() => input.inputValue()).toContain("/etc/passwd");

    await input.fill(JSON.stringify({ file_path: file, content: "safe\n" }));
    await send.click();
    await decided().getByText("You allowed it with changes").waitFor();
    await expect.poll(() => decided().locator("ins").allTextContents()).toEqual(["+safe\n"]);
    expect(await answer).toContain("a.txt");
    expect(readFileSync(file, "utf8")).toBe("safe\n");
  });

  test("always edits the token, visibly, and it is not asked about that tool again", async () => {
    const call = await ai("trusted");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("trusted asks to use Write");
    await card.getByText("this edits the token “trusted”").waitFor();
    await ready("trusted asks", "Always for this tool").click();
    await page.getByText("The token “trusted” was edited").waitFor();
    await decided().getByText("You allowed it always").waitFor();
    expect(await answer).toContain("a.txt");
    const { tokens } = await app.relay.request(await app.relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.find(({ name }) => name === "trusted")?.ask).toMatchObject([{ except: ["Write"] }]);
    expect(await call("Write", { file_path: join(folder, "b.txt"), content: "b" })).toContain("b.txt");
  });

  test("the same call is allowed for an hour", async () => {
    const call = await ai("hourly");
    const answer = call("create_directory", { path: join(folder, "new") });
    await ready("hourly asks", "Allow the same call for an hour").click();
    await decided().getByText("You allowed it for an hour").waitFor();
    expect(await answer).toContain("new");
  });

  test("what a policy asks can't be lifted for a token: that is said, and the call still waits", async () => {
    const call = await ai("bound");
    await policy({ ask: [{ tools: ["Write"] }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await ready("bound asks", "Always for this tool").click();
    const card = waiting("bound asks to use Write");
    await card.getByText("policy asks about Write").waitFor();
    await card.getByRole("button", { name: "Always for this tool" }).waitFor({ state: "detached" });
    await ready("bound asks", "Deny").click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test("an own script has no rules of its own: always is not offered", async () => {
    const call = await ai("backup", { credential: "script" });
    await policy({ ask: [{ tools: ["Write"] }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("backup asks to use Write");
    await card.getByText("backup (own script: acts as you)").waitFor();
    await expect.poll(() => card.getByRole("button", { name: "Always for this tool" }).count()).toBe(0);
    await ready("backup asks", "Allow once").click();
    expect(await answer).toContain("a.txt");
  });

  test("what only the machine may decide has no buttons here", async () => {
    const call = await ai("local");
    await policy({ ask: [{ tools: ["Write"], at: "machine" }] });
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const card = waiting("local asks to use Write");
    await card.getByText("matrx approvals --here").waitFor();
    await expect.poll(() => card.getByRole("button").count()).toBe(0);
    await policy({});
    await decided().getByText("Over: the call ended before anybody decided").waitFor();
    expect(await answer).toContain("UNAVAILABLE");
  });

  test("of two people the first decides, and the other is told who did", async () => {
    const second = await other({ userAgent: FIREFOX });
    const call = await ai("contested");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/approvals/*", async (route) => {
      if (route.request().method() === "POST") await released;
      await route.continue();
    });
    const name = "contested asks to use Write";
    await ready(name, "Allow once").click();
    await waiting(name).getByRole("button", { name: "Sending" }).waitFor();
    await expect
      .poll(() => waiting(name).getByRole("button", { name: "Deny", exact: true }).isDisabled())
      .toBe(true);
    await ready(name, "Deny", second).click();
    await decided(second).getByText("You denied it").waitFor();
    release();
    await page.getByText("Firefox on Linux has already denied this call").waitFor();
    await decided().getByText("Firefox on Linux denied it").waitFor();
    expect(await answer).toContain("APPROVAL_DENIED");
    await page.unrouteAll({ behavior: "wait" });

    const next = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await ready(name, "Allow once").waitFor();
    await ready(name, "Allow once", second).click();
    await decided().getByText("Firefox on Linux allowed it").waitFor();
    await expect.poll(() => waiting(name).count()).toBe(0);
    expect(await next).toContain("b.txt");
  });

  test("a hostile question does nothing, hides nothing, and takes no more room than others", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const call = await ai(HOSTILE);
    const file = join(folder, "<img src=x onerror=alert(1)>\u202egpj.exe");
    const line = `${HOSTILE}\u202e\u200b${"x".repeat(500)}\n+++ /etc/passwd\n`;
    const answer = call("Write", { file_path: file, content: line.repeat(400) });
    const card = section().getByRole("listitem").filter({ hasText: "asks to use Write" });
    const deny = card.getByRole("button", { name: "Deny", exact: true, disabled: false });
    await deny.waitFor();
    await expect.poll(() => card.getByRole("heading").textContent()).toContain(HOSTILE);
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("<img src=x onerror=alert(1)>\\u{202E}gpj.exe");
    expect(text).not.toMatch(/[\u202e\u200b]/);
    expect(text).toContain("Not all of it is shown.");
    await expect
      .poll(() => card.getByRole("list", { name: "Warnings" }).textContent())
      .toContain("Warning: ");
    await expect.poll(() => card.locator("img, b").count()).toBe(0);
    const shown = "document.querySelector('[aria-label=Changes]')";
    expect(await page.evaluate(`${shown}.scrollHeight > ${shown}.clientHeight`)).toBe(true);
    // Half an input can't be edited.
    await expect.poll(() => card.getByText("Edit before allowing").count()).toBe(0);
    await expectFitting(opened);
    await expect.poll(() => page.title()).toBe("(1) Activity · Matrx Relay");
    await deny.click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test("what has only just appeared can't be pressed, by mouse, by keys or by a script", async () => {
    const call = await ai("sudden");
    let decisions = 0;
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/approvals/")) decisions++;
    });
    // Time stands still on the page, but for moments.
    app.renewAfterTest();
    await page.clock.install();
    await page.reload();
    await online(page);
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
    const shown = (count: number) =>
      expect
        .poll(async () => {
          await page.clock.runFor(20);
          return section().getByRole("button", { name: "Allow once" }).count();
        })
        .toBe(count);
    await shown(1);
    await press();
    await expect.poll(() => yes.getAttribute("aria-disabled")).toBe("true");
    const isInert = () => page.clock.runFor(700).then(() => yes.getAttribute("aria-disabled"));
    await expect.poll(isInert).toBe(null);
    await page.evaluate("document.querySelector('fieldset button').click()");

    // Another one makes all wait again.
    const second = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await shown(2);
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

  test("a card that what stands above has moved can't be pressed for a moment", async () => {
    const lines: WebSocketRoute[] = [];
    await page.routeWebSocket(/account\/ws$/, (line) => {
      lines.push(line);
      line.connectToServer();
    });
    await page.reload();
    await online(page);
    const call = await ai("moved");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await ready("moved asks", "Allow once").waitFor();
    app.renewAfterTest();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1000);
    lines[0]?.send(JSON.stringify({ type: "running", device: app.machine.id, calls: null }));
    await page.getByText(/^What happens on .* is not known$/).waitFor();
    const yes = waiting("moved asks").getByRole("button", { name: "Allow once" });
    await yes.and(page.locator('[aria-disabled="true"]')).waitFor();
    await yes.click({ force: true });
    await page.clock.resume();
    await ready("moved asks", "Deny").click();
    expect(await answer).toContain("APPROVAL_DENIED");
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
    await online(page);
    const second = await other({ userAgent: FIREFOX });
    const call = await ai("patient");
    const first = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await waiting("patient asks").waitFor();
    isCut = true;
    await lines[0]?.close({ code: 1012 });
    await page.getByText("Live connection lost").waitFor();
    await ready("patient asks", "Deny", second).click();
    expect(await first).toContain("APPROVAL_DENIED");
    const next = call("Write", { file_path: join(folder, "b.txt"), content: "b" });
    await decided().getByText("Firefox on Linux denied it").waitFor();
    await waiting("patient asks").getByText("b.txt").first().waitFor();
    isCut = false;
    await page.getByText("Live connection lost").waitFor({ state: "detached" });
    await ready("patient asks", "Allow once").click();
    expect(await next).toContain("b.txt");
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
    await online(page);
    const call = await ai("slow");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await waiting("slow asks")
      .getByRole("timer")
      .getByText(/Expires in (10 min|9 min \d+ s)/)
      .waitFor();
    await ready("slow asks", "Deny").waitFor();
    tell?.(JSON.stringify({ type: "approval", approval: { ...(asked as object), state: "expired" } }));
    await decided().getByText("Expired: nobody decided in time").waitFor();
    await expect.poll(() => waiting("slow asks").count()).toBe(0);
    await ready("slow asks", "Deny", await other()).click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test("a question that changes is told, and can't be answered before there was time to read it", async () => {
    let isChanged = false;
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
    await page.route("**/approvals/approval_*", async (route) => {
      const response = await route.fetch();
      const detail = await response.json();
      if (isChanged) Object.assign(detail, { summary: "Delete all", binding: "0".repeat(64) });
      if (isChanged) detail.question.summary = "Delete all";
      await route.fulfill({ response, json: detail });
    });
    await page.reload();
    await online(page);
    const call = await ai("shifty");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    await ready("shifty asks", "Allow once").waitFor();
    app.renewAfterTest();
    await page.clock.install();
    isChanged = true;
    tell?.(JSON.stringify({ type: "approval", approval: { ...(asked as object), summary: "Delete all" } }));
    const card = waiting("shifty asks");
    await card.getByText("The question has changed. Read it again.").waitFor();
    await card.getByText("Delete all").waitFor();
    await expect.poll(() => card.getByRole("button", { name: "Allow once", disabled: true }).count()).toBe(1);
    await page.unrouteAll({ behavior: "wait" });
    await ready("shifty asks", "Deny").click();
    expect(await answer).toContain("APPROVAL_DENIED");
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const call = await ai("looked at");
    const file = join(folder, "a.txt");
    writeFileSync(file, "old\n");
    const answer = call("Write", { file_path: file, content: `new\n${"long ".repeat(100)}` });
    const seen = await app.open(NEEDS_YOU, { screen });
    const card = waiting("looked at asks", seen.page);
    await ready("looked at asks", "Allow once", seen.page).waitFor();
    for (const summary of await card.locator("summary").all()) await summary.click();
    expect(await smallTargets(seen.page, "main li fieldset button", 44)).toEqual([]);
    await expectNoObjections(seen);
    await ready("looked at asks", "Allow once", seen.page).click();
    expect(await answer).toContain("a.txt");
    await decided(seen.page).getByText("You allowed it").waitFor();
    await expectNoObjections(seen);
  });
});
