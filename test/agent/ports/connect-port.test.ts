/** ConnectPort on a machine of its own: what it connects to, what it refuses, and what it leaves behind. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { homeOf } from "../../../agent/config/app-dirs.ts";
import { forgetListening, noteListening, OwnPorts } from "../../../agent/ports/own-ports.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { failure, Workbench } from "../tools/workbench.ts";
import { MemoryStream, RESET, serve } from "../transfers/memory-stream.ts";

const OPEN = { opensStream: true };

/** Serves a port of the machine on one address. */
async function listen(onConnection: (socket: Socket) => void, address = "127.0.0.1"): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  server.listen(0, address);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("bytes go both ways, and the end says how many", async () => {
  const bench = await Workbench.open();
  const port = await listen((socket) => socket.pipe(socket));
  const result = await bench.call("ConnectPort", { port }, OPEN);
  expect(result).toMatchObject({ output: `Connected to port ${port}`, metadata: { address: "127.0.0.1" } });
  const { stream, trailer } = await serve(result, { sends: [Buffer.from("hello "), Buffer.from("there")] });
  expect(stream.content.toString()).toBe("hello there");
  expect(trailer).toEqual({ sent: 11, received: 11 });
});

test("a program that listens on ::1 only is found by localhost, and not by 127.0.0.1", async () => {
  const bench = await Workbench.open();
  const port = await listen((socket) => socket.end("six"), "::1");
  const { stream } = await serve(await bench.call("ConnectPort", { port }, OPEN));
  expect(stream.content.toString()).toBe("six");
  expect(await failure(bench.call("ConnectPort", { port, host: "127.0.0.1" }, OPEN))).toMatchObject({
    code: "UNAVAILABLE",
  });
});

test("other hosts are refused", async () => {
  const bench = await Workbench.open();
  for (const host of [
    "0.0.0.0",
    "192.168.0.1",
    "example.org",
    "127.0.0.1.example.org",
    "::ffff:10.0.0.1",
    "",
  ])
    expect(await failure(bench.call("ConnectPort", { port: 80, host }, OPEN))).toMatchObject({
      code: "INVALID_PARAMETERS",
    });
});

test("without a stream nothing is connected", async () => {
  const bench = await Workbench.open();
  let connections = 0;
  const port = await listen(() => connections++);
  expect(await failure(bench.call("ConnectPort", { port }))).toMatchObject({ code: "INVALID_PARAMETERS" });
  expect(connections).toBe(0);
});

test("a stream that is reset breaks the connection off, and a connection that breaks off resets the stream", async () => {
  const bench = await Workbench.open();
  const broken = Promise.withResolvers<unknown>();
  const port = await listen((socket) => {
    socket.on("error", broken.resolve);
    socket.write("hello");
    socket.resume();
  });
  const { stream: reset } = await bench.call("ConnectPort", { port }, OPEN);
  const stream: MemoryStream = new MemoryStream({ receive: () => stream.reset(), sends: never() });
  await expect(reset?.(stream)).rejects.toBe(RESET);
  expect(await broken.promise).toMatchObject({ code: "ECONNRESET" });

  const rude = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()));
  const opened = await bench.call("ConnectPort", { port: rude }, OPEN);
  const failing = serve(opened, { sends: [Buffer.from("hello")] });
  await expect(failing).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

/** A caller that keeps its direction open. */
async function* never(): AsyncGenerator<Uint8Array, void> {
  await new Promise(() => undefined);
  yield new Uint8Array();
}

test("the local server's port and the relay's are refused, wherever the relay is noted", () => {
  const folder = temporaryFolder();
  const home = homeOf({ MATRX_HOME: folder });
  const data = join(folder, "data");
  mkdirSync(data);
  const ports = new OwnPorts({ relay: "http://localhost:8787", folders: () => [folder, data, "/nowhere"] });
  expect([8787, 8000, 9000].map((port) => ports.has(port))).toEqual([true, false, false]);
  noteListening(home, 8000);
  writeFileSync(join(data, "relay.pid"), JSON.stringify({ launcher: 1, port: 9000 }), { mode: 0o600 });
  expect([8787, 8000, 9000].map((port) => ports.has(port))).toEqual([true, true, true]);
  forgetListening(home);
  expect(ports.has(8000)).toBe(false);
  const elsewhere = new OwnPorts({ relay: "https://relay.example", folders: () => [] });
  expect(elsewhere.has(443)).toBe(false);
});
