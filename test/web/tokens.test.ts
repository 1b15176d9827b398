/** Tokens in the app: made with limits, shown once, changed, revoked; and what an own script's token takes. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createdTokenSchema, tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;
const PATH = "/settings/tokens";

describe("tokens", NEEDS_CHROMIUM, () => {
  const app = startApp();

  const list = (page: Page) => page.getByRole("list", { name: "Tokens" });
  const item = (page: Page, name: string) => list(page).getByRole("listitem").filter({ hasText: name });
  const created = (page: Page) => page.getByRole("group", { name: "New token" });
  const focused = (page: Page) => page.evaluate<string>("document.activeElement.textContent");

  async function stored(name: string) {
    const { tokens } = await app.relay.request(await app.relay.signIn(), "GET /v1/tokens", tokenListSchema);
    return tokens.find((token) => token.name === name);
  }

  async function make(wish: object): Promise<void> {
    await app.relay.request(await app.relay.signIn(), "POST /v1/tokens", createdTokenSchema, wish);
  }

  test("a token for an AI reads only unless more is chosen, is shown once, works, and is revoked", async () => {
    const { page, faults } = await app.open(PATH);
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("page test");
    await page.getByLabel("Folders, one a line").fill("/tmp");
    await page.getByRole("button", { name: "Create the token" }).click();
    const token = (await created(page).textContent()) ?? "";
    await expect.poll(() => focused(page)).toBe(token);
    await page.getByText("Copy it now: it won't be shown again.").waitFor();
    const ask = (path: string, body?: object) =>
      fetch(`${app.relay.url}${path}`, {
        method: body ? "POST" : "GET",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await ask("/v1/account")).status).toBe(200);
    const bash = await ask(`/v1/devices/${app.machine.id}/tools/Bash`, { command: "true" });
    expect(await bash.json()).toMatchObject({ code: "PERMISSION_DENIED" });
    await page.reload();
    await item(page, "page test").waitFor();
    await expect.poll(() => page.locator("body").textContent()).not.toContain(token);
    await page.getByRole("button", { name: "Revoke page test" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Anyone using it is cut off at once, and its running calls are stopped").waitFor();
    await dialog.getByRole("button", { name: "Revoke it" }).click();
    await page.getByText("page test was revoked.").waitFor();
    expect((await ask("/v1/account")).status).toBe(401);
    expect(await stored("page test")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test("a token that was just made is copied with one press", async () => {
    const opened = await app.open(PATH, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
    const { page } = opened;
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("copied");
    await page.getByLabel("Folders, one a line").fill("/tmp");
    await page.getByRole("button", { name: "Create the token" }).click();
    const token = (await created(page).textContent()) ?? "";
    await page.getByRole("button", { name: "Copy" }).first().click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(token);
    await expectNoObjections(opened);
  });

  test("a token is made for one machine and some folders, and changed", async () => {
    const opened = await app.open(PATH);
    const { page } = opened;
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("narrow");
    await page.getByRole("checkbox", { name: app.machine.name, exact: true }).check();
    await page.getByLabel("Folders, one a line").fill("/tmp\n\n /srv/scans ");
    await page.getByLabel("Change files").check();
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Create the token" }).click();
    const says = /May read and write in \/tmp and \/srv\/scans on .+; asks before it writes/;
    await item(page, "narrow").getByText(says).waitFor();
    expect(await stored("narrow")).toMatchObject({
      credential: "ai",
      effects: ["read", "write"],
      devices: [app.machine.id],
      paths: ["/tmp", "/srv/scans"],
    });

    await page.getByRole("button", { name: "Change narrow" }).click();
    await item(page, "narrow").getByLabel("Change files").uncheck();
    await page.getByRole("button", { name: "Save narrow" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("narrow was changed.").waitFor();
    await item(page, "narrow")
      .getByText(/May read in \/tmp and \/srv\/scans on/)
      .waitFor();
    await expect.poll(() => focused(page)).toBe("narrow");
    expect(await stored("narrow")).toMatchObject({ effects: ["read"] });
    expect(opened.faults).toEqual([]);
  });

  test("which tools an AI is shown is chosen by keyboard, said in the list, and changed", async () => {
    const opened = await app.open(PATH);
    const { page } = opened;
    await page.getByRole("button", { name: "New token for an AI" }).click();
    await page.getByLabel("Name", { exact: true }).fill("shown");
    await page.getByLabel("Folders, one a line").fill("/tmp");
    await page.getByText("More options").press("Enter");
    const shown = page.getByLabel("Tools shown to the AI");
    await expect
      .poll(() => shown.locator("option:checked").textContent())
      .toMatch(/^Standard: files, shell,/);
    await shown.selectOption("Choose families");
    const families = page.getByRole("group", { name: "Tool families" });
    for (const family of ["Shell", "Desktop", "Mounted", "System"])
      await families.getByRole("checkbox", { name: family, exact: true }).press("Space");
    await expectNoObjections(opened);
    await page.getByRole("button", { name: "Create the token" }).press("Enter");
    await item(page, "shown").getByText("starts with files and system tools").waitFor();
    expect(await stored("shown")).toMatchObject({ tool_families: ["files", "system"], tools: null });

    await page.getByRole("button", { name: "Change shown" }).click();
    await families.getByRole("checkbox", { name: "Files", exact: true }).uncheck();
    await families.getByRole("checkbox", { name: "System", exact: true }).uncheck();
    const save = page.getByRole("button", { name: "Save shown" });
    await save.click();
    await page.getByRole("alert").getByText("Choose at least one tool family.").waitFor();
    await shown.selectOption("All tools");
    await save.click();
    await item(page, "shown").getByText("starts with all tools").waitFor();
    await save.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Change shown" }).click();
    await shown.selectOption("Standard: files, shell, desktop, mounted");
    await save.click();
    await expect.poll(() => stored("shown")).toMatchObject({ tool_families: null });
    expect(opened.faults).toEqual([]);
  });

  test("a token for an own script is made only by who knows what it may do", async () => {
    const opened = await app.open(PATH);
    const { page } = opened;
    await page.getByRole("button", { name: "New token for my own script" }).click();
    await page.getByText("Never give it to an AI.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("backup");
    await page.getByText("All my machines").click();
    const create = page.getByRole("button", { name: "Create the token" });
    await create.click();
    await expect.poll(() => created(page).count()).toBe(0);
    expect(await stored("backup")).toBeUndefined();
    await page.getByLabel("It is for a script of my own").check();
    await create.click();
    await created(page).waitFor();
    await page.getByRole("alert").getByText("This token acts as you on all your devices").waitFor();
    await item(page, "backup").getByText("Own script: acts as you").waitFor();
    expect(await stored("backup")).toMatchObject({ credential: "script", devices: null });
    await expectNoObjections(opened);
  });

  test("a hostile name is text, and is revoked with the keyboard alone; the focus has a place", async () => {
    await make({ name: HOSTILE, paths: ["/tmp"] });
    const opened = await app.open(PATH);
    const { page } = opened;
    await item(page, HOSTILE).waitFor();
    await expect.poll(() => page.locator("main img, main b").count()).toBe(0);
    const revoke = page.getByRole("button", { name: `Revoke ${HOSTILE}` });
    await revoke.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => focused(page)).toBe("Keep it");
    await expectNoObjections(opened);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe("Revoke");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Keep it");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText(`${HOSTILE} was revoked.`).waitFor();
    await expect.poll(() => focused(page)).toBe("Who has access");
    await expect.poll(() => page.title()).toBe("AI and tokens · Matrx Relay");
    expect(opened.faults).toEqual([]);
  });
});
