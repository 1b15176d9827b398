/** Names and words that others chose: shown as text on every page, in their own place, and never as words of ours. */
import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { NEEDS_SANDBOX } from "../agent/sandbox/needs-sandbox.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { LONG } from "../helpers/long-mode.ts";
import { APP, type Screen, startApp } from "./app.ts";
import { callerOf } from "./caller.ts";

const MARKUP = `<img src=x onerror="window.owned=1"><a href="javascript:window.owned=1">`;
/** Turns what follows around, breaks the line, hides, and is too long for any line. */
const HOSTILE = `a\u202Etxt.exe\u2066\nApproved \u200B\u{E0041}${MARKUP}שלום ${"W".repeat(150)} 👩‍👩‍👧 ٠`;
/** What a name may consist of at the relay, at its worst. */
const NAME = `שלום ${"W".repeat(40)} <b>x</b> 👩 (offline)`;
/** Fields whose words others choose. */
const WORDS = new Set([
  ...["name", "hostname", "os", "os_version", "agent_version", "title", "description", "details", "summary"],
  ...[
    "event_type",
    "severity",
    "key",
    "display_name",
    "grant_name",
    "shared_by",
    "preview",
    "detail",
    "hint",
  ],
  ...["note", "decided_by", "unavailable", "message", "host", "problem", "warning", "changed_by"],
]);

describe("hostile names", NEEDS_CHROMIUM, () => {
  const app = startApp();

  function rewritten(value: unknown, words: string, key = ""): unknown {
    if (Array.isArray(value)) return value.map((each) => rewritten(each, words, key));
    if (typeof value === "string") return WORDS.has(key) ? words : value;
    if (typeof value !== "object" || value === null) return value;
    const more = "tags" in value || key === "devices" ? { tags: [words.slice(0, 60), "x"] } : {};
    return {
      ...Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, rewritten(each, words, name)]),
      ),
      ...more,
    };
  }

  const rewriting = (words: string) => async (route: Route) => {
    const request = route.request();
    if (request.method() !== "GET" || /\/(session|ws)$/.test(request.url())) return route.fallback();
    const response = await route.fetch();
    if (!response.headers()["content-type"]?.includes("json")) return route.fulfill({ response });
    await route.fulfill({ response, json: rewritten(await response.json(), words) });
  };

  async function expectOnlyText(page: Page, what: string): Promise<void> {
    const found = await page.evaluate<Record<string, unknown>>(`({
      owned: window.owned, markup: document.querySelectorAll('img[src="x"], a[href^="javascript"], main b').length,
      turned: /[\\u202A-\\u202E\\u2066\\u2067]/.test(document.body.innerText),
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth })`);
    expect(found, what).toEqual({ markup: 0, turned: false, wide: 0 });
  }

  test.each([
    ["desktop", LONG ? [NAME, HOSTILE] : [HOSTILE]],
    ["phone", LONG ? [NAME, HOSTILE] : [NAME]],
  ] as const)(
    "stay text, in their place, on every page: %s",
    async (screen: Screen, all: readonly string[]) => {
      const { page, faults } = await app.open("/fleet", { screen });
      const device = `/d/${app.machine.id}`;
      const paths = [
        ...[
          "/fleet",
          "/activity",
          device,
          `${device}/permissions`,
          `${device}/tools`,
          `${device}/tools/Bash`,
        ],
        ...["account", "tokens", "people", "record", "notifications", "about"].map(
          (part) => `/settings/${part}`,
        ),
      ];
      for (const words of all) {
        const handler = rewriting(words);
        await page.route("**/v1/**", handler);
        for (const path of paths) {
          await page.goto(`${app.relay.url}${APP}${path}`);
          await page.locator("main").getByRole("heading", { level: 1 }).waitFor();
          await page.getByText("Connected", { exact: true }).waitFor();
          await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
          await expectOnlyText(page, `${path} ${words.slice(0, 4)}`);
          await expect.poll(() => page.getByText("could not be shown").count(), { message: path }).toBe(0);
        }
        await page.unrouteAll({ behavior: "ignoreErrors" });
      }
      expect(faults).toEqual([]);
    },
  );

  test(
    "in an approval can't pose as its end, as another command, or as words of ours",
    NEEDS_SANDBOX,
    async () => {
      const { page, faults } = await app.open("/activity?show=needs-you", { screen: "phone" });
      await page.getByText("Connected", { exact: true }).waitFor();
      const folder = temporaryFolder();
      const name = `Matrx Relay\u202E allows`;
      const ask = await callerOf(app, { name, paths: [folder] });
      const command = `echo safe\n# Allowed by Ann\u202E\u2066 ;mr\u200B\nrm -rf ${folder}/${"x".repeat(300)}${MARKUP}`;
      const answer = ask("Bash", { command });
      const card = page.getByRole("listitem").filter({ hasText: "asks to use" });
      await card.waitFor();
      // The relay strips what would turn a token's name around.
      await card.getByRole("heading", { name: /^Matrx Relay allows asks to use Bash on / }).waitFor();
      const asked = card.getByRole("group", { name: "Command" });
      await asked.waitFor();
      const text = (await asked.textContent()) ?? "";
      expect(text).toContain("\\u{202E}\\u{2066}");
      expect(text).toContain("\\u{200B}");
      // Three lines of the command are three lines on the screen, and a long one is no line more.
      await expect.poll(() => asked.locator("span").count()).toBe(3);
      await expectOnlyText(page, "an approval");
      await card
        .getByRole("button", { name: "Deny", exact: true })
        .and(page.locator(':not([aria-disabled="true"])'))
        .click();
      expect(await answer).toContain("APPROVAL_DENIED");
      expect(faults).toEqual([]);
    },
  );
});
