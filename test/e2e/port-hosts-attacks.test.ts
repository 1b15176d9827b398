/** Who must not get at a device's web server, and what a visit must not reach. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { portLinkSchema } from "../../shared/port-link-api.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";
import { askAt, linkTo, Visitor } from "./visitor.ts";

const MINUTE = 60_000;

let rig: Rig;
let person: Person;
let port: number;
let visitor: Visitor;
let requests = 0;

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  const server = createServer((_request, response) => {
    requests++;
    response.end("the program");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", () => requests++);
  visitor = await Visitor.enter(rig, await linkTo(rig, person, port));
  return () => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  };
});
afterAll(() => rig?.stop());

it("a link works once, at its own host, and not for programs that look where it leads", {
  timeout: MINUTE,
}, async () => {
  const { url } = await linkTo(rig, person, port);
  const { host, pathname } = new URL(url);
  const elsewhere = [host.replace(`${port}--`, "1--"), host.replace(rig.device, "other-0123456789")];
  for (const other of elsewhere) expect((await askAt(rig, other, pathname)).status).toBe(401);
  expect((await askAt(rig, host, pathname, { method: "HEAD" })).status).toBe(405);
  for (const wrong of [pathname.slice(0, -1), `${pathname}x`, pathname.replace("owner.", "nobody.")])
    expect((await askAt(rig, host, wrong)).status).toBe(401);
  // The code is no cookie.
  const name = visitor.cookie.split("=")[0];
  const asCookie = await askAt(rig, host, "/", {
    headers: { Cookie: `${name}=${pathname.split("/").at(-1)}` },
  });
  expect(asCookie.status).toBe(401);
  await Visitor.enter(rig, { url });
  const again = await askAt(rig, host, pathname);
  expect(again).toMatchObject({ status: 401, headers: { "content-type": "text/plain; charset=utf-8" } });
  expect(again.headers).not.toHaveProperty("set-cookie");
  expect(again.text).toContain("matrx open");
});

it("a visit's cookie opens its own host alone, and nothing of the relay", { timeout: MINUTE }, async () => {
  const { cookie, host } = visitor;
  const headers = { Cookie: cookie };
  for (const other of [host.replace(`${port}--`, "1--"), host.replace(rig.device, "other-0123456789")])
    expect((await askAt(rig, other, "/", { headers })).status).toBe(401);
  const own = `localhost:${rig.relay.port}`;
  const secret = cookie.split("=")[1] ?? "";
  for (const given of [
    headers,
    { Authorization: `Bearer ${secret}` },
    { Authorization: `Bearer ${secret.split(".")[2]}` },
  ])
    expect((await askAt(rig, own, "/v1/devices", { headers: given })).status).toBe(401);
  const [account, grant] = secret.split(".");
  for (const forged of [
    `${account}.${grant}.`,
    `${account}.${grant}.0`,
    `nobody.${grant}.0`,
    "",
    "..",
    `${secret}.x`,
  ]) {
    const wrong = { Cookie: `${cookie.split("=")[0]}=${forged}` };
    expect((await askAt(rig, host, "/", { headers: wrong })).status).toBe(401);
  }
  expect((await askAt(rig, host, "/")).status).toBe(401);
});

it("none of the relay's routes answers at such a host", { timeout: MINUTE }, async () => {
  const headers = { Authorization: `Bearer ${rig.token}` };
  for (const path of [
    "/v1/devices",
    "/healthz",
    "/",
    "/mcp",
    "/openapi.json",
    `/v1/devices/${rig.device}/tools`,
  ]) {
    const answer = await askAt(rig, visitor.host, path, { headers });
    expect([path, answer.status, answer.headers["content-type"]]).toEqual([
      path,
      401,
      "text/plain; charset=utf-8",
    ]);
  }
  expect((await visitor.ask("/v1/devices")).text).toBe("the program");
  for (const host of [
    "x",
    "0--a-0123456789",
    "65536--a-0123456789",
    `${port}--A_B`,
    `a.${port}--${rig.device}`,
  ]) {
    const answer = await askAt(rig, `${host}.localhost:${rig.relay.port}`, "/v1/devices", { headers });
    expect([host, answer.status]).toEqual([host, 404]);
  }
});

it("pages of other hosts can't use the visit, and links from them can", { timeout: MINUTE }, async () => {
  const before = requests;
  const sibling = visitor.origin.replace(`${port}--`, "1--");
  const foreign: [string, Record<string, string>][] = [
    ["POST", { Origin: sibling }],
    ["GET", { Origin: "null" }],
    ["GET", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script" }],
    ["GET", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" }],
    ["POST", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" }],
  ];
  for (const [method, headers] of foreign)
    expect([headers, (await visitor.ask("/", { method, headers })).status]).toEqual([headers, 403]);
  const [response] = await once(
    visitor.socket("/", [], { Origin: sibling }).on("error", () => undefined),
    "unexpected-response",
  ).then(([, answer]) => [answer as { statusCode: number; destroy(): void }]);
  expect(response?.statusCode).toBe(403);
  response?.destroy();
  expect(requests).toBe(before);
  const link = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
  expect((await visitor.ask("/", { headers: link })).status).toBe(200);
  expect((await visitor.ask("/", { method: "POST", headers: { Origin: visitor.origin } })).status).toBe(200);
});

it("only ports that the policies list, and a change of them ends what is open", {
  timeout: MINUTE,
}, async () => {
  const route = `/v1/devices/${rig.device}/port-links`;
  const ws = visitor.socket("/");
  await once(ws, "open");
  const closed = once(ws, "close");
  await person.setPolicy({ allowed_ports: [port + 1] });
  expect((await closed)[0]).toBe(1011);
  expect((await visitor.ask("/")).status).toBe(403);
  const refused = await person.ask("POST", route, { port });
  expect(refused).toMatchObject({ status: 403, body: { code: "PERMISSION_DENIED" } });
  await person.setPolicy({ denied_tools: ["ConnectPort", "FetchPort"] });
  expect((await person.ask("POST", route, { port })).status).toBe(403);
  await person.setPolicy({ allowed_ports: [port] });
  expect((await visitor.ask("/")).status).toBe(200);
  await person.setPolicy({});
});

it("the relay's own port is refused, and a port that nobody serves says so", {
  timeout: MINUTE,
}, async () => {
  const relay = await Visitor.enter(rig, await linkTo(rig, person, rig.line.port));
  expect((await relay.ask("/")).status).toBe(403);
  const nobody = await Visitor.enter(rig, await linkTo(rig, person, 1));
  const answer = await nobody.ask("/");
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(answer.text).toContain("Nobody serves port 1");
});

it("is made by a person alone, and a pause closes it", { timeout: MINUTE }, async () => {
  const route = `/v1/devices/${rig.device}/port-links`;
  const ai = await person.grant({ ask: [], effects: ["read", "write", "execute"], paths: null });
  expect((await ai.ask("POST", route, { port })).status).toBe(403);
  await person.ask("DELETE", `/v1/tokens/${ai.id}`);
  for (const wish of [{}, { port: 0 }, { port, minutes: 0 }, { port, host: "example.org" }])
    expect((await person.ask("POST", route, wish)).status).toBe(400);
  expect((await person.ask("POST", "/v1/pause", { paused: true })).status).toBeLessThan(300);
  expect((await visitor.ask("/")).status).toBe(403);
  expect((await person.ask("POST", "/v1/pause", { paused: false })).status).toBeLessThan(300);
  expect((await visitor.ask("/")).status).toBe(200);
});

it("a visit is listed without its secrets, and recorded without what it sends", {
  timeout: MINUTE,
}, async () => {
  const link = await linkTo(rig, person, port);
  const other = await Visitor.enter(rig, link);
  const asked = await other.ask("/page?key=hidden1", {
    headers: { "X-Own": "hidden2", Cookie: `${other.cookie}; a=hidden3` },
  });
  expect(asked.status).toBe(200);
  const listed = JSON.stringify((await person.ask("GET", "/v1/tokens")).body);
  expect(listed).toContain(`port ${port} in a browser`);
  for (const secret of [link.url.split(".").at(-1) ?? "none", other.cookie.split(".").at(-1) ?? "none"])
    expect(listed).not.toContain(secret);
  await expect
    .poll(async () => JSON.stringify((await person.ask("GET", "/v1/audit")).body), { timeout: 10_000 })
    .toContain('"path":"/page"');
  const record = JSON.stringify((await person.ask("GET", "/v1/audit")).body);
  expect(record).not.toMatch(/hidden\d/);
});

it("a link is made at a command line too", { timeout: MINUTE }, async () => {
  const matrx = await person.commandLine();
  const made = await matrx("open", rig.device, String(port), "--minutes", "5", "--no-browser", "--json");
  expect(made.code).toBe(0);
  const entered = await Visitor.enter(rig, portLinkSchema.parse(made.json));
  expect((await entered.ask("/")).text).toBe("the program");
  const refused = await matrx("open", rig.device, "many", "--no-browser");
  expect(refused).toMatchObject({ code: 64 });
});
