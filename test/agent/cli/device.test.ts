/** The command line's connection for streams, with a relay that this test plays: tokens that are replaced, and losses. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { deviceBySocket } from "../../../agent/cli/client/device.ts";
import { relayAt } from "../../../agent/cli/client/relay.ts";
import type { Device } from "../../../client/device.ts";
import { encodeStreamFrame, errorPayload } from "../../../shared/streams/frame.ts";

type Frame = Record<string, unknown>;

afterEach(() => void vi.useRealTimers());

/** A relay's side, which tells what it gets. */
async function relay(onFrame: (frame: Frame, socket: WebSocket) => void) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "matrx.v1.bin" });
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const tokens: (string | undefined)[] = [];
  server.on("connection", (socket, request) => {
    tokens.push(request.headers.authorization);
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) onFrame(JSON.parse(data.toString()) as Frame, socket);
    });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens, server };
}

const answer = (socket: WebSocket, { id }: Frame, more: object) =>
  socket.send(Buffer.from(JSON.stringify({ id, output: "", ...more })), { binary: true });

test("a token that was replaced is told to the relay, and used for the next connection", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const told = Promise.withResolvers<Frame>();
  const at = await relay((frame) => {
    if (frame.action === "auth") told.resolve(frame);
  });
  let token = "first";
  const client = relayAt(at.url, () => token);
  using first = await connected(client);
  token = "second";
  vi.advanceTimersByTime(60_000);
  expect(await told.promise).toEqual({ action: "auth", token: "second" });
  using _next = await connected(client);
  expect(at.tokens).toEqual(["Bearer first", "Bearer second"]);
  expect(at.server.clients.size).toBe(2);
  first.close();
});

test("a call's error is thrown, and leaves no stream behind", async () => {
  const at = await relay((frame, socket) =>
    answer(socket, frame, { type: "error", code: "DEVICE_OFFLINE", output: "It is away", hop: "relay" }),
  );
  using device = await connected(relayAt(at.url, "token"));
  for (let round = 0; round < 40; round++) {
    const opening = device.open("Download", {}, { credit: 65_536 });
    await expect(opening).rejects.toMatchObject({
      code: "DEVICE_OFFLINE",
      message: "It is away",
      hop: "relay",
    });
  }
  expect(at.tokens.length).toBe(1);
});

test("what the relay refuses for its rate is sent again when it says, and a stop ends the waiting", async () => {
  const refused = {
    type: "error",
    code: "RATE_LIMITED",
    output: "More than 50 messages per second",
    hop: "relay",
  };
  const tools: unknown[] = [];
  let wait = 2;
  const at = await relay((frame, socket) => {
    tools.push(frame.tool);
    const isTaken = tools.length % 3 === 0;
    answer(socket, frame, isTaken ? { type: "success" } : { ...refused, metadata: { retry_after_ms: wait } });
  });
  using device = await connected(relayAt(at.url, "token"));
  expect(await device.call("FileInfo", {})).toMatchObject({ type: "success" });
  expect(await device.open("Download", {}, { credit: 65_536 })).toMatchObject({
    answer: { type: "success" },
  });
  expect(tools).toEqual([...Array(3).fill("FileInfo"), ...Array(3).fill("Download")]);

  wait = 50_000;
  const stop = new AbortController();
  const stopped = device.call("FileInfo", {}, { signal: stop.signal });
  await expect.poll(() => tools.length).toBe(7);
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ code: "CANCELLED" });

  wait = 3_600_000;
  await expect(device.call("FileInfo", {})).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(tools.length).toBe(8);
});

test("a lost relay ends calls and streams with the reason; a lost device only its streams", async () => {
  const sockets: WebSocket[] = [];
  const at = await relay((frame, socket) => {
    sockets.push(socket);
    if (frame.tool === "Read" && new Set(sockets).size > 1)
      answer(socket, frame, { type: "success", output: "read" });
    if (frame.tool === "Download") answer(socket, frame, { type: "success", metadata: { size: 1 } });
  });
  using device = await connected(relayAt(at.url, "token"));
  const first = await device.open("Download", {}, { credit: 65_536 });
  expect(first.answer.metadata).toEqual({ size: 1 });
  const second = await device.open("Download", {}, { credit: 65_536 });
  const gone = errorPayload({ code: "UNAVAILABLE", message: "The device disconnected", hop: "relay" });
  const address = { connection: "0000000000000000", stream: 1, bulk: false };
  sockets[0]?.send(encodeStreamFrame(address, "reset", gone));
  await expect(first.stream.incoming().next()).rejects.toMatchObject({ message: "The device disconnected" });
  expect(at.server.clients.size).toBe(1);

  const call = device.call("Read", {});
  const reading = second.stream.incoming().next();
  sockets[0]?.close(1012, "The relay restarts");
  await expect(reading).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "Lost the connection to the relay: The relay restarts",
  });
  // A read is made again, on a new connection.
  expect(await call).toMatchObject({ output: "read" });
});

async function connected(client: ReturnType<typeof relayAt>): Promise<Device & Disposable> {
  const device = deviceBySocket(client, "laptop");
  await device.connect();
  return Object.assign(device, { [Symbol.dispose]: () => device.close() });
}
