/** What strangers, other clients and other accounts try with OAuth, and must not get. */
import { exports } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { bearer, Person } from "../helpers/relay.ts";
import {
  askRelay,
  authorize,
  Client,
  consent,
  errorOf,
  grantIds,
  post,
  RELAY,
  register,
  type Tokens,
  whoCalls,
} from "./client.ts";

let ann: Person;
let ben: Person;
let laptop: string;
let server: string;
let client: Client;

beforeAll(async () => {
  [ann, ben] = await Promise.all([Person.signIn(), Person.signIn()]);
  laptop = (await ann.bareDevice("laptop")).id;
  server = (await ann.bareDevice("server")).id;
  client = await Client.register();
});

const REFUSED = { code: "UNAUTHENTICATED" };

it("a wrong request ends on a page that leads nowhere", async () => {
  const wrong: Record<string, string | undefined>[] = [
    { client_id: "nobody" },
    { client_id: undefined },
    { client_id: "https://10.0.0.1/client" },
    { client_id: "https://localhost/client" },
    { client_id: "https://relay/client" },
    { client_id: "https://client.example" },
    { client_id: "https://user@client.example/id" },
    { client_id: "https://client.example/a/../b" },
    { redirect_uri: "https://evil.example/callback" },
    { redirect_uri: "http://127.0.0.1:4321/other" },
    { redirect_uri: "http://127.0.0.1.evil.example/callback" },
    { redirect_uri: undefined },
    { response_type: "token" },
    { code_challenge: undefined },
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge: "short" },
    { resource: "https://other.example/mcp" },
    { resource: `${RELAY}/mcp/d/laptop` },
    { resource: `${RELAY}/mcp-other` },
    { resource: `${RELAY}/` },
  ];
  for (const changes of wrong) {
    const request = await client.request(changes);
    const response = await authorize(request);
    expect(response.status, request).toBe(400);
    expect(response.headers.get("Location")).toBeNull();
    expect(response.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
    expect((await consent(ann, request, { devices: [laptop] })).status, request).toBe(400);
  }
  const twice = `${await client.request()}&redirect_uri=${encodeURIComponent("https://evil.example/")}`;
  expect((await authorize(twice)).status).toBe(400);
  expect((await consent(ann, twice, { devices: [laptop] })).status).toBe(400);
});

it("the page of a wrong request is no place for the client's own HTML", async () => {
  const named = await Client.register({ client_name: "<script>alert(1)</script>" });
  const answers = await Promise.all([
    authorize(await named.request({ response_type: "<img src=x onerror=alert(1)>" })),
    authorize(await named.request({ client_id: "https://<b>.example/x" })),
    authorize(await named.request({ code_challenge: undefined, state: '"><script>' })),
  ]);
  for (const answer of answers) {
    const text = await answer.text();
    expect(text).not.toMatch(/<(?:script|img|b)\b/);
  }
});

it("a client is shown as what it is: whole characters, and by its scheme if it has one of its own", async () => {
  const shown = async (named: Client, redirect_uri?: string) => {
    const request = await named.request(redirect_uri === undefined ? {} : { redirect_uri });
    return (await post(ann.accessToken, "/v1/oauth/requests", { request })).json();
  };
  const long = await Client.register({ client_name: `${"a".repeat(63)}😀` });
  expect(await shown(long)).toMatchObject({ client: { name: `${"a".repeat(63)}\ufffd` } });
  const blank = await Client.register({ client_name: "\u3164\u2800 \u115f" });
  expect(await shown(blank)).toMatchObject({ client: { name: "An app without a name" } });
  const own = "com.example.app://localhost/callback";
  expect(await shown(await Client.register({ redirect_uris: [own] }), own)).toMatchObject({
    ...{ redirect_host: "com.example.app:", redirect_is_local: false },
  });
});

it("a client with a secret needs PKCE too", async () => {
  const response = await register({ token_endpoint_auth_method: "client_secret_post" });
  const { client_id } = await response.json<{ client_id: string }>();
  const request = await new Client(client_id).request({
    code_challenge: undefined,
    code_challenge_method: undefined,
  });
  expect((await authorize(request)).status).toBe(400);
});

