/** An AI client is let in: the whole way, and what the person sees of it and can do about it. */
import type { TokenView } from "@matrx/shared/token-api.ts";
import { beforeAll, expect, it } from "vitest";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";
import {
  askRelay,
  CALLBACK,
  Client,
  consent,
  errorOf,
  post,
  RELAY,
  register,
  type Tokens,
  whoCalls,
} from "./client.ts";

let person: Person;
let device: string;
let client: Client;

beforeAll(async () => {
  person = await Person.signIn();
  device = (await person.bareDevice("laptop")).id;
  client = await Client.register();
});

async function tokens(): Promise<TokenView[]> {
  return (await (await person.ask("/v1/tokens")).json<{ tokens: TokenView[] }>()).tokens;
}

async function grantOf({ access_token }: Tokens): Promise<TokenView | undefined> {
  const { grant } = await whoCalls(access_token);
  return (await tokens()).find(({ id }) => id === grant);
}

it("finds everything from the metadata on", async () => {
  const resource = await (await askRelay("/.well-known/oauth-protected-resource/mcp")).json<{
    resource: string;
    authorization_servers: string[];
  }>();
  expect(resource).toMatchObject({ resource: `${RELAY}/mcp`, authorization_servers: [RELAY] });
  const response = await askRelay("/.well-known/oauth-authorization-server", {
    headers: { Origin: "https://client.example" },
  });
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(await response.json()).toMatchObject({
    issuer: RELAY,
    authorization_endpoint: `${RELAY}/authorize`,
    token_endpoint: `${RELAY}/oauth/token`,
    registration_endpoint: `${RELAY}/oauth/register`,
    revocation_endpoint: `${RELAY}/oauth/token`,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  });
});

it("a client that runs in a browser, at any site, may ask, and reads where to sign in", async () => {
  const Origin = "https://client.example";
  for (const [path, header] of [
    ["/mcp", "mcp-protocol-version"],
    [`/mcp/d/${device}`, "authorization"],
    ["/oauth/token", "content-type"],
    ["/oauth/register", "content-type"],
    ["/.well-known/oauth-protected-resource/mcp", "mcp-protocol-version"],
  ] as const) {
    const response = await askRelay(path, {
      method: "OPTIONS",
      headers: {
        Origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": header,
      },
    });
    expect(response.status, path).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Access-Control-Allow-Headers")?.toLowerCase()).toContain(header);
    expect(response.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  }
  const refused = await askRelay("/mcp", { method: "POST", headers: { Origin } });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("WWW-Authenticate")).toContain("resource_metadata=");
  expect(refused.headers.get("Access-Control-Expose-Headers")).toContain("WWW-Authenticate");
});

it("the metadata doesn't tell whether a device exists", async () => {
  for (const id of [device, "laptop-0000000000"]) {
    const path = `/mcp/d/${id}`;
    const response = await askRelay(`/.well-known/oauth-protected-resource${path}`);
    expect(await response.json()).toMatchObject({ resource: RELAY + path });
  }
  expect((await askRelay("/.well-known/oauth-protected-resource")).status).toBe(200);
  for (const path of ["/mcp/d/no-device", "/mcp/d/", "/other", "/mcp//", "/mcp/d/a/b"])
    expect((await askRelay(`/.well-known/oauth-protected-resource${path}`)).status, path).toBe(404);
});

it("so is what clients read before they sign in, by whatever way they make its address", async () => {
  const documents = [
    "oauth-authorization-server",
    "oauth-protected-resource",
    "oauth-protected-resource/mcp",
    `oauth-protected-resource/mcp/d/${device}`,
  ];
  for (const path of documents.map((document) => `/.well-known/${document}`)) {
    const told = await (await askRelay(path)).json();
    for (const other of [`${path}/`, `${path}/?x=1`, path.replace("oauth-", "oauth%2D")])
      expect(await (await askRelay(other)).json(), other).toEqual(told);
    expect((await askRelay(`${path}/`, { method: "HEAD" })).status).toBe(200);
    const headers = { Origin: "https://page.example", "Access-Control-Request-Method": "GET" };
    expect((await askRelay(`${path}/`, { method: "OPTIONS", headers })).status).toBe(204);
  }
});

