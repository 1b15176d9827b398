/** Approvals in the app: a real agent, an AI grant that asks, and people who decide. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Policy } from "../../shared/policy.ts";
import { tokenListSchema } from "../../shared/token-api.ts";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { expectNoObjections, startApp } from "./app.ts";
import { callerOf } from "./callers.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"><b>x</b>`;

describe("approvals", NEEDS_CHROMIUM, () => {
  const app = startApp();
  const ai = (name: string, folder: string) => callerOf(app, { name, paths: [folder] });
  const section = (page: Page) => page.getByRole("region", { name: "Needs you" });
  const card = (page: Page, name: string) => section(page).getByRole("listitem", { name });
  const decided = (page: Page) => section(page).getByRole("list", { name: "Decided recently" });

  /** The relay's own policy of the machine, until the end of the test. */
  async function policy(wanted: Policy): Promise<void> {
    const put = async (one: Policy) =>
      app.relay.request(
        await app.relay.signIn(),
        `PUT /v1/devices/${app.machine.id}/policy`,
        z.unknown(),
        one,
      );
    onTestFinished(() => put({}).then(() => undefined));
    await put(wanted);
  }

  test("a file that an AI wants to write is shown as a diff, and written once it is allowed in the list", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "a.txt");
    writeFileSync(file, "one\ntwo\n");
    const { page, faults } = await app.open("/fleet");
    const answer = (await ai("writer", folder))("Write", { file_path: file, content: "one\n2\n" });
    await page.getByRole("banner").getByRole("link", { name: "1 need you" }).click();
    const asked = card(page, "writer asks to use Write");
    await asked.getByText(file).first().waitFor();
    await asked.getByText("Changes files", { exact: true }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    expect(await asked.locator("ins").allTextContents()).toEqual(["+2\n"]);
    expect(await asked.locator("del").allTextContents()).toEqual(["-two\n"]);
    expect(readFileSync(file, "utf8")).toContain("two");
    await asked.getByRole("button", { name: "Allow once" }).click();
    await decided(page).getByText("You allowed it", { exact: true }).waitFor();
    expect(await answer).toMatchObject({ type: "success" });
    expect(readFileSync(file, "utf8")).toBe("one\n2\n");
    await expect.poll(() => page.title()).not.toContain("(1)");
    expect(faults).toEqual([]);
  });

  test("a command is denied with a word, which its caller gets", NEEDS_SANDBOX, async () => {
    const folder = temporaryFolder();
    const { page, faults } = await app.open("/activity?show=needs-you");
    const answer = (await ai("runner", folder))("Bash", { command: `cd '${folder}'\ntouch ran` });
    const asked = card(page, "runner asks to use Bash");
    await asked.getByText("touch ran").first().waitFor();
    await asked.getByText("Deny with a word to the AI").click();
    await asked.getByLabel("What it should know").fill("Use make check instead");
    await asked.getByRole("button", { name: "Deny with this word" }).click();
    await decided(page).getByText("You denied it: Use make check instead").waitFor();
    expect(JSON.stringify(await answer)).toMatch(
      /APPROVAL_DENIED.*Use make check instead|Use make check instead.*APPROVAL_DENIED/,
    );
    expect(faults).toEqual([]);
  });

  test("a person edits what runs; hidden characters are seen", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "a.txt");
    const { page, faults } = await app.open("/activity");
    const answer = (await ai("edited", folder))("Write", { file_path: file, content: "rm\u202e -rf" });
    const asked = card(page, "edited asks to use Write");
    await asked.getByText("Edit before allowing").click();
    const input = asked.getByLabel("Input as JSON");
    expect(await input.inputValue()).toContain("rm\\u202E -rf");
    await input.fill("[1");
    await asked.getByRole("button", { name: "Allow with these changes" }).click();
    await asked.getByText(/not valid JSON/).waitFor();
    await input.fill(JSON.stringify({ file_path: file, content: "safe\n" }));
    await asked.getByRole("button", { name: "Allow with these changes" }).click();
    await decided(page).getByText("You allowed it with changes").waitFor();
    expect(await answer).toMatchObject({ type: "success" });
    expect(readFileSync(file, "utf8")).toBe("safe\n");
    expect(faults).toEqual([]);
  });

  test("always edits the token, visibly, and it is not asked about that tool again", async () => {
    const folder = temporaryFolder();
    const call = await ai("trusted", folder);
    const { page } = await app.open("/activity");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const asked = card(page, "trusted asks to use Write");
    await asked.getByText(/this edits the token/).waitFor();
    await asked.getByRole("button", { name: "Always for this tool" }).click();
    await decided(page).getByText("You allowed it always").waitFor();
    expect(await answer).toMatchObject({ type: "success" });
    const { tokens } = await app.relay.request(await app.relay.signIn(), "GET /v1/tokens", tokenListSchema);
    expect(tokens.find(({ name }) => name === "trusted")?.ask).toMatchObject([{ except: ["Write"] }]);
    expect(await call("Write", { file_path: join(folder, "b.txt"), content: "b" })).toMatchObject({
      type: "success",
    });
  });

  test("what a policy asks can't be lifted for a token: that is said, and the call still waits", async () => {
    const folder = temporaryFolder();
    const call = await ai("bound", folder);
    await policy({ ask: [{ tools: ["Write"] }] });
    const { page } = await app.open("/activity");
    const answer = call("Write", { file_path: join(folder, "a.txt"), content: "a" });
    const asked = card(page, "bound asks to use Write");
    await asked.getByRole("button", { name: "Always for this tool" }).click();
    await page.getByText("policy asks about Write").first().waitFor();
    await asked.getByRole("button", { name: "Always for this tool" }).waitFor({ state: "detached" });
    await asked.getByRole("button", { name: "Deny", exact: true }).click();
    expect(await answer).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  test("another page's decision is told, and two people never decide both", async () => {
    const folder = temporaryFolder();
    const call = await ai("twice", folder);
    const { page } = await app.open("/activity");
    const other = await app.open("/activity");
    const answer = call("create_directory", { path: join(folder, "new") });
    await card(other.page, "twice asks to use create_directory")
      .getByRole("button", { name: "Allow once" })
      .waitFor();
    await card(page, "twice asks to use create_directory")
      .getByRole("button", { name: "Deny", exact: true })
      .click();
    await card(other.page, "twice asks to use create_directory").waitFor({ state: "detached" });
    await decided(other.page)
      .getByText(/denied it/)
      .waitFor();
    expect(await answer).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  test.each(["desktop", "phone"] as const)(
    "a hostile question is text, and objected to by nobody, on a %s",
    async (screen) => {
      const folder = temporaryFolder();
      const call = await ai(`${HOSTILE}${screen}`, folder);
      const { page, faults } = await app.open("/activity", { screen });
      const answer = call("Write", {
        file_path: join(folder, HOSTILE.replaceAll("/", "")),
        content: HOSTILE.repeat(30),
      });
      const asked = section(page).getByRole("listitem").filter({ hasText: "asks to use Write" });
      await asked.getByRole("button", { name: "Allow once" }).waitFor();
      expect(await asked.locator("img, b").count()).toBe(0);
      await expectNoObjections({ page, faults });
      for (const button of await asked.getByRole("button", { name: /^(Allow|Deny)/ }).all()) {
        const box = await button.boundingBox();
        if (screen === "phone" && box) expect(box.height).toBeGreaterThanOrEqual(44);
      }
      await asked.getByRole("button", { name: "Deny", exact: true }).click();
      expect(await answer).toMatchObject({ code: "APPROVAL_DENIED" });
    },
  );
});
