/** Signing in at an issuer, and every way in which it must not work. */
import { env } from "cloudflare:workers";
import type { SignedIn } from "@matrx/shared/session-api.ts";
import { AUDIENCE } from "@matrx/shared/tokens.ts";
import { base64url, SignJWT } from "jose";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { signToken } from "../../../worker/auth/keys.ts";
import { Browser } from "../helpers/browser.ts";
import { Issuer, makeKey, type PersonClaims } from "../helpers/issuer.ts";
import { bearer, json } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

interface Problem {
  code: string;
  detail: string;
}

let open: Issuer;
let home: Issuer;
let twin: Issuer;
/** What the relay asked for, of whomever. */
let sent: { url: string; redirect: string; body: string }[];
/** Frozen, in milliseconds; it goes on by `passMinutes`. */
let now = Date.now();

beforeEach(async () => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  // What issuers say of themselves is kept for five minutes.
  passMinutes(10);
  [open, home, twin] = await Promise.all([Issuer.open("open"), Issuer.open("home"), Issuer.open("twin")]);
  sent = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { url, redirect } = request;
    sent.push({ url, redirect, body: await request.clone().text() });
    const issuer = [open, home, twin].find((issuer) => url.startsWith(`${issuer.url}/`));
    if (!issuer) throw new TypeError("nobody is there");
    return issuer.answer(request);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function passMinutes(minutes: number): void {
  now += minutes * 60_000;
  vi.setSystemTime(now);
}

/** A browser that signs in, step by step. */
class SigningIn {
  readonly browser: Browser;
  readonly id: string;

  private constructor(browser: Browser, id: string) {
    this.browser = browser;
    this.id = id;
  }

  static async at(id: string, browser?: Browser): Promise<SigningIn> {
    return new SigningIn(browser ?? (await Browser.open()), id);
  }

  /** Where the page is told to go. */
  async location(): Promise<string> {
    const response = await ask(`/v1/sign-in/oidc/${this.id}`, json({ key: this.browser.publicKey }));
    expect(response.status).toBe(200);
    return (await response.json<{ location: string }>()).location;
  }

  /** What the page finds in its address, back from the issuer. */
  async fragment(back: URL): Promise<{ oidc: string; response: string }> {
    const response = await ask(back.pathname + back.search, { redirect: "manual" });
    expect(response.status).toBe(303);
    expect(response.headers.get("Set-Cookie")).toBeNull();
    const [path, fragment] = (response.headers.get("Location") ?? "").split("#");
    expect(path).toBe("/");
    const { oidc = "", response: query = "" } = Object.fromEntries(new URLSearchParams(fragment));
    return { oidc, response: query };
  }

  /** The page's last step. `wrong`: what an attacker does otherwise. */
  async finish(
    { oidc, response }: { oidc: string; response: string },
    wrong: { browser?: Browser; nonce?: string; htu?: string } = {},
  ): Promise<Response> {
    const path = `/v1/sign-in/oidc/${oidc}/finish`;
    const nonce = wrong.nonce ?? new URLSearchParams(response).get("state") ?? "";
    const proof = await (wrong.browser ?? this.browser).proof({ htu: wrong.htu ?? ORIGIN + path, nonce });
    return ask(path, json({ response }, { DPoP: proof, Origin: ORIGIN }));
  }

  async whole(issuer: Issuer, person: PersonClaims): Promise<Response> {
    return this.finish(await this.fragment(issuer.signIn(await this.location(), person)));
  }
}

async function signIn(issuer: Issuer, id: string, person: PersonClaims): Promise<Response> {
  return (await SigningIn.at(id)).whole(issuer, person);
}

async function problemOf(response: Response): Promise<Problem & { status: number }> {
  return { status: response.status, ...(await response.json<Problem>()) };
}

async function accountOf(response: Response): Promise<string> {
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return (await response.json<SignedIn>()).account;
}

async function refuses(response: Response, status: number, detail: RegExp): Promise<void> {
  expect(response.headers.get("Set-Cookie")).toBeNull();
  expect(await problemOf(response)).toMatchObject({ status, detail: expect.stringMatching(detail) });
}

it("the page learns which issuers there are, and nothing else of them", async () => {
  const response = await ask("/v1/sign-in");
  const named = ["open Open house", "home Our home", "twin Twin", "down Down"].map((both) => {
    const [id, ...name] = both.split(" ");
    return { id, name: name.join(" ") };
  });
  expect(await response.json()).toEqual({ passkeys: true, oidc: named });
});

it("signs in who has an account there, and the session is the browser's that began", async () => {
  const ann = await SigningIn.at("open");
  const response = await ann.whole(open, { sub: "ann" });
  const cookie = response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const { account, access_token } = await response.json<SignedIn>();
  expect(account).toMatch(/^oidc-[0-9a-hjkmnp-tv-z]{24}$/);
  const who = await ask("/v1/account", { headers: bearer(access_token) });
  expect(await who.json()).toMatchObject({ account, kind: "web", person: true });

  expect((await ann.browser.refresh({ Cookie: cookie, Origin: ORIGIN })).status).toBe(200);
  const thief = await Browser.open();
  expect((await thief.refresh({ Cookie: cookie, Origin: ORIGIN })).status).toBe(401);
});

it("the same person gets the same account, another one another, also of the same name at another issuer", async () => {
  const first = await accountOf(await signIn(open, "open", { sub: "ann", email: "a@x.test" }));
  expect(await accountOf(await signIn(open, "open", { sub: "ann", email: "b@x.test" }))).toBe(first);
  const others = [
    await accountOf(await signIn(open, "open", { sub: "Ann", email: "a@x.test" })),
    await accountOf(await signIn(twin, "twin", { sub: "ann", email: "a@x.test" })),
  ];
  expect(new Set([first, ...others]).size).toBe(3);
});

it("sends the issuer what a careful client sends, and never the secret of the exchange by the browser", async () => {
  const ann = await SigningIn.at("home");
  const location = await ann.location();
  const asked = new URL(location).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: "code",
    client_id: "relay",
    scope: "openid email profile",
    redirect_uri: `${ORIGIN}/v1/sign-in/oidc/home/callback`,
    code_challenge_method: "S256",
  });
  const fragment = await ann.fragment(home.signIn(location, { sub: "sub-of-ann" }));
  expect((await ann.finish(fragment)).status).toBe(200);
  const exchange = sent.find(({ url }) => url.endsWith("/token"));
  const verifier = new URLSearchParams(exchange?.body).get("code_verifier") ?? "";
  expect(verifier).toMatch(/^[\w-]{43}$/);
  expect(location + fragment.response).not.toContain(verifier);
  expect(sent.every(({ redirect }) => redirect === "manual")).toBe(true);

  const [other, again] = [await ann.location(), await ann.location()].map(
    (there) => new URL(there).searchParams,
  );
  for (const name of ["state", "nonce", "code_challenge"])
    expect(new Set([asked, other, again].map((one) => one?.get(name))).size).toBe(3);
});

