/** A browser's session: its cookie is worth nothing alone, and its key nothing without the cookie. */

import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { PROOF_NONCE_HEADER } from "@matrx/shared/session-api.ts";
import { describe, expect, it, vi } from "vitest";
import worker from "../../../worker/index.ts";
import { Browser } from "../helpers/browser.ts";
import { bearer, claimCode, claimWith, json, Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

const SESSION = { method: "POST", headers: { Origin: ORIGIN } };

describe("a page", () => {
  it("gets an access token for a few minutes when it signs in, and another one for a proof of its key", async () => {
    const person = await Person.signIn();
    const first = person.accessToken;
    const renewed = await person.renew();
    expect(await renewed.json()).toMatchObject({ account: person.account, expires_in: 300 });
    expect(renewed.headers.get("Set-Cookie")).toBeNull();
    expect(renewed.headers.get("Cache-Control")).toBe("no-store");
    expect(person.accessToken).not.toBe(first);
    for (const token of [first, person.accessToken])
      expect((await ask("/v1/tokens", { headers: bearer(token) })).status).toBe(200);
  });

  it("is told the nonce for its first proof, and with each answer the next one", async () => {
    const person = await Person.signIn();
    const headers = { Cookie: person.cookie, Origin: ORIGIN };
    const untold = await ask("/v1/session", { method: "POST", headers });
    expect(untold.status).toBe(401);
    const nonce = untold.headers.get(PROOF_NONCE_HEADER) ?? "";
    const DPoP = await person.browser.proof({ nonce });
    const answer = await ask("/v1/session", { method: "POST", headers: { ...headers, DPoP } });
    expect(answer.status).toBe(200);
    const next = answer.headers.get(PROOF_NONCE_HEADER) ?? "";
    const again = { ...headers, DPoP: await person.browser.proof({ nonce: next }) };
    expect((await ask("/v1/session", { method: "POST", headers: again })).status).toBe(200);
  });

  it("has to renew its access token in time, and can afterwards", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const person = await Person.signIn();
    vi.setSystemTime(Date.now() + 301_000);
    expect((await ask("/v1/account", { headers: bearer(person.accessToken) })).status).toBe(401);
    expect((await person.ask("/v1/account")).status).toBe(200);
    vi.useRealTimers();
  });

  it("gets nothing any more once it signed out, or once its session was revoked elsewhere", async () => {
    const [one, other] = [await Person.signIn("twice"), await Person.signIn("twice")];
    const { grant } = await (await other.ask("/v1/account")).json<{ grant: string }>();
    expect((await one.ask(`/v1/tokens/${grant}`, { method: "DELETE" })).status).toBe(204);
    expect((await other.renew()).status).toBe(401);
    expect((await one.ask("/v1/sign-out", { method: "POST" })).status).toBe(204);
    expect((await one.renew()).status).toBe(401);
    expect((await ask("/v1/account", { headers: bearer(one.accessToken) })).status).toBe(401);
  });
});

describe("its cookie", () => {
  it.each([
    [
      "https://relay.example",
      /^__Host-matrx_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/,
    ],
    ["https://relay.example:8443", /^__Host-matrx_session_8443=.*; Secure$/],
    [
      "http://localhost:8787",
      /^matrx_session_8787=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    ],
  ])("belongs to %s alone, port included", async (origin, expected) => {
    const body = json(await claimWith(await claimCode("owner")));
    const request = new Request(`${origin}/v1/claim`, body);
    const response = await worker.fetch(request, { ...env, MATRX_URL: origin });
    expect(response.headers.get("Set-Cookie")).toMatch(expected);
  });
});

