/** The record in the app: what happened is listed, verified in the browser, and saved; a changed record shows. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type * as z from "zod";
import type { auditPageSchema } from "../../shared/audit.ts";
import { invoke } from "../e2e/caller.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { expectNoObjections, startApp } from "./app.ts";

type Entries = z.infer<typeof auditPageSchema>["entries"];

const HOSTILE = `<img src=x onerror="document.title='owned'">\u202e`;
const RECORD = "/settings/record";

/** What is done to the entries, and what is said of it. */
const TAMPERED: readonly (readonly [(all: Entries) => unknown, RegExp])[] = [
  [
    (all) => Object.assign(all[1] ?? {}, { at: "2020-01-01T00:00:00.000Z" }),
    /number 2: Its content is not what its hash was made of\./,
  ],
  [(all) => all.splice(1, 1), /number 2: Entry 3 stands where it should be\./],
  [(all) => all.splice(1), /number 2: The record ends here, but .* entry \d+ was written\./],
];

describe("the record", NEEDS_CHROMIUM, () => {
  const app = startApp();
  beforeAll(async () => {
    const base = `${app.relay.url}/v1/devices/${app.machine.id}`;
    await invoke(base, await app.relay.token(), { tool: "Bash", input: { command: `echo '${HOSTILE}'` } });
  });

  const entries = (page: Page) => page.getByRole("list", { name: "Entries" }).getByRole("listitem");

  test.each(["desktop", "phone"] as const)(
    "lists what happened, newest first, as text whatever it holds, on a %s",
    async (screen) => {
      const opened = await app.open(RECORD, { screen });
      const { page } = opened;
      await entries(page).first().waitFor();
      const told = await entries(page)
        .getByText(/^\d+ · /)
        .allTextContents();
      const numbers = told.map((text) => Number.parseInt(text, 10));
      expect(numbers.length).toBeGreaterThan(2);
      expect(numbers).toEqual([...numbers].sort((one, other) => other - one));

      await page.getByLabel("What").selectOption("call");
      const call = entries(page).filter({ hasText: "Bash" });
      await call.getByText("Done", { exact: true }).waitFor();
      await call.getByRole("button", { name: /^Details of entry/ }).click();
      const all = await call.getByRole("region", { name: /^Entry \d+/ }).textContent();
      expect(all).toContain("onerror=");
      expect(all).toContain("\\u{202E}");
      await expect.poll(() => page.locator("main img").count()).toBe(0);
      await expect.poll(() => page.title()).toBe("Record · Matrx Relay");
      await expectNoObjections(opened);
      await page.getByLabel("What").selectOption("session");
      await entries(page).filter({ hasText: "signed in" }).first().waitFor();
      await expect.poll(() => entries(page).filter({ hasText: "Bash" }).count()).toBe(0);
      expect(opened.faults).toEqual([]);
    },
  );

  test("an entry that was edited, dropped or cut off is named", async () => {
    const opened = await app.open(RECORD);
    const { page } = opened;
    let change: (all: Entries) => unknown;
    // Answers for the relay, with entries that were tampered with.
    await page.route("**/v1/audit?after=*", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { entries: Entries };
      change(body.entries);
      await route.fulfill({ response, json: body });
    });
    const verdict = page.getByRole("region", { name: "In order?" }).getByRole("status");
    for (const [tamper, words] of TAMPERED) {
      change = tamper;
      await page.getByRole("button", { name: "Verify the record" }).click();
      await expect.poll(() => verdict.textContent()).toMatch(words);
      await verdict.getByText(/^Not in order/).waitFor();
      await expect.poll(() => verdict.getByText(/^In order/).count()).toBe(0);
    }
    await expectNoObjections(opened);
  });

  test("is saved as a file, with the session's token and not by its cookie", async () => {
    const { page, faults } = await app.open(RECORD);
    const asked = page.waitForRequest(/\/v1\/audit\/export/);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save all as JSON lines" }).click();
    const request = await asked;
    expect(await request.headerValue("Authorization")).toMatch(/^Bearer /);
    expect((await page.request.get(request.url())).status()).toBe(401);
    const download = await saving;
    expect(download.suggestedFilename()).toBe("matrx-record.jsonl");
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line).seq)[0]).toBe(1);
    expect(faults).toEqual([]);
  });
});