it("nobody but a person at our own page lets a client in", async () => {
  const request = await client.request();
  const body = { request, grant: { name: "x", paths: null, devices: [laptop] } };
  const got = await client.connect(ann, laptop);
  const tokens = {
    ai: (await ann.grant({ paths: null })).token,
    script: (await ann.grant({ credential: "script" })).token,
    oauth: got.access_token,
  };
  for (const path of ["/v1/oauth/consents", "/v1/oauth/requests", "/v1/oauth/refusals"]) {
    expect((await post(tokens.ai, path, body)).status).toBe(403);
    expect((await post(tokens.script, path, body)).status).toBe(403);
    expect((await post(tokens.oauth, path, body)).status).toBe(401);
    // Another site, even with the person's token; and the cookie without the key.
    expect((await post(ann.accessToken, path, body, "https://evil.example")).status).toBe(403);
    const cookie = { Cookie: ann.cookie, "Content-Type": "application/json", Origin: RELAY };
    const byCookie = await askRelay(path, { method: "POST", headers: cookie, body: JSON.stringify(body) });
    expect(byCookie.status).toBe(401);
  }
});

it("who is signed in as another account than the page showed lets nobody in", async () => {
  const grant = { name: "x", paths: ["~/projects"], devices: [laptop] };
  const body = { request: await client.request(), account: ben.account, grant };
  const before = await grantIds(ann);
  expect((await post(ann.accessToken, "/v1/oauth/consents", body)).status).toBe(409);
  expect(await grantIds(ann)).toEqual(before);
  const own = { ...body, account: ann.account };
  expect((await post(ann.accessToken, "/v1/oauth/consents", own)).status).toBe(200);
});

it("the page can't be framed", async () => {
  const response = await authorize(await client.request());
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
  expect(response.headers.get("X-Frame-Options")).toBe("DENY");
});

it("a code is good once, for its client, redirect and verifier", async () => {
  const other = await Client.register();
  const trades: ((location: URL) => Promise<Response>)[] = [
    (location) => other.trade(location, { code_verifier: client.verifier }),
    (location) => client.trade(location, { code_verifier: other.verifier }),
    (location) => client.trade(location, { code_verifier: undefined }),
    (location) => client.trade(location, { redirect_uri: "http://127.0.0.1:9999/callback" }),
    (location) => client.trade(location, { resource: `${RELAY}/mcp/d/${laptop}` }),
    (location) => client.trade(location, { client_id: undefined }),
    (location) => client.trade(location, { code: location.searchParams.get("code")?.replace(/.$/, "!") }),
  ];
  for (const trade of trades) {
    const location = await client.letIn(ann, laptop);
    expect([400, 401]).toContain((await trade(location)).status);
    // The right one is still welcome.
    expect((await client.trade(location)).status).toBe(200);
  }
});

it("a code that comes again ends what it gave", async () => {
  const location = await client.letIn(ann, laptop);
  const got = await (await client.trade(location)).json<Tokens>();
  const { grant } = await whoCalls(got.access_token);
  expect(await errorOf(await client.trade(location))).toBe("invalid_grant");
  await expect(whoCalls(got.access_token)).rejects.toMatchObject(REFUSED);
  expect(await errorOf(await client.refresh(got))).toBe("invalid_grant");
  expect(await grantIds(ann)).not.toContain(grant);
});

