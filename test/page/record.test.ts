/** The record on the page: what happened is listed, verified in the browser, and saved; a changed record shows. */
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type * as z from "zod";
import type { auditPageSchema } from "../../shared/audit.ts";
import { invoke } from "../e2e/caller.ts";
import { NEEDS_CHROMIUM, startBrowser } from "../helpers/browser.ts";
import { connectMachine, type Machine } from "../helpers/machine.ts";
import { startRelay, type TestRelay } from "../helpers/relay.ts";
import { objections } from "../web/objections.ts";

type AuditPage = z.infer<typeof auditPageSchema>;

const HOSTILE = `<img src=x onerror="document.title='owned'">\u202e`;

describe("the record on the page", NEEDS_CHROMIUM, () => {
  let relay: TestRelay;
  let machine: Machine;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    relay = await startRelay();
    machine = await connectMachine(relay);
    browser = await startBrowser();
    const base = `${relay.url}/v1/devices/${machine.id}`;
    await invoke(base, await relay.token(), { tool: "Bash", input: { command: `echo '${HOSTILE}'` } });
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.agent.stop();
    await relay?.stop();
  });
  beforeEach(async () => {
    faults = [];
    page = await (await browser.newContext({ acceptDownloads: true })).newPage();
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    await page.goto(await relay.signInLink());
    await page.getByRole("heading", { name: "Record" }).waitFor();
  });
  afterEach(async () => {
    await page.context().close();
    expect(faults).toEqual([]);
  });

  const section = () => page.getByRole("region", { name: "Record" });
  const entries = () => section().getByRole("list", { name: "Entries" }).getByRole("listitem");
  const press = (name: string) => section().getByRole("button", { name }).click();

  /** Answers for the relay, with entries that were tampered with. */
  async function tamper(change: (entries: AuditPage["entries"]) => void): Promise<void> {
    await page.route("**/v1/audit?after=*", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as AuditPage;
      change(body.entries);
      await route.fulfill({ response, json: body });
    });
  }

  test("lists what happened, newest first, as text whatever it holds", async () => {
    await section().getByLabel("What").selectOption("call");
    await press("Show");
    const call = entries().filter({ hasText: "Bash: success" });
    await call.getByText("Details").click();
    expect(await call.locator("pre").textContent()).toContain("\\u{202E}");
    expect(await call.locator("img").count()).toBe(0);
    await section().getByLabel("What").selectOption("session");
    await press("Show");
    await entries().filter({ hasText: "signed in" }).first().waitFor();
    expect(await entries().filter({ hasText: "Bash" }).count()).toBe(0);
    expect(await page.title()).toBe("Matrx Relay");
    expect(await objections(page)).toEqual([]);
  });

  test("is verified, up to its signed end", async () => {
    await press("Verify the record");
    await section()
      .getByText(/^In order: \d+ entries/)
      .waitFor();
  });

  test.each([
    [
      "edited",
      (all: AuditPage["entries"]) => Object.assign(all[1] ?? {}, { at: "2020-01-01T00:00:00.000Z" }),
      /number 2: its content/,
    ],
    ["dropped", (all: AuditPage["entries"]) => all.splice(1, 1), /number 3: entry 2 should stand here/],
    ["cut off", (all: AuditPage["entries"]) => all.splice(1), /the record ends before it/],
  ] as const)("an entry that was %s is named", async (_, change, words) => {
    await tamper((all) => void change(all));
    await press("Verify the record");
    await section()
      .getByText(/^Not in order/)
      .waitFor();
    expect(
      await section()
        .getByText(/^Not in order/)
        .textContent(),
    ).toMatch(words);
    expect(await objections(page)).toEqual([]);
  });

  test("is saved as a file, with the session's token and not by its cookie", async () => {
    const saving = page.waitForEvent("download");
    await press("Save as JSON lines");
    const download = await saving;
    expect(download.suggestedFilename()).toBe("matrx-record.jsonl");
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line).seq)[0]).toBe(1);
  });
});
