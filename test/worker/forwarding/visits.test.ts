/** Links to ports and the visits that they begin: whose they are, and for how long. */

import { exports } from "cloudflare:workers";
import type { PortLink } from "@matrx/shared/port-link-api.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { home } from "../helpers/home.ts";
import { bearer, type Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => vi.useRealTimers());

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

interface Linked {
  readonly link: PortLink;
  readonly person: Person;
  readonly device: string;
}

async function linked(): Promise<Linked> {
  const { person, identity } = await home();
  const device = identity.id;
  return { link: await linkTo(person, device), person, device };
}

function linkTo(person: Person, device: string): Promise<PortLink> {
  return person.post(`/v1/devices/${device}/port-links`, { port: 5173, minutes: 10 });
}

function open(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return exports.default.fetch(new Request(url, { headers, redirect: "manual" }));
}

/** Opens a link; returns the cookie. */
async function entered({ url }: PortLink): Promise<string> {
  const response = await open(url);
  expect(response.status).toBe(303);
  return response.headers.get("Set-Cookie")?.split(";")[0] ?? "none";
}

it("the cookie is bound to its host, and lasts as long as the visit", async () => {
  const { link, device } = await linked();
  expect(link.url).toMatch(new RegExp(`^https://5173--${device}\\.forward\\.test/\\.matrx/enter/`));
  const cookie = (await open(link.url)).headers.get("Set-Cookie");
  expect(cookie).toMatch(/^__Host-matrx_visit=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
});

it("a code works for two minutes, and its visit until it expires", async () => {
  const [early, late] = [await linked(), await linked()];
  pass(2 * MINUTE - 1);
  const cookie = await entered(early.link);
  pass(1);
  expect((await open(late.link.url)).status).toBe(401);
  const { origin } = new URL(early.link.url);
  const asked = await open(`${origin}/`, { Cookie: cookie });
  expect([asked.status, await asked.text()]).toEqual([404, expect.stringContaining("FetchPort")]);
  pass(8 * MINUTE);
  expect((await open(`${origin}/`, { Cookie: cookie })).status).toBe(401);
});

it("a code that two use at the same time lets one in", async () => {
  const { link } = await linked();
  const statuses = await Promise.all([link, link, link].map(async ({ url }) => (await open(url)).status));
  expect(statuses.sort()).toEqual([303, 401, 401]);
});

it("another account's codes and cookies open nothing of this one's devices, and its people make no link", async () => {
  const [own, other] = [await linked(), await linked()];
  const cookie = await entered(other.link);
  const { origin } = new URL(own.link.url);
  expect((await open(`${origin}/`, { Cookie: cookie })).status).toBe(401);
  const link = await linkTo(other.person, other.device);
  expect((await open(`${origin}${new URL(link.url).pathname}`)).status).toBe(401);
  const theirs = `/v1/devices/${own.device}/port-links`;
  const headers = { ...bearer(other.person.accessToken), "Content-Type": "application/json" };
  const made = await ask(theirs, { method: "POST", body: '{"port":5173}', headers });
  expect([made.status, await made.json()]).toMatchObject([404, { code: "UNKNOWN_DEVICE" }]);
});

it("a link is told in words, and a revoked one leads nowhere, used or not", async () => {
  const [unused, used] = [await linked(), await linked()];
  const cookie = await entered(used.link);
  for (const { person, link } of [unused, used]) {
    const { summary, kind } = await person.details(link.id);
    expect([kind, summary]).toEqual([
      "share",
      expect.stringContaining("may use what is served on port 5173 on"),
    ]);
    expect((await person.ask(`/v1/tokens/${link.id}`, { method: "DELETE" })).status).toBe(204);
  }
  expect((await open(unused.link.url)).status).toBe(401);
  expect((await open(new URL("/", used.link.url).href, { Cookie: cookie })).status).toBe(401);
});

it("a changed grant does not make a code a cookie", async () => {
  const { link, person } = await linked();
  const { pathname, origin } = new URL(link.url);
  await person.ask(`/v1/tokens/${link.id}`, {
    method: "PATCH",
    body: '{"days":1}',
    headers: { "Content-Type": "application/json" },
  });
  const cookie = `__Host-matrx_visit=${pathname.split("/").at(-1)}`;
  expect((await open(`${origin}/`, { Cookie: cookie })).status).toBe(401);
});