it("an address with a slash at its end is the same", async () => {
  for (const path of ["/mcp", `/mcp/d/${device}`]) {
    const unsigned = await askRelay(`${path}/`, { method: "POST" });
    expect(unsigned.headers.get("WWW-Authenticate")).toContain(`/oauth-protected-resource${path}"`);
    const resource = `${RELAY}${path}/`;
    const location = await client.letIn(person, device, { changes: { resource } });
    const got = await (await client.trade(location, { resource })).json<Tokens>();
    expect(got).toMatchObject({ resource: RELAY + path });
    const next = await (await client.refresh(got, { resource })).json<Tokens>();
    expect(await whoCalls(next.access_token, `${path}/`)).toMatchObject({ account: person.account });
    const greeting = { jsonrpc: "2.0", id: 1, method: "ping" };
    const asked = await askRelay(`${path}/`, {
      method: "POST",
      headers: {
        ...bearer(next.access_token),
        "Content-Type": "application/json",
        Accept: "text/event-stream",
      },
      body: JSON.stringify(greeting),
    });
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('"result":{}')]);
    const preflight = { Origin: "https://client.example", "Access-Control-Request-Method": "POST" };
    const allowed = await askRelay(`${path}/`, { method: "OPTIONS", headers: preflight });
    expect(allowed.headers.get("Access-Control-Allow-Origin")).toBe("*");
  }
});

it("gets tokens for what the person chose, and the page says what it was", async () => {
  const changes = { state: "the state" };
  const location = await client.letIn(person, device, { changes, wish: { days: 7 } });
  expect(location.origin + location.pathname).toBe(CALLBACK);
  expect(location.searchParams.get("state")).toBe("the state");
  expect(location.searchParams.get("iss")).toBe(RELAY);
  const response = await client.trade(location);
  expect(response.headers.get("Cache-Control")).toBe("no-store");
  const got = await response.json<Tokens>();
  expect(got).toMatchObject({
    token_type: "bearer",
    expires_in: 3600,
    scope: "mcp",
    resource: `${RELAY}/mcp`,
  });
  expect(await whoCalls(got.access_token)).toMatchObject({ account: person.account });
  expect(await grantOf(got)).toMatchObject({
    name: "my assistant",
    kind: "api",
    credential: "ai",
    client: { id: client.id, name: "Some assistant", host: null },
    devices: [device],
    effects: ["read"],
    ask: [{ effects: ["write", "execute"] }],
    secrets: "closed",
  });
});

it("a refreshed token replaces the old one", async () => {
  const first = await client.connect(person, device);
  const second = await (await client.refresh(first)).json<Tokens>();
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await whoCalls(second.access_token)).toMatchObject({ account: person.account });
});

it("a second sign-in of the same client leaves the first installation as it is", async () => {
  const laptop = await client.connect(person, device);
  const desktop = await client.connect(person, device);
  expect((await client.refresh(laptop)).status).toBe(200);
  expect((await client.refresh(desktop)).status).toBe(200);
  expect((await grantOf(laptop))?.id).not.toBe((await grantOf(desktop))?.id);
});

