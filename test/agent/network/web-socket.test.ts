/** WebSockets to a server elsewhere, while they are still being opened. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openWebSocket } from "../../../agent/network/web-socket.ts";

test("one that is given up while nobody answers lets go of its connection at once", {
  timeout: 5000,
}, async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const socket = openWebSocket(`wss://127.0.0.1:${(silent.address() as AddressInfo).port}`, [], {});
  socket.on("error", () => undefined);
  const [connection] = (await once(silent, "connection")) as [Socket];
  connection.on("error", () => undefined).resume();
  const left = once(connection, "close");
  socket.terminate();
  await left;
  expect(connection.destroyed).toBe(true);
});