it.each([2, 4])(
  "of those that trade the same code at once, one gets tokens, which are good: %s",
  async (count) => {
    const location = await client.letIn(ann, laptop);
    const answers = await Promise.all(Array.from({ length: count }, () => client.trade(location)));
    const [got, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const refused = answers.filter((answer) => answer !== got);
    for (const answer of refused) {
      expect(answer.status).toBe(400);
      expect(await errorOf(answer)).toBe("invalid_grant");
    }
    const tokens = (await got?.json<Tokens>()) as Tokens;
    expect(await whoCalls(tokens.access_token)).toMatchObject({ account: ann.account });
    expect((await client.refresh(tokens)).status).toBe(200);
  },
);

it("a token is good at its own address only", async () => {
  const resource = `${RELAY}/mcp/d/${laptop}`;
  const one = await client.connect(ann, laptop, { changes: { resource } });
  expect(await whoCalls(one.access_token, `/mcp/d/${laptop}`)).toMatchObject({ account: ann.account });
  for (const path of ["/mcp", `/mcp/d/${server}`, `/mcp/d/${laptop}x`, "/mcp/d", "/v1/account"])
    await expect(whoCalls(one.access_token, path), path).rejects.toMatchObject(REFUSED);
  // Not for a sibling by a refresh either; without naming it the refresh is for its own.
  const sibling = await client.refresh(one, { resource: `${RELAY}/mcp/d/${server}` });
  expect(await errorOf(sibling)).toBe("invalid_target");
  expect(await errorOf(await client.refresh(one, { resource: `${RELAY}/mcp` }))).toBe("invalid_target");
  const next = await (await client.refresh(one)).json<Tokens>();
  expect(next).toMatchObject({ resource });

  const all = await client.connect(ann, laptop);
  expect(await whoCalls(all.access_token, `/mcp/d/${laptop}`)).toMatchObject({ account: ann.account });
  for (const origin of ["https://other.test", "http://relay.test", "http://localhost:8787"])
    await expect(whoCalls(all.access_token, "/mcp", origin), origin).rejects.toMatchObject(REFUSED);
});

it("who asks for one device gets that one and no other", async () => {
  const request = await client.request({ resource: `${RELAY}/mcp/d/${laptop}` });
  for (const wish of [{ devices: [server] }, { devices: [laptop, server] }, { devices: undefined }])
    expect((await consent(ann, request, wish)).status).toBe(409);
  const tagged = await consent(ann, request, { devices: [laptop], tags: ["home"] });
  expect(tagged.status).toBe(409);
});

it("a scope that a client makes up gives nothing", async () => {
  const got = await client.connect(ann, laptop, {
    changes: { scope: "owner admin mcp:write offline_access" },
  });
  expect(got.scope).toBe("mcp offline_access");
  const { grant } = await whoCalls(got.access_token);
  expect(await ann.details(grant)).toMatchObject({ effects: ["read"], credential: "ai" });
  const more = await client.refresh(got, { scope: "owner" });
  expect(await errorOf(more)).toBe("invalid_scope");
});

it("each address is an issuer of its own, and http is none", async () => {
  const request = await client.request();
  const elsewhere = await post(ann.accessToken, "/v1/oauth/requests", { request });
  expect(elsewhere.status).toBe(200);
  const at = (origin: string, path: string) => exports.default.fetch(new Request(origin + path));
  const other = await at("https://other.test", "/.well-known/oauth-authorization-server");
  expect(await other.json()).toMatchObject({ issuer: "https://other.test" });
  for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"])
    expect((await at("http://relay.test", path)).status).toBe(404);
});

it("two accounts never meet", async () => {
  const own = await client.connect(ann, laptop);
  expect((await consent(ben, await client.request(), { devices: [laptop] })).status).toBe(404);
  const { id } = await ben.bareDevice("tower");
  const his = await client.connect(ben, id);
  const [, , secret] = his.access_token.split(":");
  const [account, grant] = own.access_token.split(":");
  await expect(whoCalls(`${account}:${grant}:${secret}`)).rejects.toMatchObject(REFUSED);
  await expect(whoCalls(own.access_token.replace(ann.account, ben.account))).rejects.toMatchObject(REFUSED);
  expect((await whoCalls(his.access_token)).account).toBe(ben.account);
  expect(
    (await ben.ask(`/v1/tokens/${(await whoCalls(own.access_token)).grant}`, { method: "DELETE" })).status,
  ).toBe(404);
});

it("another client's tokens can neither be refreshed nor given back", async () => {
  const other = await Client.register();
  const got = await client.connect(ann, laptop);
  expect(await errorOf(await other.refresh(got))).toBe("invalid_grant");
  expect((await other.revoke(got.refresh_token)).status).toBe(200);
  expect((await other.revoke(got.access_token)).status).toBe(200);
  expect(await whoCalls(got.access_token)).toMatchObject({ account: ann.account });
  expect((await client.refresh(got)).status).toBe(200);
});

it("tokens that nobody gave are refused, and make no object", async () => {
  const made = [
    `nobody:${"a".repeat(16)}:${"b".repeat(32)}`,
    `${ann.account}:${"a".repeat(16)}:${"b".repeat(32)}`,
    "a:b:c",
    "a:b",
    `${"x".repeat(70)}:${"a".repeat(16)}:${"b".repeat(32)}`,
    "::",
  ];
  for (const token of made) await expect(whoCalls(token), token).rejects.toMatchObject(REFUSED);
});

it("each 401 says where to sign in, and whether there was a token", async () => {
  const at = (path: string, headers: Record<string, string> = {}) =>
    askRelay(path, { method: "POST", headers });
  const metadata = `resource_metadata="${RELAY}/.well-known/oauth-protected-resource`;
  const none = await at("/mcp");
  expect(none.status).toBe(401);
  expect(none.headers.get("WWW-Authenticate")).toBe(`Bearer realm="matrx", ${metadata}/mcp", scope="mcp"`);
  const wrong = await at(`/mcp/d/${laptop}`, bearer("a:b:c"));
  expect(wrong.status).toBe(401);
  expect(wrong.headers.get("WWW-Authenticate")).toBe(
    `Bearer realm="matrx", ${metadata}/mcp/d/${laptop}", scope="mcp", error="invalid_token"`,
  );
  const got = await client.connect(ann, laptop);
  expect((await at("/mcp", bearer(got.access_token))).status).not.toBe(401);
});
