/** FetchPort on a machine of its own: what a program there is asked, what comes back, and what breaks off. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import type { HeaderList } from "../../../shared/forwarding/head.ts";
import { encodeSocketFrame, SOCKET_MESSAGE_BYTES } from "../../../shared/forwarding/socket-frames.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "../transfers/memory-stream.ts";
import { framesOf, never, OPEN, responseOf, SOCKET, serveHttp, wanted } from "./port-calls.ts";

test("the request arrives as it is, and the response comes back as it is", async () => {
  let asked: (Pick<IncomingMessage, "method" | "url" | "headers"> & { body: string }) | undefined;
  const port = await serveHttp(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    asked = { method: request.method, url: request.url, headers: request.headers, body };
    response.writeHead(302, [
      ...["Location", "http://localhost:1/next"],
      ...["Set-Cookie", "a=1", "Set-Cookie", "b=2"],
      ...["Connection", "X-Own", "X-Own", "1"],
    ]);
    response.end("moved");
  });
  const headers: HeaderList = [
    ["Host", "elsewhere.example"],
    ["X-Two", "one"],
    ["Connection", "close, x-mine"],
    ["X-Mine", "not passed on"],
  ];
  const result = await wanted(port, { method: "POST", path: "/a%20b", query: "c=%26&d", headers });
  const { stream, trailer } = await serve(result, { sends: [Buffer.from("hello "), Buffer.from("there")] });
  expect(asked).toMatchObject({ method: "POST", url: "/a%20b?c=%26&d", body: "hello there" });
  expect(asked?.headers).toMatchObject({ host: `localhost:${port}`, "x-two": "one" });
  expect(asked?.headers).not.toHaveProperty("x-mine");
  const response = await responseOf(stream);
  expect(response).toMatchObject({ status: 302, body: "moved" });
  const names = response.headers.map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(["Location", "Set-Cookie"]));
  expect(response.headers.filter(([name]) => name === "Set-Cookie")).toHaveLength(2);
  for (const name of ["Connection", "X-Own", "Transfer-Encoding"]) expect(names).not.toContain(name);
  expect(trailer).toEqual({ sent: 5 });
});

test("an answer that comes before the body was read counts", async () => {
  const port = await serveHttp((_request, response) => {
    response.writeHead(413, { Connection: "close" }).end("too much");
  });
  const { stream } = await serve(await wanted(port, { method: "PUT" }), { sends: never() });
  expect(await responseOf(stream)).toMatchObject({ status: 413, body: "too much" });
});

test("a program that answers at once still gets the whole body", async () => {
  const port = await serveHttp((request, response) => {
    response.writeHead(200).flushHeaders();
    request.pipe(response);
  });
  async function* slow() {
    for (let piece = 0; piece < 3; piece++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield Buffer.alloc(100_000, "x");
    }
  }
  const { trailer } = await serve(await wanted(port, { method: "POST" }), { sends: slow() });
  expect(trailer).toEqual({ sent: 300_000 });
});

/** A program that answers each connection with these bytes, and what it was sent. */
async function serveRaw(answer: string, end: (socket: Socket) => void = (socket) => socket.end()) {
  const served = { port: 0, sent: "" };
  const server = createRawServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      served.sent += data.toString("latin1");
    });
    setTimeout(() => socket.write(answer, "latin1", () => end(socket)), 100);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return Object.assign(served, { port: (server.address() as AddressInfo).port });
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const SMUGGLED = "GET /other HTTP/1.1\r\nHost: a\r\n\r\n";

test.each(["GET", "DELETE", "OPTIONS", "POST"])("a body of %s without a length is framed", async (method) => {
  const program = await serveRaw(OK);
  await serve(await wanted(program.port, { method }), { sends: [Buffer.from(SMUGGLED)] });
  expect(program.sent).toMatch(/\r\nTransfer-Encoding: chunked\r\n/i);
  const [, body] = program.sent.split(/\r\n\r\n(.*)/s);
  expect(body).toBe(`${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`);
});

