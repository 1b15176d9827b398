/** WebSockets of the platform, and of the package ws, that never open. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket as WsSocket } from "ws";
import { connectDevice } from "../../client/connect.ts";
import type { WebSocketConstructor, WebSocketLike } from "../../client/socket/web-socket.ts";

test.each<[string, WebSocketConstructor | undefined]>([
  ["the platform's", undefined],
  ["that of the package ws", WsSocket],
])("where nobody listens, %s says so and breaks nothing", async (_, WebSocket) => {
  const machine = connectDevice({ url: `http://127.0.0.1:${await freePort()}`, device: "attic", WebSocket });
  onTestFinished(() => machine.close());
  await expect(machine.connect()).rejects.toMatchObject({ code: "UNAVAILABLE", hop: "caller" });
});

test("whoever is refused hears why from the package ws, too", async () => {
  const refusal = { status: 401, code: "UNAUTHENTICATED", detail: "The token can't be read", hop: "relay" };
  const server = createHttpServer((_request, response) =>
    response
      .writeHead(401, { "Content-Type": "application/problem+json", Connection: "close" })
      .end(JSON.stringify(refusal)),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const machine = connectDevice({ url, device: "attic", token: "token", WebSocket: WsSocket });
  onTestFinished(() => machine.close());
  await expect(machine.connect()).rejects.toMatchObject({ code: "UNAUTHENTICATED", hop: "relay" });
});

test("one that gets no answer is given up in time, and the next is dialled", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const dialled: SilentSocket[] = [];
  class SilentSocket implements WebSocketLike {
    binaryType = "blob";
    readonly readyState = 0;
    readonly bufferedAmount = 0;
    isClosed = false;
    constructor() {
      dialled.push(this);
    }
    addEventListener(): void {}
    send(): void {}
    close(): void {
      this.isClosed = true;
    }
  }
  const machine = connectDevice({ url: "http://localhost", device: "attic", WebSocket: SilentSocket });
  onTestFinished(() => machine.close());
  const called = machine.call("Read", {}, { tries: 2 });
  called.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(40_000);
  await expect(called).rejects.toMatchObject({
    ...{ code: "UNAVAILABLE", message: "Can't reach the relay, so nothing ran: no answer in time" },
  });
  expect(dialled.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

/** A port at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
