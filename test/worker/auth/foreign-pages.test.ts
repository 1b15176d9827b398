/** A page of another origin, in a browser where somebody is signed in: what it sends with their cookie changes nothing. */
import { beforeAll, describe, expect, it } from "vitest";
import { Person } from "../helpers/relay.ts";
import { ask, ORIGIN } from "../helpers/request.ts";

interface Route {
  readonly method: string;
  readonly path: string;
  readonly id: string;
}

const ORIGINS = [
  "https://evil.example",
  "null",
  "https://relay.test",
  "http://relay.test:8080",
  "http://sub.relay.test",
  "http://relay.test.evil.example",
];

/** What a form or a script sends without being asked first, what it is asked about first, and nothing. */
const BODIES: readonly (readonly [string | undefined, string | undefined])[] = [
  ["application/json", "{}"],
  ["text/plain", "{}"],
  ["application/x-www-form-urlencoded", "a=1"],
  ["multipart/form-data; boundary=x", "--x--\r\n"],
  [undefined, undefined],
];

/** What programs do without anybody's cookie: to ask for a pairing, and to become a client. */
const WITHOUT_COOKIE = ["startPairing", "startLogin", "pollPairing", "registerClient", "exchangeToken"];

let person: Person;
let device: string;
let routes: Route[];

beforeAll(async () => {
  person = await Person.signIn();
  device = (await person.bareDevice()).id;
  const { paths } = await (await ask("/openapi.json")).json<{
    paths: Record<string, Record<string, { operationId: string }>>;
  }>();
  routes = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId: id }]) => ({
        method: method.toUpperCase(),
        path,
        id,
      })),
    )
    .filter(({ method }) => !["GET", "HEAD", "OPTIONS"].includes(method));
});

function send({ method, path }: Route, headers: Record<string, string>, body?: string): Promise<Response> {
  const names: Record<string, string> = { device, code: "ABCDEFGH", tool: "Bash" };
  const full = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? crypto.randomUUID());
  return ask(full, { method, headers, ...(body !== undefined && { body }) });
}

describe.each(ORIGINS)("a page of %s", (origin) => {
  it("changes nothing with the cookie, whatever it sends", async () => {
    const before = await account();
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes)
      for (const [type, body] of BODIES) {
        const headers = { Origin: origin, Cookie: person.cookie, ...(type && { "Content-Type": type }) };
        const response = await send(route, headers, body);
        const what = `${route.id}, ${type}`;
        if (!WITHOUT_COOKIE.includes(route.id))
          expect([401, 403], `${what}: ${response.status}`).toContain(response.status);
        expect(response.headers.get("Set-Cookie"), what).toBeNull();
        expect(response.headers.get("Access-Control-Allow-Credentials"), what).toBeNull();
        await response.arrayBuffer();
      }
    expect(await account()).toEqual(before);
    expect((await person.renew()).status).toBe(200);
  });
});

it("what needs no cookie is answered alike with one", async () => {
  for (const route of routes.filter(({ id }) => WITHOUT_COOKIE.includes(id)))
    for (const [type, body] of BODIES) {
      const headers = { Origin: "https://evil.example", ...(type && { "Content-Type": type }) };
      const [without, with_] = [
        await send(route, headers, body),
        await send(route, { ...headers, Cookie: person.cookie }, body),
      ];
      expect([route.id, type, with_.status]).toEqual([route.id, type, without.status]);
      await Promise.all([without.arrayBuffer(), with_.arrayBuffer()]);
    }
});

async function account() {
  const lists = ["/v1/account", "/v1/devices", "/v1/tokens", "/v1/shares", "/v1/passkeys", "/v1/approvals"];
  return Promise.all(lists.map(async (path) => (await person.ask(path)).json()));
}

it("the page of the relay itself is not refused for where it comes from", async () => {
  const { status } = await ask("/v1/sign-out", {
    method: "POST",
    headers: { Origin: ORIGIN, Authorization: `Bearer ${person.accessToken}` },
  });
  expect(status).toBeLessThan(300);
});