it("an account that lists people takes them by sub, or by an e-mail address that the issuer verified", async () => {
  const by = async (person: PersonClaims) => accountOf(await signIn(home, "home", person));
  expect(await by({ sub: "sub-of-ann" })).toBe("ann");
  expect(await by({ sub: "1", email: "ben@home.test", email_verified: true })).toBe("ben");
  expect(await by({ sub: "1", email: "BEN@HOME.TEST", email_verified: "true" })).toBe("ben");
  home.emailApart = true;
  expect(await by({ sub: "2", email: "cleo@home.test", email_verified: true })).toBe("cleo");
  home.asked = [];
  expect(await by({ sub: "sub-of-ann" })).toBe("ann");
  expect(home.asked).not.toContain("/userinfo");
});

it.each<[string, PersonClaims]>([
  ["nobody it lists", { sub: "stranger" }],
  ["an address that is not verified", { sub: "1", email: "ben@home.test", email_verified: false }],
  ["an address of which nothing is said", { sub: "1", email: "ben@home.test" }],
  ["a claim that is neither true nor false", { sub: "1", email: "ben@home.test", email_verified: "yes" }],
  ["an address in place of a sub", { sub: "ben@home.test" }],
  ["a sub in another case", { sub: "SUB-OF-ANN" }],
  ["an address that only looks alike", { sub: "1", email: "ben@home.te\u017ft", email_verified: true }],
  ["a part of an address", { sub: "1", email: "ben@home.test.evil.test", email_verified: true }],
  ["a member of every object", { sub: "constructor" }],
])("turns away %s", async (_, person) => {
  await refuses(await signIn(home, "home", person), 403, /has no account on this relay/);
  home.emailApart = true;
  await refuses(await signIn(home, "home", person), 403, /has no account on this relay/);
});

