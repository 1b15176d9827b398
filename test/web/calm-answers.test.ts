/**
 * Every page of the app, with each route that it reads answered wrongly in turn, as by an older relay, by a relay in trouble,
 * or by something else in its place. The long mode tries each answer of each route on each page.
 */
import type { Page, Route } from "playwright-core";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { callListSchema } from "../../shared/api.ts";
import { NEEDS_CHROMIUM } from "../helpers/browser.ts";
import { LONG } from "../helpers/long-mode.ts";
import { APP, type Opened, startApp } from "./app.ts";
import { callerOf } from "./caller.ts";

const json = (status: number, body: unknown, headers = {}) => ({
  status,
  headers: { "Content-Type": "application/problem+json", ...headers },
  body: JSON.stringify(body),
});
const problem = (status: number, code: string, detail: string) =>
  json(status, { type: "about:blank", title: detail, status, detail, code, hop: "relay" });

/** What comes in place of the answer. */
const ANSWERS = {
  "no such route": problem(404, "NOT_FOUND", "Nothing here at this path"),
  "not allowed": problem(403, "PERMISSION_DENIED", "This session may not read that"),
  "too many": { status: 429, headers: { "Retry-After": "7" }, body: "" },
  "a page of a network": { status: 200, contentType: "text/html", body: "<!doctype html><h1>Hotel</h1>" },
  "nothing in it": json(200, {}),
  "a list": json(200, []),
  "broken off": { status: 200, contentType: "application/json", body: '{"devices":[{"id":"a' },
  "no JSON": { status: 200, contentType: "application/json", body: "undefined" },
  "no connection": undefined,
  "a failure": { status: 500, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" },
} as const;
type Kind = keyof typeof ANSWERS;
const KINDS = Object.keys(ANSWERS) as Kind[];

describe("a page whose relay answers wrongly", NEEDS_CHROMIUM, () => {
  const app = startApp();
  let opened: Opened;
  let page: Page;
  let call = "";

  beforeAll(async () => {
    const ask = await callerOf(app, { name: "a script", credential: "script" });
    await ask("Bash", { command: "echo done" });
    const line = `GET /v1/devices/${app.machine.id}/calls` as const;
    const { calls } = await app.relay.request(await app.relay.signIn(), line, callListSchema);
    call = calls[0]?.call ?? "";
  });
  afterEach(() => expect(opened.faults).toEqual([]));

  const pages = () => {
    const device = `/d/${app.machine.id}`;
    const parts = [
      "account",
      "tokens",
      "people",
      "record",
      "notifications",
      "appearance",
      "shortcuts",
      "about",
    ];
    return [
      ...["/fleet", "/pair", "/pair#ABCD-EFGH", "/activity", device, `${device}/permissions`],
      ...[`${device}/tools`, `${device}/tools/Bash`, `${device}/calls/${call}`, "/d/nobody", "/nowhere"],
      ...parts.map((part) => `/settings/${part}`),
    ];
  };

  /** Loads it anew: a fragment alone would not. */
  async function go(path: string): Promise<void> {
    if (path.includes("#")) await page.goto("about:blank");
    await page.goto(`${app.relay.url}${APP}${path}`);
  }

  /** What is on the screen, once it stands still. */
  async function shown(): Promise<string> {
    await page.getByRole("heading", { level: 1 }).or(page.getByRole("alert")).first().waitFor();
    return (await page.locator("#root").textContent()) ?? "";
  }

  /** The routes that a page reads, by method and path. */
  async function readsOf(path: string): Promise<string[]> {
    const found = new Set<string>();
    const note = (request: { method(): string; url(): string }) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/v1/") && !pathname.endsWith("/ws"))
        found.add(`${request.method()} ${pathname}`);
    };
    page.on("request", note);
    await go(path);
    await shown();
    await page.getByText("Connected", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
    page.off("request", note);
    return [...found];
  }

  const answering = (line: string, kind: Kind) => async (route: Route) => {
    const request = route.request();
    if (`${request.method()} ${new URL(request.url()).pathname}` !== line) return route.fallback();
    const answer = ANSWERS[kind];
    return answer ? route.fulfill(answer) : route.abort("connectionrefused");
  };

  test(
    "says what is wrong, stays itself and throws nothing, whichever page, route and answer",
    async () => {
      opened = await app.open("/fleet");
      page = opened.page;
      let turn = 0;
      let count = 0;
      const seen = new Set<string>();
      for (const path of pages())
        for (const line of await readsOf(path)) {
          // What every page reads is tried on one of them.
          if (!LONG && seen.has(line)) continue;
          seen.add(line);
          const at = turn++ % KINDS.length;
          const kinds = LONG ? KINDS : KINDS.slice(at, at + 1);
          for (const kind of kinds) {
            const handler = answering(line, kind);
            await page.route("**/v1/**", handler);
            await go(path);
            const text = await shown();
            const what = `${path} with ${kind} for ${line}: ${text}`;
            expect(text.length, what).toBeGreaterThan(20);
            expect(text, what).not.toMatch(
              /undefined|\[object|NaN|Unexpected token|Cannot read|is not a function/,
            );
            expect(text, what).not.toContain("could not be shown");
            expect(opened.faults, what).toEqual([]);
            await page.unroute("**/v1/**", handler);
            count += 1;
          }
        }
      expect(count).toBeGreaterThan(LONG ? 300 : 15);
    },
    LONG ? 1_800_000 : 150_000,
  );
});
