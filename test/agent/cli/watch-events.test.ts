/** Following events while the relay comes and goes. The relay here is a socket that breaks off as it is told. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { deviceBySocket } from "../../../agent/cli/client/device.ts";
import { relayAt } from "../../../agent/cli/client/relay.ts";

test("an outage is told once, however often the relay is tried, and so is its end", {
  timeout: 30_000,
}, async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  let tries = 0;
  server.on("upgrade", (request, socket, head) => {
    tries++;
    if (tries === 2 || tries === 3) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      if (tries === 1) accepted.once("message", () => accepted.terminate());
    });
  });
  await once(server, "listening");

  const told: string[] = [];
  const stop = new AbortController();
  const relay = relayAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "token");
  const device = deviceBySocket(relay, "shed-0123456789");
  onTestFinished(() => device.close());
  await device.watch({
    signal: stop.signal,
    onEvent: () => undefined,
    onConnect: () => {
      told.push("connected");
      if (told.length > 1) stop.abort();
    },
    onBreak: () => told.push("broke"),
  });
  expect(told).toEqual(["connected", "broke", "connected"]);
  expect(tries).toBe(4);
});
