/** Calls on the page that take their time: seen as they run, stopped, and with connections that break. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Line } from "../e2e/line.ts";
import { processesOf } from "../e2e/processes.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { makeFolder, removeFolder } from "../helpers/folder.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

describe("a call on the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let line: Line;
  let page: Page;
  let folder: string;
  let faults: string[];

  beforeAll(async () => {
    line = await Line.open();
    relay = await startRelay({ publicUrl: `http://localhost:${line.port}` });
    line.leadTo(relay.port);
    machine = await connectMachine(relay);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
    await line?.close();
  });

  beforeEach(async () => {
    faults = [];
    folder = makeFolder();
    const context = await browser.newContext();
    page = await context.newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(await relay.signInLink());
    await page.getByRole("heading", { name: "Access" }).waitFor();
    await page.getByLabel("Tool", { exact: true }).selectOption("Bash");
    return () => context.close();
  });
  afterEach(async () => {
    await expect.poll(() => processesOf(folder)).toEqual([]);
    removeFolder(folder);
    expect(faults).toEqual([]);
  });

  const output = () => page.getByLabel("Output");
  const said = () => page.getByRole("region", { name: "Answer" }).getByRole("status");
  const stop = () => page.getByRole("button", { name: "Stop", exact: true });

  /** Runs a command in the folder of the test. */
  async function bash(command: string): Promise<void> {
    await page.getByLabel("command (needed)").fill(`cd '${folder}'; ${command}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
  }

  /** Lets a command go on that waits for it. */
  function letGo(): void {
    writeFileSync(join(folder, "go"), "");
  }
  const UNTIL_GO = "until [ -e go ]; do sleep 0.05; done";

  test("its output is seen before its end, and several follow each other", async () => {
    await bash(`echo first; ${UNTIL_GO}; echo last`);
    await expect.poll(() => output().textContent()).toBe("first\n");
    expect(await said().textContent()).toBe(
      `Bash is running on ${machine.name}. It keeps running if you leave this view.`,
    );
    expect(await page.getByRole("timer").textContent()).toMatch(/^\d+ s$/);
    letGo();
    await page.getByText(/Answered in/).waitFor();
    expect(await output().textContent()).toBe("first\nlast\n");
    expect(await stop().count()).toBe(0);

    await bash("echo second; exit 3");
    await expect.poll(() => output().textContent()).toBe("second\n[Exit code 3]");
    await page.getByLabel("Tool", { exact: true }).selectOption("SystemInfo");
    expect(await output().count()).toBe(0);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
  });

  test("Stop ends it with all its processes, by keyboard too, and what it wrote stays", async () => {
    await bash("echo begun; sleep 60 & sleep 60; touch late");
    await expect.poll(() => output().textContent()).toBe("begun\n");
    expect(processesOf(folder)).not.toEqual([]);
    await stop().focus();
    await page.keyboard.press("Enter");
    await page.getByText(/From the (tool|agent) \(CANCELLED\)/).waitFor();
    expect(await output().textContent()).toBe("Output so far:\nbegun\n");
    expect(processesOf(folder)).toEqual([]);
    expect(existsSync(join(folder, "late"))).toBe(false);
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("status");
  });

  test("the last of much output is shown, its end is followed, and whoever scrolled up stays there", async () => {
    await bash(`seq 1 40000; ${UNTIL_GO}; echo 'the end'; ${UNTIL_GO.replace("go", "over")}`);
    await expect.poll(() => output().textContent()).toMatch(/39999\n40000\n$/);
    // 1 to 40000, one a line, are 228,894 characters.
    await page.getByText("The first 28,894 characters are not shown.").waitFor();
    expect((await output().textContent())?.length).toBe(200_000);
    const place = () =>
      output().evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
        above: Math.round(scrollTop),
        below: Math.round(scrollHeight - scrollTop - clientHeight),
      }));
    expect((await place()).below).toBeLessThan(8);
    await output().evaluate((box) => box.scrollTo(0, 5000));
    letGo();
    await expect.poll(() => output().textContent()).toMatch(/the end\n$/);
    // A line went at the beginning for the one that came.
    const { above, below } = await place();
    expect(above).toBeGreaterThan(4900);
    expect(above).toBeLessThanOrEqual(5000);
    expect(below).toBeGreaterThan(1000);
    writeFileSync(join(folder, "over"), "");
    await page.getByText(/Answered in/).waitFor();
  });

  test("signs that steer a terminal are seen as they come and do nothing; the answer leaves them out", async () => {
    await bash(
      `printf '\\033[31mred\\033[0m\\r\\n10%%\\r20%%\\r'; ${UNTIL_GO}; printf '\\n\\342\\200\\250<b>é'`,
    );
    await expect.poll(() => output().textContent()).toBe("␛[31mred␛[0m\n10%␍\n20%");
    letGo();
    await page.getByText(/Answered in/).waitFor();
    const note =
      /\n\[1 state of a line overwritten by \\r left out: BashOutput shows all with raw=true, bash_id "\S+"\]$/;
    const shown = (await output().textContent()) ?? "";
    expect(shown.replace(note, "")).toBe("red\n20%\n\u2028<b>é");
    expect(shown).toMatch(note);
  });

  test("a connection that breaks does not lose a call with an effect", async () => {
    await bash(`echo before; ${UNTIL_GO}; echo ran >> runs; echo after`);
    await expect.poll(() => output().textContent()).toBe("before\n");
    line.leadTo(1);
    line.cut();
    await expect.poll(() => said().textContent()).toMatch(/Can't reach the relay\. Asking again/);
    expect(await output().textContent()).toBe("before\n");
    line.leadTo(relay.port);
    await expect.poll(() => said().textContent()).toMatch(/^Bash is running on/);
    letGo();
    await page.getByText(/Answered in/).waitFor();
    expect(await output().textContent()).toBe("before\nafter\n");
    await bash("cat runs");
    await expect.poll(() => output().textContent()).toBe("ran\n");
  });

  test("a connection that falls silent is taken for broken, and another one is opened", async () => {
    await page.clock.install();
    await bash(`echo before; ${UNTIL_GO}`);
    await expect.poll(() => output().textContent()).toBe("before\n");
    line.hold("down");
    await page.clock.fastForward(50_000);
    await expect.poll(() => said().textContent()).toMatch(/^Connection lost\. Asking/);
    line.cut();
    await expect.poll(() => said().textContent()).toMatch(/^Bash is running on/);
    letGo();
    await page.getByText(/Answered in/).waitFor();
  });

  test("a read whose connection breaks says that it only read", async () => {
    await page.route("**/tools/SystemInfo", (route) =>
      route.fulfill({
        contentType: "text/event-stream",
        headers: { "Matrx-Call": "x" },
        body: ": hello\n\n",
      }),
    );
    await page.getByLabel("Tool", { exact: true }).selectOption("SystemInfo");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("SystemInfo only reads, so nothing was changed: just run it again.").waitFor();
  });

  test("a call that may have been made, or not, is told as that", async () => {
    await page.route("**/tools/Bash", (route) => route.abort());
    await bash("echo");
    await page.getByText("it is unclear whether the call was made").waitFor();
  });

  test("live output that did not get here is told", async () => {
    const events = [
      { type: "output", channel: "stdout", offset: 0, data: "a\n" },
      { type: "output", channel: "stdout", offset: 12, data: "b\n" },
      { type: "gap", frames: 2 },
      { type: "output", channel: "stdout", offset: 90, data: "c\n" },
    ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    const error = { title: "Timed out", detail: "It took too long", code: "TIMEOUT", hop: "relay" };
    await page.route("**/tools/Bash", (route) =>
      route.fulfill({
        contentType: "text/event-stream",
        headers: { "Matrx-Call": "x" },
        body: `${events.join("")}event: error\nid: end\ndata: ${JSON.stringify(error)}\n\n`,
      }),
    );
    await bash("echo");
    await page.getByText("From the relay (TIMEOUT)").waitFor();
    expect(await output().textContent()).toBe(
      "a\n\n[10 bytes of live output are missing here]\nb\n\n[2 pieces of live output are missing here]\nc\n",
    );
  });

  test("progress, parts and links of an answer are shown, as text and never as markup", async () => {
    const progress = { type: "progress", progress: 1, total: 4, message: "<b>bold</b>\nsecond" };
    const answer = {
      ...{ type: "success", output: "heard", image: null, call: "x" },
      content: [
        { type: "text", text: "heard" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        { type: "audio", data: "UklGRg==", mimeType: "text/html" },
        { type: "resource_link", uri: "javascript:alert(1)", name: "<img src=x onerror=alert(1)>" },
        { type: "resource", resource: { uri: "file:///a", text: "<script>" } },
      ],
    };
    const events = [
      `event: progress\ndata: ${JSON.stringify(progress)}\n\n`,
      `event: result\nid: end\ndata: ${JSON.stringify(answer)}\n\n`,
    ];
    await page.route("**/tools/Bash", (route) =>
      route.fulfill({
        contentType: "text/event-stream",
        headers: { "Matrx-Call": "x" },
        body: events.join(""),
      }),
    );
    await bash("echo");
    await page.getByText("Link: <img src=x onerror=alert(1)> (javascript:alert(1))").waitFor();
    expect(await page.locator("audio").count()).toBe(1);
    expect(await page.locator("audio").getAttribute("src")).toBe("data:audio/wav;base64,UklGRg==");
    expect(await page.locator("a[href^='javascript'], img[src='x']").count()).toBe(0);
    await page.getByText("Audio of type text/html, which can't be played here.").waitFor();
  });

  test("leaving the view lets the call go on, and says where to look", async () => {
    await bash(`echo begun; ${UNTIL_GO}; echo done > ended`);
    await expect.poll(() => output().textContent()).toBe("begun\n");
    await page.getByRole("button", { name: `Open ${machine.name}` }).click();
    const told = page.getByText(`Bash keeps running on ${machine.name}. Its result will be at`);
    const url = (await told.textContent())?.match(/http\S+/)?.[0] ?? "";
    letGo();
    await expect.poll(() => existsSync(join(folder, "ended"))).toBe(true);
    await page.goto(url);
    await page.getByRole("heading", { name: "A call of" }).waitFor();
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: "Look again" }).click();
        return page.textContent("main");
      })
      .toContain("Bash is over.");
    expect(await page.locator("pre.output").textContent()).toBe("begun\n");
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("heading", { name: "Devices" }).waitFor();
  });

  test("signing out stops it", async () => {
    await bash("echo begun; sleep 60");
    await expect.poll(() => output().textContent()).toBe("begun\n");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expect.poll(() => processesOf(folder)).toEqual([]);
    expect(await page.getByRole("status").first().textContent()).toBe("");
  });

  test.each([
    ["light", 320],
    ["dark", 320],
    ["light", 1280],
    ["dark", 1280],
  ] as const)("axe finds nothing to object to while it runs and after: %s, %i px", async (scheme, width) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const pageWidth = () => page.evaluate("document.documentElement.scrollWidth");
    await bash(`printf 'wide %.0s' $(seq 200); echo; seq 100; ${UNTIL_GO}`);
    await expect.poll(() => output().textContent()).toMatch(/100\n$/);
    expect(await objections(page)).toEqual([]);
    expect(await pageWidth()).toBeLessThanOrEqual(width);
    // Lines are not broken: the output scrolls sideways.
    expect(await output().evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
    await stop().click();
    await page.getByText("(CANCELLED)").waitFor();
    expect(await objections(page)).toEqual([]);
    expect(await pageWidth()).toBeLessThanOrEqual(width);
  });
});
