/** Web servers of a device at hosts of their own, through a real relay and a real agent: what passes, and what does not. */
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { makeAuthority } from "../helpers/certificates.ts";
import { Person } from "./person.ts";
import { type Rig, startRig } from "./rig.ts";
import { linkTo, Visitor } from "./visitor.ts";

const MINUTE = 60_000;

let rig: Rig;
let person: Person;
let port: number;
let visitor: Visitor;
/** What the program was last asked with. */
let asked: IncomingHttpHeaders = {};
/** Responses of `/events` that are open. */
const listeners = new Set<ServerResponse>();
/** Tells how each WebSocket of the program's ended. */
const ended = new EventEmitter();
let eventsEnded = Promise.withResolvers<void>();

const program: RequestListener = async (request, response) => {
  asked = request.headers;
  const { pathname } = new URL(request.url ?? "", "http://program");
  if (pathname === "/events") {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: hello\n\n");
    listeners.add(response);
    return void response.on("close", () => eventsEnded.resolve());
  }
  if (pathname === "/named")
    return void response.writeHead(200, { "X-Name": Buffer.from("é日本").toString("latin1") }).end();
  if (pathname === "/redirect")
    return void response.writeHead(302, { Location: `http://127.0.0.1:${port}/next?a=1` }).end();
  if (pathname === "/away") return void response.writeHead(302, { Location: "https://example.org/" }).end();
  if (pathname === "/hostile")
    return void response
      .writeHead(200, {
        "Set-Cookie": [
          "mine=1; Domain=localhost; Path=/",
          `${visitor.cookie.split("=")[0]}=stolen; Path=/`,
          "__Host-matrx_visit=stolen; Secure; Path=/",
        ],
        "Strict-Transport-Security": "max-age=1000; includeSubDomains",
        "Clear-Site-Data": '"cookies", "cache"',
        "Alt-Svc": 'h3=":443"',
      })
      .end();
  let body = "";
  for await (const piece of request) body += piece;
  response.setHeader("X-Asked", `${request.method} ${request.url}`);
  response.end(`you sent ${body.length}: ${body.slice(0, 20)}`);
};

beforeAll(async () => {
  rig = await startRig();
  person = await Person.signIn(rig);
  const server = createServer(program).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  const sockets = new WebSocketServer({ server, handleProtocols: () => "chat" });
  sockets.on("connection", (ws) => {
    ws.on("error", () => undefined);
    ws.on("close", (code, reason) => ended.emit("close", code, String(reason)));
    ws.on("message", (data, isBinary) => {
      if (data.toString() === "die") ws.terminate();
      else if (data.toString() === "bye") ws.close(4321, "as you say");
      else ws.send(data, { binary: isBinary });
    });
  });
  visitor = await Visitor.enter(rig, await linkTo(rig, person, port));
  return () => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  };
});
afterAll(() => rig?.stop());

it("forwards requests and responses as they are", { timeout: MINUTE }, async () => {
  const plain = await visitor.ask("/a%20b?c=%26&d=1");
  expect(plain).toMatchObject({
    status: 200,
    text: "you sent 0: ",
    headers: { "x-asked": "GET /a%20b?c=%26&d=1" },
  });
  const large = "x".repeat(3_000_000);
  const posted = await visitor.ask("/form", { method: "POST", body: large });
  expect(posted).toMatchObject({ status: 200, text: `you sent 3000000: ${"x".repeat(20)}` });
  expect(posted.headers["content-length"]).toBe(String(posted.text.length));
  const head = await visitor.ask("/", { method: "HEAD" });
  expect(head).toMatchObject({ status: 200, text: "" });
});

it("the program sees itself as localhost, and neither the visit's cookie nor its host", {
  timeout: MINUTE,
}, async () => {
  await visitor.ask("/", {
    headers: {
      ...{ Origin: visitor.origin, Referer: `${visitor.origin}/page` },
      ...{ Cookie: `mine=1; ${visitor.cookie}; other=2`, "X-Forwarded-For": "192.0.2.1" },
    },
  });
  const own = `http://localhost:${port}`;
  expect(asked).toMatchObject({
    ...{ host: `localhost:${port}`, origin: own, referer: `${own}/page`, cookie: "mine=1; other=2" },
    ...{ "x-forwarded-host": visitor.host, "x-forwarded-proto": "http" },
  });
  expect(asked).not.toHaveProperty("x-forwarded-for");
  await visitor.ask("/");
  expect(asked).not.toHaveProperty("cookie");
  expect(JSON.stringify(asked)).not.toContain("matrx");
});

it("redirects of the program stay at its host, others are not followed", { timeout: MINUTE }, async () => {
  const redirected = await visitor.ask("/redirect");
  expect(redirected).toMatchObject({ status: 302, headers: { location: `${visitor.origin}/next?a=1` } });
  expect(await visitor.ask("/away")).toMatchObject({
    status: 302,
    headers: { location: "https://example.org/" },
  });
});

it("the program speaks for its own host alone, and cannot set the visit's cookie", {
  timeout: MINUTE,
}, async () => {
  const { headers } = await visitor.ask("/hostile");
  expect(headers["set-cookie"]).toEqual(["mine=1; Path=/"]);
  expect(headers["clear-site-data"]).toBe('"cache"');
  for (const name of ["strict-transport-security", "alt-svc"]) expect(headers).not.toHaveProperty(name);
});