describe("is refused:", () => {
  const attempts: [string, (person: Person) => Promise<RequestInit>, number][] = [
    ["the cookie alone", async ({ cookie }) => withHeaders({ Cookie: cookie }), 401],
    ["the key alone", async ({ browser }) => withHeaders({ DPoP: await browser.proof() }), 401],
    [
      "the cookie with another key",
      async ({ cookie }) => withHeaders({ Cookie: cookie, DPoP: await (await Browser.open()).proof() }),
      401,
    ],
    [
      "a key that the header names and that did not sign",
      async ({ cookie, browser }) => {
        const other = await Browser.open();
        return withHeaders({ Cookie: cookie, DPoP: await other.proof({}, { jwk: browser.publicKey }) });
      },
      401,
    ],
    [
      "a proof for another address",
      async (person) => proven(person, { htu: "http://localhost:9999/v1/session" }),
      401,
    ],
    ["a proof for another route", async (person) => proven(person, { htu: `${ORIGIN}/v1/account` }), 401],
    ["a proof for another method", async (person) => proven(person, { htm: "GET" }), 401],
    ["a made-up nonce", async (person) => proven(person, { nonce: "made-up" }), 401],
    ["an access token as nonce", async (person) => proven(person, { nonce: person.accessToken }), 401],
    [
      "an unsigned proof",
      async ({ cookie, browser }) => {
        const [, claims] = (await browser.proof()).split(".");
        const head = btoa(JSON.stringify({ alg: "none", typ: "dpop+jwt", jwk: browser.publicKey }));
        return withHeaders({ Cookie: cookie, DPoP: `${head.replaceAll("=", "")}.${claims}.` });
      },
      401,
    ],
    [
      "another page",
      async (person) => {
        const { headers } = await proven(person, {});
        return { method: "POST", headers: { ...headers, Origin: "http://localhost:9999" } };
      },
      403,
    ],
    [
      "no page at all",
      async ({ cookie, browser }) => ({
        method: "POST",
        headers: { Cookie: cookie, DPoP: await browser.proof() },
      }),
      403,
    ],
  ];

  it.each(attempts)("%s", async (_what, arrange, status) => {
    const person = await Person.signIn();
    const response = await ask("/v1/session", await arrange(person));
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain("access_token");
    // The session itself goes on.
    expect((await person.renew()).status).toBe(200);
  });

  it("the same proof a second time, also after the account's object has slept", async () => {
    const person = await Person.signIn();
    const init = await proven(person, {});
    expect((await ask("/v1/session", init)).status).toBe(200);
    expect((await ask("/v1/session", init)).status).toBe(401);
    await evictDurableObject(env.ACCOUNT.getByName(person.account));
    expect((await ask("/v1/session", init)).status).toBe(401);
  });

  it("one person's proof with another's cookie", async () => {
    const [ann, ben] = [await Person.signIn(), await Person.signIn()];
    const headers = { Cookie: ann.cookie, Origin: ORIGIN, DPoP: await ben.browser.proof() };
    expect((await ask("/v1/session", { method: "POST", headers })).status).toBe(401);
  });

  it("the cookie, on every other route", async () => {
    const { cookie } = await Person.signIn();
    for (const path of ["/v1/account", "/v1/devices", "/v1/tokens", "/v1/approvals"])
      expect((await ask(path, { headers: { Cookie: cookie, Origin: ORIGIN } })).status).toBe(401);
    expect((await ask("/v1/sign-out", withHeaders({ Cookie: cookie }))).status).toBe(401);
  });

  it("to sign in without a key, or with one that is none", async () => {
    const code = await claimCode("owner");
    const { publicKey } = await Browser.open();
    for (const body of [{ code }, { code, key: {} }, { code, key: { ...publicKey, d: "x".repeat(43) } }])
      expect((await ask("/v1/claim", json(body))).status).toBe(400);
  });
});

function withHeaders(headers: Record<string, string>) {
  return { method: SESSION.method, headers: { ...SESSION.headers, ...headers } };
}

async function proven({ cookie, browser }: Person, claims: Parameters<Browser["proof"]>[0]) {
  return withHeaders({ Cookie: cookie, DPoP: await browser.proof(claims) });
}
