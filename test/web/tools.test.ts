/** Tools in the app: found, filled in, checked, run, stopped, and what they answered. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { expectNoObjections, startApp } from "./app.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("tools", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const tool = (name = "") => `/d/${app.machine.id}/tools${name && `/${name}`}`;

  test("a tool is found, run, and its answer is shown; the machine is proven", async () => {
    const { page, faults } = await app.open(tool());
    await page.getByLabel("Filter tools").fill("SystemInfo");
    await page.getByRole("link", { name: /^SystemInfo/ }).click();
    await page.waitForURL(/\/tools\/SystemInfo$/);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in \d+ ms/).waitFor();
    await page.getByRole("group", { name: "Output" }).getByText("hostname:").waitFor();
    await page.getByText("All tools of").click();
    await page.getByText(/Proven .*: SystemInfo answered/).waitFor();
    expect(faults).toEqual([]);
  });

  test("what is missing or wrong is said at its field, and nothing is sent", async () => {
    const { page } = await app.open(tool("Grep"));
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("This is needed.").waitFor();
    await page.getByLabel("Pattern").fill("x");
    await page.getByLabel("Max results").fill("many");
    await page.getByText("This is no number.").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect(sent.filter((url) => url.includes("/tools/"))).toEqual([]);
  });

  test("output is text whatever it holds, and an exit code is told as such", async () => {
    const { page, faults } = await app.open(tool("Bash"));
    await page.getByLabel("Command").fill(`printf '%s' "${HOSTILE.replaceAll('"', '\\"')}"; exit 3`);
    await page.getByLabel("Command").press("Control+Enter");
    await page.getByText("Exit code 3", { exact: true }).waitFor();
    expect(await page.getByRole("group", { name: "Output" }).textContent()).toContain(HOSTILE);
    expect(await page.locator("main img, main b").count()).toBe(0);
    expect(await page.title()).toBe("Bash · Matrx Relay");
    expect(faults).toEqual([]);
  });

  test("a refusal says why and what to do, and what was typed stays, also after a reload", async () => {
    const { page } = await app.open(tool("Read"));
    await page.getByLabel("File path").fill("/no/such/file");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/Said by the (tool|agent)/)
      .waitFor();
    await page.reload();
    expect(await page.getByLabel("File path").inputValue()).toBe("/no/such/file");
  });

  test("a command that runs shows its output, for how long, and is stopped", async () => {
    const { page, faults } = await app.open(tool("Bash"));
    await page.getByLabel("Command").fill("echo begun; sleep 300");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Bash is running. It goes on if you leave this page.").waitFor();
    await page.getByRole("group", { name: "Output so far" }).getByText("begun").waitFor();
    await page.getByRole("button", { name: `Stop Bash on ${app.machine.name}` }).click();
    await page.getByText(/Failed after/).waitFor();
    expect(faults).toEqual([]);
  });

  test.each([
    ["0", 0],
    ["HDMI-1", "HDMI-1"],
    ["065", "065"],
  ])("what may be a number or text is sent as it is typed: %s", async (typed, sent) => {
    const { page } = await app.open(tool("Screenshot"));
    await page.getByLabel("Monitor").fill(typed);
    const asked = page.waitForRequest(/\/tools\/Screenshot$/);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect((await asked).postDataJSON()).toEqual({ monitor: sent });
  });

  test("Edit takes text away when the new text is left empty", async () => {
    const file = join(temporaryFolder(), "note.txt");
    writeFileSync(file, "keep drop keep");
    const { page } = await app.open(tool("Edit"));
    await page.getByLabel("File path").fill(file);
    await page.getByLabel("Old string").fill(" drop");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Answered in/).waitFor();
    expect(readFileSync(file, "utf8")).toBe("keep keep");
  });

  test.each(["desktop", "phone"] as const)("there is nothing to object to on a %s", async (screen) => {
    for (const dark of [true, false])
      for (const path of [tool(), tool("Bash")]) {
        const opened = await app.open(path, { screen, dark });
        await opened.page.getByText("Connected", { exact: true }).waitFor();
        await expectNoObjections(opened);
      }
  });
});
