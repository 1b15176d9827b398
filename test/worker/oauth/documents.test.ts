/** Clients that describe themselves at an address: which are believed, and what the relay does not do for strangers. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { clientStore } from "../../../worker/objects/oauth-store.ts";
import { Person } from "../helpers/relay.ts";
import {
  askRelay,
  CALLBACK,
  Client,
  consent,
  post,
  RELAY,
  type Tokens,
  authorize as visit,
} from "./client.ts";

const ID = "https://client.example/oauth/client.json";
const DOCUMENT = { client_id: ID, client_name: "Example Assistant", redirect_uris: [CALLBACK] };

/** What the relay asked for, and how. */
let sent: { url: string; redirect: string }[];
let answer: (url: string) => Response | Promise<Response>;

beforeEach(() => {
  sent = [];
  answer = () => Response.json(DOCUMENT);
  vi.useFakeTimers({ now: Date.now() + 60 * 60_000, toFake: ["Date"] });
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { url, redirect } = new Request(input, init);
    sent.push({ url, redirect });
    return answer(url);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function authorize(id: string, address?: string): Promise<Response> {
  return visit(await new Client(id).request(), address);
}

/** A client of one test alone. */
function describedAt(name: string): string {
  const id = `https://client.example/${name}.json`;
  answer = () => Response.json({ ...DOCUMENT, client_id: id });
  return id;
}

it("is shown by the host that vouches for it, fetched once, and never for a token", async () => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice();
  const client = new Client(ID);
  expect((await authorize(ID)).status).toBe(200);
  const request = await client.request();
  const shown = await post(person.accessToken, "/v1/oauth/requests", { request });
  expect(await shown.json()).toMatchObject({
    client: { id: ID, name: "Example Assistant", host: "client.example" },
  });
  const got = await client.connect(person, id);
  answer = () => new Response("gone", { status: 500 });
  const next = await (await client.refresh(got)).json<Tokens>();
  expect(next.access_token).toBeDefined();
  expect(sent).toEqual([{ url: ID, redirect: "manual" }]);
});

it("a stranger who asks for tokens makes the relay fetch nothing", async () => {
  const client = new Client("https://victim.example/a");
  expect((await client.ask({ grant_type: "refresh_token", refresh_token: "a:b:c" })).status).toBe(401);
  expect(sent).toEqual([]);
});

it("one address fetches only so many", async () => {
  const statuses = [];
  for (let index = 0; index < 32; index++)
    statuses.push((await authorize(`https://client.example/${index}`, "198.51.100.7")).status);
  expect(sent.length).toBe(30);
  expect(new Set(statuses)).toEqual(new Set([400]));
});

it("is fetched for nobody but a browser that goes there, or a signed-in person", async () => {
  const id = describedAt("picture");
  const request = await new Client(id).request();
  for (const headers of [
    { "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image", Accept: "image/*" },
    { "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", Accept: "text/html" },
    { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe", Accept: "text/html" },
    { Accept: "image/*" },
    {},
  ])
    expect((await askRelay(`/authorize?${request}`, { headers })).status).toBe(400);
  expect(sent).toEqual([]);
  const person = await Person.signIn();
  expect((await post(person.accessToken, "/v1/oauth/requests", { request })).status).toBe(200);
  expect(sent).toHaveLength(1);
  const old = { Accept: "text/html,application/xhtml+xml" };
  expect((await askRelay(`/authorize?${request}`, { headers: old })).status).toBe(200);
});

it("a signed-in person's are fetched, however many strangers at their address have asked for", async () => {
  const person = await Person.signIn();
  const here = { "CF-Connecting-IP": "198.51.100.8" };
  for (let index = 0; index < 31; index++) await authorize(`https://client.example/${index}`, "198.51.100.8");
  const request = await new Client(describedAt("hers")).request();
  const init = { method: "POST", body: JSON.stringify({ request }) };
  const headers = {
    ...here,
    Authorization: `Bearer ${person.accessToken}`,
    "Content-Type": "application/json",
  };
  const shown = await askRelay("/v1/oauth/requests", { ...init, headers: { ...headers, Origin: RELAY } });
  expect(shown.status).toBe(200);
});

it("follows no redirect, and believes no document but the client's own", async () => {
  const wrong: [string, () => Response][] = [
    ["a redirect", () => Response.redirect("https://evil.example/client.json", 302)],
    ["nothing", () => new Response("no", { status: 404 })],
    ["no JSON", () => new Response("<html>")],
    ["another client", () => Response.json({ ...DOCUMENT, client_id: "https://client.example/other" })],
    ["no name", () => Response.json({ ...DOCUMENT, client_name: " " })],
    ["no address", () => Response.json({ ...DOCUMENT, redirect_uris: [] })],
    ["a secret", () => Response.json({ ...DOCUMENT, client_secret: "x" })],
    [
      "a secret's way",
      () => Response.json({ ...DOCUMENT, token_endpoint_auth_method: "client_secret_post" }),
    ],
    ["a huge document", () => Response.json({ ...DOCUMENT, more: "x".repeat(6000) })],
  ];
  for (const [what, given] of wrong) {
    // What was right a moment ago is kept for ten minutes.
    vi.setSystemTime(Date.now() + 11 * 60_000);
    answer = given;
    const response = await authorize(ID);
    expect(response.status, what).toBe(400);
    expect(await response.text()).toContain("client.example");
  }
  expect(sent.length).toBe(wrong.length);
  expect(sent.every(({ redirect, url }) => redirect === "manual" && url === ID)).toBe(true);
});

it("a client that offers to do without a secret may also offer keys", async () => {
  const methods = ["none", "private_key_jwt"];
  answer = () => Response.json({ ...DOCUMENT, token_endpoint_auth_methods_supported: methods });
  expect((await authorize(ID)).status).toBe(200);
});

it("is forgotten after a day if nobody lets it in, however often browsers come", async () => {
  const id = describedAt("unused");
  const kept = async () => (await clientStore(env.OAUTH_STORE).get(`client:${id}`)) !== undefined;
  const minutes = (count: number) => vi.setSystemTime(Date.now() + count * 60_000);
  for (let visit = 0; visit < 3; visit++) {
    expect((await authorize(id)).status).toBe(200);
    minutes(11);
  }
  expect(sent.length).toBe(3);
  expect(await kept()).toBe(true);
  minutes(24 * 60);
  expect(await kept()).toBe(false);
});

it("stays for long once a person let it in, also when its document is read again", async () => {
  const id = describedAt("used");
  const person = await Person.signIn();
  const { id: device } = await person.bareDevice();
  const client = new Client(id);
  await client.connect(person, device);
  for (let visit = 0; visit < 2; visit++) {
    vi.setSystemTime(Date.now() + 100 * 24 * 60 * 60_000);
    expect((await authorize(id)).status).toBe(200);
  }
  vi.setSystemTime(Date.now() + 100 * 24 * 60 * 60_000);
  expect(await clientStore(env.OAUTH_STORE).get(`client:${id}`)).toBeDefined();
});

it("an address that it no longer names gets no code", async () => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice();
  expect((await authorize(ID)).status).toBe(200);
  const request = await new Client(ID).request();
  answer = () => Response.json({ ...DOCUMENT, redirect_uris: ["https://client.example/new"] });
  vi.setSystemTime(Date.now() + 11 * 60_000);
  await person.renew();
  expect((await consent(person, request, { devices: [id] })).status).toBe(400);
});