it("what the person revokes is over: access token, refresh token, grant", async () => {
  const got = await client.connect(person, device);
  const { grant } = await whoCalls(got.access_token);
  expect((await person.ask(`/v1/tokens/${grant}`, { method: "DELETE" })).status).toBe(204);
  await expect(whoCalls(got.access_token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect(await errorOf(await client.refresh(got))).toBe("invalid_grant");
});

it("a client that gives its refresh token back ends its grant", async () => {
  const got = await client.connect(person, device);
  const id = (await grantOf(got))?.id;
  expect((await client.revoke(got.refresh_token)).status).toBe(200);
  await expect(whoCalls(got.access_token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect((await tokens()).map((token) => token.id)).not.toContain(id);
});

it("an access token that is given back is over, and the rest is not", async () => {
  const got = await client.connect(person, device);
  expect((await client.revoke(got.access_token)).status).toBe(200);
  await expect(whoCalls(got.access_token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect((await client.refresh(got)).status).toBe(200);
});

it("the person may say no", async () => {
  const request = await client.request({ state: "a state" });
  const response = await post(person.accessToken, "/v1/oauth/refusals", { request });
  const location = new URL((await response.json<{ location: string }>()).location);
  expect(location.origin + location.pathname).toBe(CALLBACK);
  expect(Object.fromEntries(location.searchParams)).toMatchObject({
    error: "access_denied",
    state: "a state",
    iss: RELAY,
  });
});

it("shows the person who asks", async () => {
  const shown = await post(person.accessToken, "/v1/oauth/requests", { request: await client.request() });
  expect(await shown.json()).toEqual({
    client: { id: client.id, name: "Some assistant", host: null },
    redirect_host: "127.0.0.1:4321",
    redirect_is_local: true,
    device: null,
    answered: null,
  });
});

it("a request that several pages show is answered once, and each of them can tell how", async () => {
  const send = async (path: string, request: string): Promise<Response> =>
    path === "consents"
      ? consent(person, request, { devices: [device] })
      : post(person.accessToken, `/v1/oauth/${path}`, { request });
  for (const [first, second, answered] of [
    ["consents", "refusals", "allowed"],
    ["refusals", "consents", "denied"],
  ] as const) {
    const request = await client.request();
    expect((await send(first, request)).status).toBe(200);
    const late = await send(second, request);
    expect(late.status).toBe(409);
    expect(await late.json()).toMatchObject({
      ...{ code: "CONFLICT", field: "request" },
      detail: `You ${answered} this request already, on another page`,
    });
    expect(await (await send("requests", request)).json()).toMatchObject({ answered });
  }
  const before = (await tokens()).length;
  const request = await client.request();
  const both = await Promise.all([send("consents", request), send("consents", request)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await tokens()).length).toBe(before + 1);
});

it("a request whose answer failed can be answered", async () => {
  const request = await client.request();
  expect((await consent(person, request, { devices: ["laptop-0000000000"] })).status).toBe(404);
  expect((await consent(person, request, { devices: [device] })).status).toBe(200);
});

it("a client without resource gets tokens for all devices, and its loopback port may change", async () => {
  const redirect_uri = "http://127.0.0.1:60123/callback";
  const location = await client.letIn(person, device, { changes: { resource: undefined, redirect_uri } });
  const got = await (await client.trade(location, { redirect_uri })).json<Tokens>();
  expect(got).toMatchObject({ resource: `${RELAY}/mcp` });
});

it("a grant that was made longer keeps its client, one that was made shorter does not", async () => {
  const got = await client.connect(person, device, { wish: { days: 1 } });
  const id = (await grantOf(got))?.id ?? "";
  await person.change(id, { days: 300 });
  const next = await (await client.refresh(got)).json<Tokens>();
  expect(Date.parse((await person.details(id)).expires)).toBeGreaterThan(Date.now() + 299 * 86_400_000);
  expect((await client.refresh(next)).status).toBe(200);
});

it("the relay's own tokens work as well, wherever", async () => {
  const { token, id } = await person.grant({ paths: null, devices: [device] });
  expect(await whoCalls(token)).toMatchObject({ account: person.account, grant: id });
  expect(await whoCalls(token, `/mcp/d/${device}`)).toMatchObject({ grant: id });
  expect((await ask("/v1/account", { headers: bearer(token) })).status).toBe(200);
});

it("an OAuth token opens nothing but MCP", async () => {
  const { access_token } = await client.connect(person, device);
  for (const path of ["/v1/account", "/v1/devices", "/v1/tokens", "/tools/list"])
    expect((await askRelay(path, { headers: bearer(access_token) })).status, path).toBe(401);
});

it("what a client leaves out as null is left out", async () => {
  const registered = await register({ client_name: null, scope: null, contacts: null, logo_uri: null });
  expect(registered.status).toBe(201);
});

it("what registers is bounded, and says what is wrong", async () => {
  const long = await register({ client_name: "x".repeat(9000) });
  expect(long.status).toBe(413);
  for (const redirect of [
    "javascript:alert(1)",
    "http://evil.example/",
    "https://a.example/#x",
    "data:text/html,x",
  ])
    expect((await register({ redirect_uris: [redirect] })).status, redirect).toBe(400);
  const strange = await register({ client_name: "A\u202eB\u0000\u200bC" });
  const id = (await strange.json<{ client_id: string }>()).client_id;
  const request = await new Client(id).request();
  const shown = await post(person.accessToken, "/v1/oauth/requests", { request });
  expect((await shown.json<{ client: { name: string } }>()).client.name).toBe("ABC");
});

it("a program with an address of its own is called back there, and the person sees its scheme", async () => {
  const redirect = "cursor://anysphere.cursor-mcp/oauth/callback";
  const registered = await register({ client_name: "Cursor", redirect_uris: [redirect] });
  expect(registered.status).toBe(201);
  const { client_id: id } = await registered.json<{ client_id: string }>();
  const request = (await new Client(id).request()).replace(
    /redirect_uri=[^&]*/,
    `redirect_uri=${encodeURIComponent(redirect)}`,
  );
  const shown = await post(person.accessToken, "/v1/oauth/requests", { request });
  expect(await shown.json()).toMatchObject({ redirect_host: "cursor:", redirect_is_local: false });
  const allowed = await consent(person, request, { devices: [device] });
  const { location } = await allowed.json<{ location: string }>();
  expect(location).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?/);
});

it("a consent says what any AI token must say", async () => {
  const request = await client.request();
  const wrong = [
    { devices: [device], paths: undefined },
    { devices: ["laptop-0000000000"] },
    { credential: "script", devices: [device] },
    { access: "full", devices: [device] },
    { devices: [device], days: 9999 },
  ];
  for (const wish of wrong) {
    const { status } = await consent(person, request, wish);
    expect([400, 404], JSON.stringify(wish)).toContain(status);
  }
});