test("a request without a body has neither length nor chunks", async () => {
  const program = await serveRaw(OK);
  await serve(await wanted(program.port, { method: "DELETE" }));
  expect(program.sent).not.toMatch(/transfer-encoding|content-length/i);
});

test("nothing is sent beyond the length that a request names", async () => {
  const program = await serveRaw(OK);
  const headers: HeaderList = [["Content-Length", "2"]];
  const sends = [Buffer.from("ok"), Buffer.from(SMUGGLED)];
  await serve(await wanted(program.port, { method: "POST", headers }), { sends }).catch(() => undefined);
  expect(program.sent).not.toContain("GET /other");
});

test("a program that switches protocols unasked, or sends no final response, resets the stream", async () => {
  for (const answer of [
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nhello",
    "HTTP/1.1 101 Switching Protocols\r\n\r\nhello",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
  ]) {
    const { port } = await serveRaw(answer);
    await expect(serve(await wanted(port))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  }
});

test("a connection that is reset within the response resets the stream, and nothing else", async () => {
  const part = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart";
  const { port } = await serveRaw(part, (socket) => setTimeout(() => socket.resetAndDestroy(), 50));
  await expect(serve(await wanted(port))).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("headers are UTF-8 both ways, and what is not stays readable", async () => {
  const name = Buffer.from("é 日本").toString("latin1");
  const program = await serveRaw(`${OK.slice(0, -2)}X-Name: ${name}\r\nX-Old: caf\xe9\r\n\r\n`);
  const headers: HeaderList = [["Cookie", "name=é日本"]];
  const { stream } = await serve(await wanted(program.port, { headers }));
  expect(Buffer.from(program.sent, "latin1").toString()).toContain("name=é日本\r\n");
  const response = await responseOf(stream);
  expect(response.headers).toEqual(
    expect.arrayContaining([
      ["X-Name", "é 日本"],
      ["X-Old", "café"],
    ]),
  );
});

test("a response arrives piece by piece, and ends at the program when its reader leaves", async () => {
  const gone = Promise.withResolvers<void>();
  const port = await serveHttp((request, response) => {
    request.on("close", gone.resolve);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: 1\n\n");
  });
  const { stream: serving } = await wanted(port);
  const stream: MemoryStream = new MemoryStream({
    receive: (piece) => Buffer.from(piece).includes("data: 1") && stream.reset(),
  });
  await expect(serving?.(stream)).rejects.toBe(RESET);
  await gone.promise;
});

test("what is no HTTP, has too large headers, or breaks off resets the stream", async () => {
  const raw = createRawServer((socket) => socket.on("error", () => undefined).end("hello there\r\n"));
  raw.listen(0, "127.0.0.1");
  await once(raw, "listening");
  onTestFinished(() => void raw.close());
  const noHttp = (raw.address() as AddressInfo).port;
  const large = await serveHttp((_request, response) => {
    response.setHeader("X-Large", "x".repeat(80 * 1024)).end();
  });
  const broken = await serveHttp((request, response) => {
    response.writeHead(200, { "Content-Length": "100" }).write("part", () => request.socket.destroy());
  });
  for (const port of [noHttp, large, broken])
    await expect(serve(await wanted(port))).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
});

test.each<[string, Record<string, unknown>]>([
  ["a path with a line break", { path: "/\r\nX: 1" }],
  ["a path with a query", { path: "/?a" }],
  ["another address", { path: "http://example.org/" }],
  ["another host", { host: "example.org" }],
  ["CONNECT", { method: "CONNECT" }],
  ["two lengths", { secret: { headers: ["1", "2"].map((length) => ["Content-Length", length]) } }],
  ["a length that is no number", { secret: { headers: [["content-length", "+1"]] } }],
  ["a query with a blank", { secret: { headers: [], query: "a b" } }],
])("%s is refused", async (_what, wish) => {
  const bench = await Workbench.open();
  const input = { port: 80, method: "GET", path: "/", secret: { headers: [] }, ...wish };
  expect(await failure(bench.call("FetchPort", input, OPEN))).toMatchObject({ code: "INVALID_PARAMETERS" });
});

test("a header with a line break reaches nobody", async () => {
  let requests = 0;
  const port = await serveHttp((_request, response) => {
    requests++;
    response.end();
  });
  const result = await wanted(port, { headers: [["X-A", "1\r\nX-B: 2"]] });
  await expect(serve(result)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(requests).toBe(0);
});

test("nobody there is said by the call, and without a stream nothing is asked", async () => {
  const port = await serveHttp(() => undefined);
  const bench = await Workbench.open();
  const input = { port, method: "GET", path: "/", secret: { headers: [] } };
  expect(await failure(bench.call("FetchPort", input))).toMatchObject({ code: "INVALID_PARAMETERS" });
  const gone = await failure(bench.call("FetchPort", { ...input, port: 1 }, OPEN));
  expect(gone).toMatchObject({ code: "UNAVAILABLE", details: { reason: "nobody_listens" } });
});

async function echoServer(): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "chat" });
  await once(server, "listening");
  onTestFinished(() => server.close());
  server.on("connection", (ws) => {
    ws.on("message", (data, isBinary) => {
      if (data.toString() === "bye") ws.close(4321, "as you say");
      else if (data.toString() === "much") ws.send(Buffer.alloc(SOCKET_MESSAGE_BYTES + 1));
      else ws.send(data, { binary: isBinary });
    });
    ws.send("welcome");
  });
  return (server.address() as AddressInfo).port;
}

test("messages of a WebSocket keep their kinds and borders, and the program's close comes with its code", async () => {
  const port = await echoServer();
  const sends = [
    encodeSocketFrame({ kind: "text", text: "héllo" }),
    encodeSocketFrame({ kind: "binary", bytes: new Uint8Array([0, 255]) }),
    encodeSocketFrame({ kind: "text", text: "" }),
    encodeSocketFrame({ kind: "text", text: "bye" }),
  ];
  const { stream } = await serve(await wanted(port, { ...SOCKET, headers: [...SOCKET.headers] }), {
    sends: held(sends),
  });
  expect(await framesOf(stream)).toEqual([
    { kind: "text", text: "welcome" },
    { kind: "text", text: "héllo" },
    { kind: "binary", bytes: new Uint8Array([0, 255]) },
    { kind: "text", text: "" },
    { kind: "close", code: 4321, reason: "as you say" },
  ]);
});

async function* held(sends: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* sends;
  yield* never();
}

test("a message that is too long closes it, and so does a caller that is gone", async () => {
  const port = await echoServer();
  const wish = { ...SOCKET, headers: [...SOCKET.headers] };
  const much = held([encodeSocketFrame({ kind: "text", text: "much" })]);
  const { stream } = await serve(await wanted(port, wish), { sends: much });
  expect((await framesOf(stream)).at(-1)).toMatchObject({ kind: "close" });
  const left = await serve(await wanted(port, wish), { sends: [] });
  expect((await framesOf(left.stream)).at(-1)).toMatchObject({ kind: "close" });
});

test("a program that dies is not told as one that closes the WebSocket as agreed", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "chat" });
  await once(server, "listening");
  onTestFinished(() => server.close());
  server.on("connection", (ws) => ws.terminate());
  const { port } = server.address() as AddressInfo;
  const { stream } = await serve(await wanted(port, { ...SOCKET, headers: [...SOCKET.headers] }), {
    sends: never(),
  });
  expect(await framesOf(stream)).toEqual([{ kind: "close", code: 1011, reason: "" }]);
});

test("a program that opens no WebSocket answers as to any request", async () => {
  const server = createServer().on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const at = (server.address() as AddressInfo).port;
  const { stream } = await serve(await wanted(at, { websocket: true }));
  expect(await responseOf(stream)).toMatchObject({ status: 403, body: "no" });
});
