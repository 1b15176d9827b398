/** How often strangers and people may ask for credentials, and what a refusal tells them. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { home } from "../helpers/home.ts";
import { bearer, claimCode, claimWith, json, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => vi.useRealTimers());

const somewhere = () => ({ "CF-Connecting-IP": crypto.randomUUID() });

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Asks until it is refused for its rate; returns how often it was not, and the wait in milliseconds. */
async function exhaust(request: () => Promise<Response>): Promise<{ passed: number; wait: number }> {
  for (let passed = 0; passed < 200; passed++) {
    const response = await request();
    if (response.status !== 429) continue;
    const { code, retry_after_ms: wait } = await response.json<{ code: string; retry_after_ms: number }>();
    expect(code).toBe("RATE_LIMITED");
    expect(response.headers.get("Retry-After")).toBe(String(Math.ceil(wait / 1000)));
    return { passed, wait };
  }
  throw new Error("never refused");
}

/** The wait that a refusal told is true. */
async function expectTrue(wait: number, request: () => Promise<Response>): Promise<void> {
  pass(wait - 1);
  expect((await request()).status).toBe(429);
  pass(1);
  expect((await request()).status).not.toBe(429);
}

describe("a 401", () => {
  const challenge = async (headers: Record<string, string>, path = "/v1/devices") => {
    const response = await ask(path, { headers: { ...headers, ...somewhere() } });
    expect(response.status).toBe(401);
    return response.headers.get("WWW-Authenticate");
  };

  it("names no error to who sent no credential (RFC 6750, 3.1)", async () => {
    expect(await challenge({})).toBe('Bearer realm="matrx"');
    expect(await challenge({ Authorization: "Basic eDp5" })).toBe('Bearer realm="matrx"');
    const { id } = await (await Person.signIn()).bareDevice();
    expect(await challenge({ Upgrade: "websocket" }, `/v1/devices/${id}/ws`)).toBe('Bearer realm="matrx"');
  });

  it("says invalid_token of a token that is wrong or revoked", async () => {
    const invalid = 'Bearer realm="matrx", error="invalid_token"';
    expect(await challenge(bearer("x.y.z"))).toBe(invalid);
    const person = await Person.signIn();
    const { token, id } = await person.token({ access: "read" });
    await person.ask(`/v1/tokens/${id}`, { method: "DELETE" });
    expect(await challenge(bearer(token))).toBe(invalid);
  });
});

describe("wrong credentials", () => {
  it("are counted per address, and lock nobody out who has a right one", async () => {
    const person = await Person.signIn();
    const { token } = await person.token({ access: "read" });
    const [here, there] = [somewhere(), somewhere()];
    const wrong = (address = here) => ask("/v1/devices", { headers: { ...bearer("x.y.z"), ...address } });
    const { passed, wait } = await exhaust(() => wrong());
    expect(passed).toBe(30);
    expect((await wrong(there)).status).toBe(401);
    expect((await ask("/v1/devices", { headers: { ...bearer(token), ...here } })).status).toBe(200);
    expect((await person.ask("/v1/account", { headers: here })).status).toBe(200);
    expect((await ask("/v1/devices", { headers: here })).status).toBe(401);
    const ended = { Cookie: "matrx_session=x.y.z", ...here };
    expect((await ask("/v1/devices", { headers: ended })).status).toBe(401);
    await expectTrue(wait, () => wrong());
  });

  it("are counted on the routes that sign in, too, and a right code signs in all the same", async () => {
    const here = somewhere();
    const claim = async (code: string) => ask("/v1/claim", json(await claimWith(code), here));
    const { passed } = await exhaust(() => claim("x.y.z"));
    expect(passed).toBe(30);
    const poll = ask("/v1/pairings/ABCD-EFGH/poll", json({ secret: "x.y.z" }, here));
    expect((await poll).status).toBe(429);
    expect((await claim(await claimCode("owner"))).status).toBe(200);
  });
});

it.each(["/v1/pairings", "/v1/logins"])("%s tells a stranger a wait that is true", async (path) => {
  const body = { name: "x", hostname: "x", os: "Linux", os_version: "6", public_key: "A".repeat(43) };
  const here = somewhere();
  const start = () => ask(path, json(path === "/v1/logins" ? { name: "x" } : body, here));
  const { passed, wait } = await exhaust(start);
  expect([passed, wait]).toEqual([30, 20_000]);
  await expectTrue(wait, start);
});

it("a program that polls too fast is told to wait, and its code stays good", async () => {
  const person = await Person.signIn();
  const started = await ask("/v1/logins", json({ name: "cli" }, somewhere()));
  const { code, secret } = await started.json<{ code: string; secret: string }>();
  const poll = () => ask(`/v1/pairings/${code}/poll`, json({ secret }, somewhere()));
  const { passed, wait } = await exhaust(poll);
  expect([passed, wait]).toEqual([20, 1000]);
  await expectTrue(wait, poll);
  await person.post(`/v1/pairings/${code}/confirm`, {});
  pass(1000);
  expect(await (await poll()).json()).toMatchObject({ status: "signed_in" });
});

it("a person makes a bounded number of tokens and sign-in links at once; revoking is not bounded", async () => {
  const person = await Person.signIn();
  const token = () => person.ask("/v1/tokens", json({ name: "x", access: "read" }));
  const link = () => person.ask("/v1/sign-in-links", { method: "POST" });
  for (let n = 0; n < 10; n++) expect((await link()).status).toBe(201);
  const { passed, wait } = await exhaust(token);
  expect([passed, wait]).toEqual([50, 1000]);
  expect((await link()).status).toBe(429);
  const { tokens } = await (await person.ask("/v1/tokens")).json<{
    tokens: { id: string; kind: string }[];
  }>();
  const [made] = tokens.filter(({ kind }) => kind !== "web");
  expect((await person.ask(`/v1/tokens/${made?.id}`, { method: "DELETE" })).status).toBe(204);
  await expectTrue(wait, token);
});

it("tickets count as messages of their grant on the device", async () => {
  const { person, identity } = await home();
  const { token } = await person.token({ access: "read" });
  const ticket = () => ask("/v1/tickets", json({ device: identity.id }, bearer(token)));
  const { passed, wait } = await exhaust(ticket);
  expect([passed, wait]).toEqual([60, 17]);
  await expectTrue(wait, ticket);
});

it("whoever guesses codes is told when the next guess counts", async () => {
  const person = await Person.signIn();
  const guess = () => person.ask("/v1/pairings/ZZZZ-0000");
  expect((await guess()).status).toBe(404);
  pass(60_000);
  const { passed, wait } = await exhaust(guess);
  expect([passed, wait]).toEqual([4, 9 * 60_000]);
  await expectTrue(wait, guess);
});