it("events arrive as they are sent, and the program learns that their reader left", {
  timeout: MINUTE,
}, async () => {
  eventsEnded = Promise.withResolvers();
  const response = await visitor.start("/events");
  const pieces = response.setEncoding("utf8").iterator({ destroyOnReturn: false });
  expect((await pieces.next()).value).toBe("data: hello\n\n");
  for (const listener of listeners) listener.write("data: again\n\n");
  expect((await pieces.next()).value).toBe("data: again\n\n");
  response.destroy();
  // The embedded relay's runtime notices when it sends to the reader, as a program that keeps its readers alive does.
  const beats = setInterval(() => {
    for (const listener of listeners) listener.write(": alive\n\n");
  }, 50);
  await eventsEnded.promise;
  clearInterval(beats);
  listeners.clear();
});

it("messages of a WebSocket pass both ways, and so do its subprotocol and its close", {
  timeout: MINUTE,
}, async () => {
  const ws = visitor.socket("/chat", ["chat", "other"]);
  await once(ws, "open");
  expect(ws.protocol).toBe("chat");
  expect(asked).toBeDefined();
  for (const message of ["héllo", "", Buffer.from([0, 255]), "x".repeat(2_000_000)]) {
    ws.send(message);
    const [data, isBinary] = (await once(ws, "message")) as [Buffer, boolean];
    expect([data.equals(Buffer.from(message)), isBinary]).toEqual([true, typeof message !== "string"]);
  }
  ws.send("bye");
  const [code, reason] = await once(ws, "close");
  expect([code, String(reason)]).toEqual([4321, "as you say"]);
});

it("how a WebSocket ends is told both ways, and one that breaks off is none that was closed as agreed", {
  timeout: MINUTE,
}, async () => {
  for (const round of [0, 1, 2, 3]) {
    const ws = visitor.socket("/chat");
    await once(ws, "open");
    const told = once(ended, "close");
    ws.close(4000 + round, "leaving");
    expect(await told).toEqual([4000 + round, "leaving"]);
  }
  const lost = visitor.socket("/chat");
  await once(lost, "open");
  const toldLost = once(ended, "close");
  lost.terminate();
  expect((await toldLost)[0]).toBe(1011);
  const dying = visitor.socket("/chat");
  await once(dying, "open");
  dying.send("die");
  expect((await once(dying, "close"))[0]).toBe(1011);
});

it("a WebSocket's message of more than 4 MiB ends it, also if it has fewer characters", {
  timeout: MINUTE,
}, async () => {
  const ws = visitor.socket("/chat");
  ws.on("error", () => undefined);
  await once(ws, "open");
  ws.send("€".repeat(2_000_000));
  expect((await once(ws, "close"))[0]).toBe(1009);
});

it("cookies and headers beyond ASCII pass both ways", { timeout: MINUTE }, async () => {
  const latin = (text: string) => Buffer.from(text).toString("latin1");
  const headers = { Cookie: `${visitor.cookie}; name=${latin("é日本")}` };
  expect((await visitor.ask("/", { headers })).status).toBe(200);
  expect(asked.cookie).toBe(latin("name=é日本"));
  expect((await visitor.ask("/named")).headers["x-name"]).toBe(latin("é日本"));
});

it("a revoked visit ends at once, in the middle of a WebSocket too", { timeout: MINUTE }, async () => {
  const link = await linkTo(rig, person, port);
  const other = await Visitor.enter(rig, link);
  const ws = other.socket("/chat");
  await once(ws, "open");
  const closed = once(ws, "close");
  expect((await person.ask("DELETE", `/v1/tokens/${link.id}`)).status).toBe(204);
  expect((await closed)[0]).toBe(1011);
  expect((await other.ask("/")).status).toBe(401);
});

it("a server that speaks HTTPS alone is visited like any other: pages, redirects, forms and WebSockets", {
  timeout: MINUTE,
}, async () => {
  const certificate = makeAuthority(rig.folder).sign("box.lan");
  const server = createSecureServer(certificate, (request, response) => {
    const { port: own } = server.address() as AddressInfo;
    if (request.url === "/old") response.writeHead(302, { Location: `https://localhost:${own}/new` }).end();
    else request.pipe(response.setHeader("X-Origin", request.headers.origin ?? ""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (ws) => ws.on("message", (data) => ws.send(`secure ${data}`)));
  const { port: secure } = server.address() as AddressInfo;
  const visiting = await Visitor.enter(rig, await linkTo(rig, person, secure));
  expect(await visiting.ask("/old")).toMatchObject({
    status: 302,
    headers: { location: `${visiting.origin}/new` },
  });
  const form = { method: "POST", body: "name=ann", headers: { Origin: visiting.origin } };
  expect(await visiting.ask("/form", form)).toMatchObject({
    ...{ status: 200, text: "name=ann" },
    headers: { "x-origin": `https://localhost:${secure}` },
  });
  const ws = visiting.socket("/chat");
  await once(ws, "open");
  ws.send("hello");
  expect(String((await once(ws, "message"))[0])).toBe("secure hello");
  ws.terminate();
  sockets.close();
  server.close();
  server.closeAllConnections();
});
