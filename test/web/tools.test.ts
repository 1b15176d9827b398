/** Tools in the app: found, filled in, checked, run; what was typed stays, and what cannot run says why. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { expectNoObjections, startApp } from "./app.ts";

describe("tools", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const tool = (name = "") => `/d/${app.machine.id}/tools${name && `/${name}`}`;
  const run = (page: Page) => page.getByRole("button", { name: "Run", exact: true });

  test("a tool is found, run, and its answer is shown; the machine is proven", async () => {
    const { page, faults } = await app.open(tool());
    await page.getByLabel("Filter tools").fill("distribution hostname");
    await page.getByText("No tool has that").waitFor();
    await page.getByLabel("Filter tools").fill("systeminfo");
    await page.getByLabel("Filter tools").press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/tools\/SystemInfo$/);
    await page.getByRole("heading", { name: "SystemInfo", level: 1 }).waitFor();
    await page.getByText("Only reads", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Filter tools").inputValue()).toBe("systeminfo");
    await run(page).click();
    await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    await page
      .getByText(/^\d.* free of \d.*iB$/)
      .first()
      .waitFor();
    await page
      .getByText(/Answered in \d/)
      .first()
      .waitFor();
    await page.getByText(/Proven just now: SystemInfo answered in \d+ ms/).waitFor();
    expect(faults).toEqual([]);
  });

  test("the first call works with the keyboard alone", async () => {
    const opened = await app.open("/fleet");
    const { page } = opened;
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await page.getByRole("link", { name: `Tools of ${app.machine.name}` }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe(`Tools of ${app.machine.name}`);
    await page.getByRole("link", { name: /^SystemInfo/ }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("SystemInfo");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Skip the list of tools");
    await expectNoObjections(opened);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Run");
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    await expect.poll(focused).toBe("Run");
    expect(opened.faults).toEqual([]);
  });

  test("what is missing or wrong is said at its field, and nothing is sent", async () => {
    const { page } = await app.open(tool("Grep"));
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await run(page).click();
    await page.getByText("Fill this in: the tool needs it.").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.name")).toBe("pattern");
    await page.getByLabel("Pattern").fill("x");
    await page.getByLabel("Max results").fill("many");
    await page.getByText("This is not a number.").waitFor();
    await page.getByLabel("Max results").fill("5001");
    await page.getByText("It can be at most 5000.").waitFor();
    await run(page).click();
    expect(sent.filter((url) => url.includes("/tools/"))).toEqual([]);
    await expect.poll(() => page.getByLabel("Pattern").inputValue()).toBe("x");
  });

  test("what is wrong with a rarely used field is not folded away", async () => {
    const { page } = await app.open(tool("Bash"));
    await page.getByLabel("Command").fill("echo");
    await page.getByText("2 more options").click();
    await page.getByLabel("Yield (milliseconds)").fill("-1");
    await page.getByText("2 more options").click();
    await page.getByText("It has to be at least 1.").waitFor();
    await page.getByLabel("Yield (milliseconds)").fill("");
    await page.getByText("2 more options").click();
    await expect.poll(() => page.getByLabel("Yield (milliseconds)").count()).toBe(0);
  });

  test("JSON is checked while it is typed, and lists are filled line by line", async () => {
    const file = join(temporaryFolder(), "note.txt");
    writeFileSync(file, "one two");
    const { page } = await app.open(tool("Edit"));
    await page.getByLabel("File path").fill(file);
    await page.getByText("4 more options").click();
    await page.getByLabel("Edits").fill('[{"old_string": "one"');
    await page.getByText("This is not valid JSON yet.").waitFor();
    await page.getByLabel("Edits").fill('[{"old_string": "one"}]');
    await run(page).click();
    await page.getByText("0.new_string is missing.").waitFor();
    await page.getByLabel("Edits").fill('[{"old_string": "one", "new_string": "1"}]');
    await run(page).click();
    await page.getByRole("group", { name: "Changes" }).getByText("+1 two").waitFor();
    expect(readFileSync(file, "utf8")).toBe("1 two");

    await page.goto(`${app.relay.url}${tool("TerminalInput")}`);
    await page.getByRole("textbox", { name: "Terminal" }).fill("none");
    await page.getByLabel("Keys 1").fill("ctrl-c");
    await page.keyboard.press("Enter");
    await page.keyboard.type("enter");
    await page.getByRole("button", { name: "Add another to Keys" }).click();
    const asked = page.waitForRequest(/\/tools\/TerminalInput$/);
    await page.keyboard.press("Control+Enter");
    expect((await asked).postDataJSON()).toEqual({ terminal: "none", keys: ["ctrl-c", "enter"] });
  });

  test.each([
    ["0", 0],
    ["HDMI-1", "HDMI-1"],
    ["065", "065"],
  ])("what may be a number or text is sent as it is typed: %s", async (typed, sent) => {
    const { page } = await app.open(tool("Screenshot"));
    await page.getByLabel("Monitor").fill(typed);
    const asked = page.waitForRequest(/\/tools\/Screenshot$/);
    await run(page).click();
    expect((await asked).postDataJSON()).toEqual({ monitor: sent });
  });

  test("Edit takes text away when the new text is left empty", async () => {
    const file = join(temporaryFolder(), "note.txt");
    writeFileSync(file, "keep drop keep");
    const { page } = await app.open(tool("Edit"));
    await page.getByLabel("File path").fill(file);
    await page.getByLabel("Old string").fill(" drop");
    await run(page).click();
    await page
      .getByText(/Answered in/)
      .first()
      .waitFor();
    expect(readFileSync(file, "utf8")).toBe("keep keep");
  });

  test("a file that was read has its language's colours, in either theme: nothing moves, and its text is copied", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    const opened = await app.openAlone(tool("Read"), { context });
    const { page } = opened;
    const file = join(temporaryFolder(), "greet.ts");
    writeFileSync(file, 'export const text = "two\\n";\n// the end\n');
    const coming = Promise.withResolvers<void>();
    await page.route("**/assets/highlight-*.js", async (route) => {
      await coming.promise;
      await route.continue();
    });
    await page.getByLabel("File path").fill(file);
    await run(page).click();
    const output = page.getByRole("group", { name: "Output", exact: true });
    await output.waitFor();
    const before = [await output.boundingBox(), await output.ariaSnapshot(), await output.innerText()];
    expect(await output.locator("span[style]").count()).toBe(0);
    coming.resolve();
    await expect.poll(() => output.locator("span[style]").allTextContents()).toContain("export");
    expect([await output.boundingBox(), await output.ariaSnapshot(), await output.innerText()]).toEqual(
      before,
    );
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Copy the text" }).click();
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"))
      .toBe('     1\texport const text = "two\\n";\n     2\t// the end');
  });

  test("a refusal says what to do and who said so; what was typed stays through tools and reloads", async () => {
    const { page } = await app.open(tool("Read"));
    await page.getByLabel("File path").fill("/no/such/file");
    await run(page).click();
    const alert = page.getByRole("alert");
    await alert.getByText(/^What to do: .*ListDirectory/).waitFor();
    await alert.getByText("Said by the tool (NOT_FOUND)").waitFor();
    await page.getByRole("link", { name: /^Glob/ }).click();
    await page.getByLabel("Pattern").fill("*.md");
    await page.getByRole("link", { name: /^Read/ }).click();
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe("/no/such/file");
    await page.reload();
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe("/no/such/file");
    await page.getByRole("button", { name: "Empty the form" }).click();
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe("");
    await page.reload();
    await expect.poll(() => page.getByLabel("File path").inputValue()).toBe("");
    expect(await page.evaluate("Object.values(localStorage).join().includes('/no/such/file')")).toBe(false);
  });

  test("nothing that was typed or run is left for whoever signs in next", async () => {
    const { page } = await app.openAlone(tool("Bash"));
    await page.getByLabel("Command").fill("echo secret");
    await page.keyboard.press("Control+Enter");
    await page
      .getByText(/Answered in/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByText("You have no passkey here").waitFor();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await expect
      .poll(() => page.evaluate("Object.values(sessionStorage).join().includes('secret')"))
      .toBe(false);
  });

  test("a machine that is offline says so, and since when; what is typed is kept", async () => {
    const { page } = await app.open("/fleet");
    await page.route("**/v1/devices", async (route) => {
      const answer = await (await route.fetch()).json();
      for (const device of answer.devices) device.state = "OFFLINE";
      await route.fulfill({ json: answer });
    });
    app.renewAfterTest();
    await page.clock.install();
    await page.goto(`${app.relay.url}${tool("Bash")}`);
    await page.getByText(`${app.machine.name} is offline: it was last seen`).waitFor();
    await page.getByLabel("Command").fill("echo later");
    await expect.poll(() => run(page).isDisabled()).toBe(true);
    await page.unroute("**/v1/devices");
    await page.clock.fastForward(10_000);
    await expect.poll(() => run(page).isEnabled()).toBe(true);
    await expect.poll(() => page.getByLabel("Command").inputValue()).toBe("echo later");
  });

  test("a tool that is not there, only for programs, or can't work now is told as that", async () => {
    const { page } = await app.open(tool("FileInfo"));
    await page.getByText("This machine has no tool “FileInfo”. Choose another one.").waitFor();
    await expect.poll(() => page.getByRole("link", { name: /^UploadCommit/ }).count()).toBe(0);
    await page.getByRole("link", { name: /^OpenUrl/ }).click();
    await page.getByText("It can't work there now").waitFor();
  });

  test("a call is copied as other programs make it", async () => {
    const opened = await app.open(tool("Bash"));
    const { page } = opened;
    await page.getByText("Use it from a program").click();
    await page.getByText("Fill in the form first.").waitFor();
    await page.getByLabel("Command").fill("echo 'it''s'");
    const shown = page.getByRole("group", { name: /^As / });
    await expect
      .poll(() => shown.textContent())
      .toContain(`-d '{"command":"echo '\\''it'\\'''\\''s'\\''"}' '${app.relay.url}/v1/devices/`);
    await page.getByText("JSON", { exact: true }).click();
    await expect
      .poll(() => shown.textContent())
      .toBe(JSON.stringify({ id: "1", tool: "Bash", input: { command: "echo 'it''s'" } }));
    await page.getByText("MCP", { exact: true }).click();
    await expect.poll(() => shown.textContent()).toContain('"method":"tools/call"');
    await expectNoObjections(opened);
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    const opened = await app.open(tool(), { screen });
    const { page } = opened;
    for (const path of [tool(), tool("Bash"), tool("Grep")]) {
      await page.goto(`${app.relay.url}${path}`);
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.locator("#page-title").waitFor();
      if (path.endsWith("Grep")) {
        await run(page).click();
        await page.getByText("8 more options").click();
        await page.getByLabel("Literal").waitFor();
      }
      await expectNoObjections(opened);
    }
  });

  test("on a phone the list and each tool have a page of their own, and a way back", async () => {
    const { page } = await app.open(tool(), { screen: "phone" });
    await page.getByRole("link", { name: /^Glob/ }).tap();
    await page.getByLabel("Pattern").waitFor();
    await expect.poll(() => page.getByLabel("Filter tools").isVisible()).toBe(false);
    await page.getByRole("link", { name: `All tools of ${app.machine.name}` }).tap();
    await page.getByLabel("Filter tools").waitFor();
    await expect.poll(() => page.getByLabel("Pattern").count()).toBe(0);
  });
});