it("believes no userinfo about somebody else", async () => {
  home.emailApart = true;
  home.userinfo = { sub: "other", email: "ben@home.test", email_verified: true };
  await refuses(await signIn(home, "home", { sub: "1" }), 401, /can't be trusted/);
});

it("another browser cannot finish: not with its own key, not with the link", async () => {
  const attacker = await SigningIn.at("open");
  const back = open.signIn(await attacker.location(), { sub: "attacker" });
  const fragment = await attacker.fragment(back);
  const victim = await Browser.open();
  open.asked = [];
  await refuses(await attacker.finish(fragment, { browser: victim }), 401, /begun elsewhere/);
  const own = await SigningIn.at("open", victim);
  const state = new URL(await own.location()).searchParams.get("state") ?? "";
  // Its own state, the attacker's code; and the attacker's state under a proof of its own.
  const code = new URLSearchParams(fragment.response).get("code") ?? "";
  const mixed = `${new URLSearchParams({ code, state, iss: open.url })}`;
  await refuses(await own.finish({ oidc: "open", response: mixed }), 401, /did not accept.*invalid_grant/);
  await refuses(await own.finish(fragment, { nonce: state }), 401, /state/);
  expect(open.asked.filter((path) => path === "/userinfo")).toEqual([]);
});

it("without the key nobody finishes, whatever they saw on the way", async () => {
  const ann = await SigningIn.at("open");
  const fragment = await ann.fragment(open.signIn(await ann.location(), { sub: "ann" }));
  const path = "/v1/sign-in/oidc/open/finish";
  const { response } = fragment;
  const finish = (headers: Record<string, string>) =>
    ask(path, json({ response }, { Origin: ORIGIN, ...headers }));
  await refuses(await finish({}), 401, /key must sign/);
  await refuses(await finish({ DPoP: "nonsense" }), 401, /proof/);
  await refuses(await ann.finish(fragment, { htu: `${ORIGIN}/v1/session` }), 401, /another request/);
  await refuses(await ann.finish(fragment, { nonce: await ann.browser.nonce() }), 401, /aud/);
  expect(sent.filter(({ url }) => url.endsWith("/token"))).toEqual([]);
  expect((await ann.finish(fragment)).status).toBe(200);
});

it("a sign-in is finished once, even where the issuer trades a code again", async () => {
  open.forgetful = true;
  const ann = await SigningIn.at("open");
  const fragment = await ann.fragment(open.signIn(await ann.location(), { sub: "ann" }));
  expect((await ann.finish(fragment)).status).toBe(200);
  await refuses(await ann.finish(fragment), 401, /already been finished/);
  open.forgetful = false;
  await refuses(await ann.finish(fragment), 401, /invalid_grant/);
});

it("a state is the relay's own, for this issuer, and not for long", async () => {
  const ann = await SigningIn.at("open");
  const location = await ann.location();
  const good = await ann.fragment(open.signIn(location, { sub: "ann" }));
  const withState = (state: string) => {
    const response = new URLSearchParams(good.response);
    response.set("state", state);
    return { oidc: "open", response: `${response}` };
  };
  const names = { account: "open", subject: "x", id: "1" };
  for (const state of ["", "x", "null", await signToken(env, AUDIENCE.nonce, names, 60)])
    await refuses(await ann.finish(withState(state)), 401, /token/);
  const twice = `${good.response}&state=again`;
  await refuses(await ann.finish({ oidc: "open", response: twice }), 401, /state/);
  await refuses(await ann.finish({ ...good, oidc: "twin" }), 401, /begun elsewhere/);
  passMinutes(11);
  await refuses(await ann.finish(good), 401, /expired/);
});

it("mixed-up issuers are told apart by name, also when they share everything else", async () => {
  const ann = await SigningIn.at("open");
  const back = open.signIn(await ann.location(), { sub: "ann" });
  for (const iss of [twin.url, `${open.url}/`, undefined]) {
    const from = new URL(back);
    if (iss) from.searchParams.set("iss", iss);
    else from.searchParams.delete("iss");
    await refuses(await ann.finish(await ann.fragment(from)), 401, /iss/);
  }
  expect(sent.filter(({ url }) => url.endsWith("/token"))).toEqual([]);
});

it("what the issuer refuses is told, on one line", async () => {
  const ann = await SigningIn.at("open");
  const back = open.signIn(await ann.location(), { sub: "ann" });
  back.searchParams.delete("code");
  back.searchParams.set("error", "access_denied");
  back.searchParams.set("error_description", "not\u202e today\nevil: line");
  const problem = await problemOf(await ann.finish(await ann.fragment(back)));
  expect(problem).toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
  expect(problem.detail).toBe(
    "Open house did not sign you in: access_denied (not\\u{202e} today\\nevil: line)",
  );
});

const seconds = () => Math.floor(Date.now() / 1000);

it.each<[string, () => Record<string, unknown>]>([
  ["of another nonce", () => ({ nonce: "other" })],
  ["without a nonce", () => ({ nonce: undefined })],
  ["of another issuer", () => ({ iss: "https://twin.test" })],
  ["for another client", () => ({ aud: "somebody" })],
  ["for several clients, by another", () => ({ aud: ["matrx", "somebody"], azp: "somebody" })],
  ["that has expired", () => ({ exp: seconds() - 3600 })],
  ["that does not expire", () => ({ exp: undefined })],
  ["of the future", () => ({ nbf: seconds() + 3600 })],
  ["of nobody", () => ({ sub: undefined })],
  ["of a number", () => ({ sub: 7 })],
  ["of an empty name", () => ({ sub: "" })],
  ["of a name without end", () => ({ sub: "x".repeat(256) })],
])("no ID token %s is accepted", async (_, claims) => {
  open.claims = claims();
  await refuses(await signIn(open, "open", { sub: "ann" }), 401, /can't be trusted/);
});

it.each<[string, (claims: Record<string, unknown>) => Promise<string> | string]>([
  ["without a signature", (claims) => `${part({ alg: "none" })}.${part(claims)}.`],
  ["without a signature, in other letters", (claims) => `${part({ alg: "nOnE" })}.${part(claims)}.`],
  ["signed with the client's secret", (claims) => hmac(claims, "matrx")],
  ["signed with the public key as a secret", (claims) => hmac(claims, JSON.stringify(open.published[0]))],
  ["signed by somebody else", async (claims) => (await makeKey()).sign(claims)],
  ["whose claims were changed", async (claims) => changed(claims)],
  ["that brings its own key", async (claims) => withOwnKey(claims)],
  ["that is none", () => "nonsense"],
])("no ID token %s is accepted", async (_, forge) => {
  open.forge = forge;
  await refuses(await signIn(open, "open", { sub: "ann" }), 401, /can't be trusted/);
  open.metadata = { id_token_signing_alg_values_supported: ["none", "nOnE", "HS256", "ES256"] };
  passMinutes(10);
  await refuses(await signIn(open, "open", { sub: "ann" }), 401, /can't be trusted/);
});

function part(value: unknown): string {
  return base64url.encode(JSON.stringify(value));
}

function hmac(claims: Record<string, unknown>, secret: string): Promise<string> {
  const key = new TextEncoder().encode(secret.padEnd(32, "\0"));
  return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(key);
}

/** Signed by the issuer's key, for somebody else. */
async function changed(claims: Record<string, unknown>): Promise<string> {
  const key = await makeKey();
  open.published = [key.publicKey];
  const [head, , signature] = (await key.sign(claims)).split(".");
  return `${head}.${part({ ...claims, sub: "owner" })}.${signature}`;
}

async function withOwnKey(claims: Record<string, unknown>): Promise<string> {
  const { publicKey, sign } = await makeKey();
  const [, body] = (await sign(claims)).split(".");
  return `${part({ alg: "ES256", jwk: publicKey })}.${body}.${(await sign(claims)).split(".")[2]}`;
}

it("follows an issuer's new keys at once, and takes the old ones no more", async () => {
  expect((await signIn(open, "open", { sub: "ann" })).status).toBe(200);
  const stolen = await makeKey();
  open.published.push(stolen.publicKey);
  open.forge = stolen.sign;
  expect((await signIn(open, "open", { sub: "ann" })).status).toBe(200);
  await open.rotate();
  await refuses(await signIn(open, "open", { sub: "ann" }), 401, /can't be trusted/);
  open.forge = undefined;
  expect((await signIn(open, "open", { sub: "ann" })).status).toBe(200);
});

it("an issuer that cannot be reached, or says what it must not, is said to be unusable", async () => {
  const start = async (id: string) =>
    problemOf(await ask(`/v1/sign-in/oidc/${id}`, json({ key: (await Browser.open()).publicKey })));
  expect(await start("down")).toMatchObject({
    status: 503,
    detail: expect.stringMatching(/^Down can't be reached/),
  });
  for (const metadata of [
    { issuer: "https://evil.test" },
    { issuer: undefined },
    { padding: "x".repeat(1024 * 1024) },
    { authorization_endpoint: undefined },
    { authorization_endpoint: "javascript:alert(1)" },
    { authorization_endpoint: "http://open.test/authorize" },
  ]) {
    passMinutes(10);
    open.metadata = metadata;
    expect(await start("open")).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  }
  for (const name of ["token_endpoint", "jwks_uri"])
    for (const address of ["http://open.test/plain", "ftp://open.test/x", "nonsense", undefined]) {
      passMinutes(10);
      open.metadata = { [name]: address };
      const problem = await problemOf(await signIn(open, "open", { sub: "ann" }));
      expect(problem).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    }
  expect(sent.filter(({ url }) => url.startsWith("http:"))).toEqual([]);
});

it("says so if the issuer does not accept the relay", async () => {
  home.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
  const problem = await problemOf(await signIn(home, "home", { sub: "sub-of-ann" }));
  expect(problem).toMatchObject({ status: 503, detail: expect.stringMatching(/does not accept this relay/) });
  expect(JSON.stringify(problem)).not.toContain("secret:");
});

it("an issuer that is not configured does not exist", async () => {
  const key = (await Browser.open()).publicKey;
  for (const id of ["none", "__proto__", "OPEN"]) {
    expect((await ask(`/v1/sign-in/oidc/${id}`, json({ key }))).status).toBe(404);
    expect((await ask(`/v1/sign-in/oidc/${id}/callback?code=1&state=2`)).status).toBe(404);
    expect((await ask(`/v1/sign-in/oidc/${id}/finish`, json({ response: "" }))).status).toBe(404);
  }
});

it("no other page begins or ends a sign-in", async () => {
  const origin = { Origin: "https://evil.example" };
  const key = (await Browser.open()).publicKey;
  expect((await ask("/v1/sign-in/oidc/open", json({ key }, origin))).status).toBe(403);
  expect((await ask("/v1/sign-in/oidc/open/finish", json({ response: "" }, origin))).status).toBe(403);
  expect(sent).toEqual([]);
});

it("finishing is limited by address, and beginning asks the issuer once", async () => {
  const ann = await SigningIn.at("open");
  const fragment = await ann.fragment(open.signIn(await ann.location(), { sub: "ann" }));
  await ann.location();
  expect(sent.map(({ url }) => url)).toEqual([`${open.url}/.well-known/openid-configuration`]);
  const wrong = { ...fragment, response: fragment.response.replace(/code=[^&]*/, "code=guess") };
  let last = await ann.finish(wrong);
  for (let tries = 0; tries < 40 && last.status !== 429; tries++) last = await ann.finish(wrong);
  expect(await problemOf(last)).toMatchObject({ status: 429, code: "RATE_LIMITED" });
});
