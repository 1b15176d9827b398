/** What strangers may do: pages of other origins nothing, and others so much that the owner still gets in. */

import { createExecutionContext, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { signInLinkSchema } from "@matrx/shared/api.ts";
import type { SignedIn } from "@matrx/shared/session-api.ts";
import { decodeJwt } from "jose";
import { renderSVG } from "uqr";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../worker/env.ts";
import app from "../../../worker/index.ts";
import { home } from "../helpers/home.ts";
import { bearer, claimCode, claimWith, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

const FOREIGN = [
  "https://evil.example",
  "http://relay.test:8080",
  "https://relay.test",
  "http://relay.test.evil.example",
  "null",
];

const CLOSED: [string, string][] = [
  ["POST", "/v1/claim"],
  ["POST", "/v1/logins"],
  ["POST", "/v1/%6cogins"],
  ["POST", "/v1/pairings"],
  ["GET", "/v1/pairings/ABCD-EFGH"],
  ["POST", "/v1/pairings/ABCD-EFGH/confirm"],
  ["POST", "/v1/pairings/ABCD-EFGH/poll"],
  ["OPTIONS", "/v1/claim"],
  ["OPTIONS", "/v1/logins"],
  ["OPTIONS", "/v1/pairings"],
];

describe.each(FOREIGN)("a page of %s", (origin) => {
  it.each(CLOSED)("may not %s %s, and reads nothing of the answer", async (method, path) => {
    const body = method === "POST" ? '{"name":"x"}' : undefined;
    const headers = { Origin: origin, "Content-Type": "text/plain", "Access-Control-Request-Method": "POST" };
    const response = await ask(path, { method, headers, ...(body && { body }) });
    expect([response.status, await response.json()]).toMatchObject([403, { code: "PERMISSION_DENIED" }]);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each(["/v1/device/ws", "/ws"])("may not dial in as a device at %s", async (path) => {
    const { id } = await (await Person.signIn()).bareDevice();
    const headers = { Upgrade: "websocket", Origin: origin };
    expect((await ask(`${path}?device=${id}`, { headers })).status).toBe(403);
  });
});

it("leaves our own page, and programs, what they may", async () => {
  for (const headers of [{ Origin: ORIGIN }, {}]) {
    const response = await ask("/v1/logins", json({ name: "cli" }, headers));
    expect(response.status).toBe(201);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
  }
  const { id } = await (await Person.signIn()).bareDevice();
  const headers = { Upgrade: "websocket", Origin: ORIGIN };
  const { status, webSocket } = await ask(`/v1/device/ws?device=${id}`, { headers });
  expect(status).toBe(101);
  webSocket?.accept();
  webSocket?.close();
});

/** A request to a relay with settings of its own. */
function askWith(settings: Partial<Env>, url: string, init: RequestInit = {}): Promise<Response> {
  return Promise.resolve(
    app.fetch(new Request(url, init), { ...env, ...settings }, createExecutionContext()),
  );
}

describe("the rate of strangers", () => {
  // One more is allowed every twenty seconds.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());
  const EMBEDDED = { EMBEDDED: "1", HOSTS: "localhost:8787", MATRX_URL: "https://relay.example" };
  const LOCAL = "http://localhost:8787/v1/logins";
  const PUBLIC = "http://relay.example/v1/logins";
  const begin = async (url: string, headers: Record<string, string> = {}) =>
    (await askWith(EMBEDDED, url, json({ name: "cli" }, headers))).status;
  const exhaust = async (url: string, headers: Record<string, string>) => {
    for (let n = 0; n < 30; n++) await begin(url, headers);
    expect(await begin(url, headers)).toBe(429);
  };

  it("counts no page that is refused", async () => {
    const headers = { "CF-Connecting-IP": "203.0.113.77" };
    for (let n = 0; n < 40; n++)
      expect(
        (await ask("/v1/logins", json({ name: "x" }, { ...headers, Origin: "http://evil.example" }))).status,
      ).toBe(403);
    expect((await ask("/v1/logins", json({ name: "cli" }, headers))).status).toBe(201);
  });

  it("is another for each thing to ask for, and no site that a browser shows uses up a program's", async () => {
    const at = (path: string, init: RequestInit) => {
      const headers = { ...(init.headers as Record<string, string>), "X-Forwarded-For": "203.0.113.99" };
      return askWith(EMBEDDED, `https://relay.example${path}`, { ...init, headers });
    };
    const device = { name: "x", hostname: "x", os: "Linux", os_version: "6", public_key: "A".repeat(43) };
    const client = { redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" };
    const uses = {
      picture: () =>
        at("/authorize?client_id=https://client.example/a", {
          headers: { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
        }),
      "page that registers": () => at("/oauth/register", json(client, { Origin: "https://evil.example" })),
      "page without an origin that registers": () =>
        at("/oauth/register", json(client, { "Sec-Fetch-Site": "cross-site" })),
      "page that refreshes": () =>
        at("/oauth/token", {
          method: "POST",
          headers: { Origin: "https://evil.example" },
          body: new URLSearchParams({ client_id: "x", grant_type: "refresh_token", refresh_token: "a:b:c" }),
        }),
      "program that registers": () => at("/oauth/register", json(client)),
      pairing: () => at("/v1/pairings", json(device)),
      login: () => at("/v1/logins", json({ name: "cli" })),
    };
    for (const [use, request] of Object.entries(uses)) {
      const first = (await request()).status;
      if (!use.startsWith("page")) expect([201, 400], use).toContain(first);
      for (let n = 0; n < 45; n++) await request();
    }
    const { "program that registers": registers, pairing, login } = uses;
    for (const request of [registers, pairing, login]) expect((await request()).status).toBe(429);
    // What a program sends that was wrong all along is still answered as wrong.
    const wrong = at("/oauth/token", {
      method: "POST",
      body: new URLSearchParams({ client_id: "x", grant_type: "refresh_token", refresh_token: "a:b:c" }),
    });
    expect((await wrong).status).toBe(401);
  });

  it("is another for each address that a proxy speaks for, and for this machine itself", async () => {
    await exhaust(PUBLIC, { "X-Forwarded-For": "198.51.100.1, 203.0.113.1" });
    expect(await begin(PUBLIC, { "X-Forwarded-For": "203.0.113.2" })).toBe(201);
    expect(await begin(LOCAL)).toBe(201);
  });

  it("is another for each address of IPv4 where the proxy listens on IPv6", async () => {
    await exhaust(PUBLIC, { "X-Forwarded-For": "::ffff:203.0.113.21" });
    expect(await begin(PUBLIC, { "X-Forwarded-For": "::FFFF:203.0.113.21" })).toBe(429);
    expect(await begin(PUBLIC, { "X-Forwarded-For": "203.0.113.21" })).toBe(429);
    expect(await begin(PUBLIC, { "X-Forwarded-For": "::ffff:203.0.113.22" })).toBe(201);
  });

  it("cannot be had anew by what a stranger writes before the proxy does", async () => {
    await exhaust(PUBLIC, { "X-Forwarded-For": "203.0.113.5" });
    expect(await begin(PUBLIC, { "X-Forwarded-For": "127.0.0.1, 203.0.113.5" })).toBe(429);
    expect(await begin(PUBLIC, { "X-Forwarded-For": "203.0.113.5", "CF-Connecting-IP": "127.0.0.1" })).toBe(
      429,
    );
  });

  describe("of one address", () => {
    const HOUR = 60 * 60_000;
    const used = async () => {
      const limit = env.ANONYMOUS_RATE_LIMIT.getByName(crypto.randomUUID());
      for (let n = 0; n < 30; n++) expect(await limit.pass()).toBeUndefined();
      return limit;
    };
    const setState = (limit: Awaited<ReturnType<typeof used>>, state: number) =>
      runInDurableObject(limit, (_, { storage }) => storage.kv.put("rate", state));
    const stored = (limit: Awaited<ReturnType<typeof used>>) =>
      runInDurableObject(limit, (_, { storage }) => [...storage.kv.list()].map(([key]) => key));

    it("lets one more in every 20 seconds", async () => {
      const limit = await used();
      const wait = await limit.pass();
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(20_000);
      await setState(limit, Date.now() + 29 * 20_000);
      expect([await limit.pass(), typeof (await limit.pass())]).toEqual([undefined, "number"]);
    });

    it("locks nobody out when the clock was set back", async () => {
      const limit = await used();
      await setState(limit, Date.now() + 24 * HOUR);
      expect(await limit.pass()).toBeUndefined();
    });

    it("is stored until it is whole again, and no longer", async () => {
      const limit = await used();
      expect(await runDurableObjectAlarm(limit)).toBe(true);
      expect(await stored(limit)).toEqual(["alarms", "rate"]);
      await setState(limit, Date.now() - 1);
      expect(await runDurableObjectAlarm(limit)).toBe(true);
      expect(await stored(limit)).toEqual([]);
    });
  });

  it("heeds no forwarding header of who speaks to this machine directly", async () => {
    await exhaust(LOCAL, { "X-Forwarded-For": "203.0.113.9" });
    expect(await begin(LOCAL, { "X-Forwarded-For": "203.0.113.10" })).toBe(429);
  });
});

describe("MATRX_URL", () => {
  const somewhere = () => ({ "CF-Connecting-IP": crypto.randomUUID() });
  const PUBLIC = { HOSTS: "localhost:8787", MATRX_URL: "https://relay.example:8443/" };

  it.each(["http://relay.example:8443", "http://localhost:8787"])(
    "is where links lead, also from %s",
    async (origin) => {
      const headers = {
        ...somewhere(),
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "evil.example",
        Forwarded: "host=evil.example",
      };
      const started = await askWith(PUBLIC, `${origin}/v1/logins`, json({ name: "cli" }, headers));
      expect(await started.json()).toMatchObject({
        verification_uri: expect.stringMatching(/^https:\/\/relay\.example:8443\/#pair=/),
      });
    },
  );

  it.each([
    ["http://relay.example:8443", true],
    ["http://localhost:8787", false],
  ])("makes the cookie of %s secure: %s", async (origin, secure) => {
    const headers = { "X-Forwarded-Proto": "https" };
    const response = await askWith(
      PUBLIC,
      `${origin}/v1/claim`,
      json(await claimWith(await claimCode("owner")), headers),
    );
    const cookie = response.headers.get("Set-Cookie") ?? "";
    expect(cookie.includes("; Secure")).toBe(secure);
    const out = await askWith(PUBLIC, `${origin}/v1/sign-out`, {
      method: "POST",
      headers: bearer((await response.json<SignedIn>()).access_token),
    });
    expect([out.status, out.headers.get("Set-Cookie")?.includes("; Secure")]).toEqual([204, secure]);
  });

  it.each([
    ["https://relay.example:8443", 201],
    ["http://relay.example:8443", 403],
    ["https://relay.example", 403],
    ["http://localhost:8787", 403],
  ])("makes %s the page's origin or not: %s", async (origin, status) => {
    const init = json({ name: "cli" }, { ...somewhere(), Origin: origin });
    expect((await askWith(PUBLIC, "http://relay.example:8443/v1/logins", init)).status).toBe(status);
  });

  it.each([
    [PUBLIC, "relay.example:8443", 200],
    [PUBLIC, "localhost:8787", 200],
    [PUBLIC, "relay.example", 403],
    [PUBLIC, "evil.example", 403],
    [{ MATRX_URL: "https://relay.example" }, "relay.example", 200],
    [{ MATRX_URL: "https://relay.example" }, "relay.workers.dev", 403],
    [{ HOSTS: "localhost:8787" }, "localhost:8787", 200],
    [{ HOSTS: "localhost:8787" }, "relay.example", 403],
    [{}, "anything.example", 200],
    [{ MATRX_URL: "" }, "anything.example", 200],
    [{ MATRX_URL: null }, "anything.example", 200],
    [{ MATRX_URL: "relay.example" }, "relay.example", 503],
    [{ MATRX_URL: "http://relay.example" }, "relay.example", 503],
  ])("of %j: host %s gets %s", async (settings, host, status) => {
    expect((await askWith(settings, `http://${host}/v1/health`)).status).toBe(status);
  });
});

describe("a link for another device", () => {
  const made = async (person: Person, init: RequestInit = json({})) => {
    const response = await person.ask("/v1/sign-in-links", init);
    return { status: response.status, body: signInLinkSchema.partial().parse(await response.json()) };
  };

  it("signs in who opens it first, as the same account, within five minutes", async () => {
    const person = await Person.signIn();
    const { status, body } = await made(person);
    expect([status, body.expires_in]).toEqual([201, 300]);
    const [address, code = ""] = body.link?.split("#claim=") ?? [];
    expect(address).toBe(`${ORIGIN}/`);
    expect(body.qr_svg).toBe(renderSVG(body.link ?? "", { pixelSize: 1, border: 4 }));
    const { exp = 0, iat = 0 } = decodeJwt(code);
    expect(exp - iat).toBe(300);
    const claim = json(await claimWith(code));
    const first = await ask("/v1/claim", claim);
    expect([first.status, (await first.json<SignedIn>()).account]).toEqual([200, person.account]);
    expect((await ask("/v1/claim", claim)).status).toBe(401);
  });

  it("is made by a person alone, and not for a page of another origin", async () => {
    const person = await Person.signIn();
    const { token } = await person.token({ access: "full" });
    expect((await ask("/v1/sign-in-links", json({}, bearer(token)))).status).toBe(403);
    expect((await ask("/v1/sign-in-links", json({}))).status).toBe(401);
    expect((await made(person, json({}, { Origin: "https://evil.example" }))).status).toBe(403);
    const foreign = await ask(
      "/v1/sign-in-links",
      json({}, { ...bearer(token), Origin: "https://evil.example" }),
    );
    expect(foreign.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  it("leads to the public address", async () => {
    const person = await Person.signIn();
    const headers = bearer(person.accessToken);
    const settings = { HOSTS: "localhost:8787", MATRX_URL: "https://relay.example" };
    const response = await askWith(settings, "http://localhost:8787/v1/sign-in-links", json({}, headers));
    expect(await response.json()).toMatchObject({
      link: expect.stringMatching(/^https:\/\/relay\.example\/#claim=/),
    });
  });
});

describe("every answer is what its type says", () => {
  it.each([
    ["GET", "/v1/health", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/.well-known/jwks.json", 200],
    ["GET", "/", 200],
    ["GET", "/nowhere", 404],
    ["GET", "/v1/account", 401],
    ["POST", "/v1/claim", 400],
    ["GET", "/v1/device/ws", 400],
    ["OPTIONS", "/v1/devices", 204],
  ])("%s %s (%s)", async (method, path, status) => {
    const origin = method === "OPTIONS" ? { Origin: "https://app.example" } : {};
    const response = await ask(path, {
      method,
      headers: { ...origin, "Access-Control-Request-Method": "GET" },
    });
    expect([response.status, response.headers.get("X-Content-Type-Options")]).toEqual([status, "nosniff"]);
  });

  it("a refused Host too", async () => {
    const response = await askWith({ HOSTS: "localhost" }, "http://evil.example/");
    expect([response.status, response.headers.get("X-Content-Type-Options")]).toEqual([403, "nosniff"]);
  });

  it("and what a device wrote, by any route", async () => {
    const at = await home();
    const sent = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const answering = ask(
        `/v1/devices/${at.identity.id}${path}`,
        json(body, { ...bearer(at.token), ...headers }),
      );
      await at.device.serve("<script>alert(1)</script>");
      const response = await answering;
      await response.text();
      return [response.status, response.headers.get("X-Content-Type-Options")];
    };
    const call = { tool: "Bash", input: {} };
    expect(await sent("/tools/Bash", {})).toEqual([200, "nosniff"]);
    expect(await sent("/tools/invoke", call)).toEqual([200, "nosniff"]);
    expect(await sent("/tools/invoke", call, { Accept: "text/event-stream" })).toEqual([200, "nosniff"]);
    const refused = await ask(`/v1/devices/${at.identity.id}/ws`, {
      headers: { Upgrade: "websocket", ...bearer("x") },
    });
    expect(refused.headers.get("X-Content-Type-Options")).toBe("nosniff");
  });
});
