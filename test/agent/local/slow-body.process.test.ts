/** A request that does not end: the local server waits for it no longer than it says. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { bearer, serve, TOKEN } from "./serve.ts";

vi.mock("@matrx/shared/limits.ts", async (original) => {
  const limits = await original<typeof import("@matrx/shared/limits.ts")>();
  return { ...limits, TIMES: { ...limits.TIMES, restBodyWithin: 300 } };
});

test("an unfinished body is let go, and the server answers on", async () => {
  const { port, url } = await serve();
  const webSocket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: bearer });
  onTestFinished(() => webSocket.terminate());
  await once(webSocket, "open");
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const head = [
    "POST /tools/invoke HTTP/1.1",
    `Host: localhost:${port}`,
    `Authorization: Bearer ${TOKEN}`,
    "Content-Type: application/json",
    "Content-Length: 1000",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n{"tool"`);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text) => {
    answer += text;
  });
  await once(socket, "close");
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  // A connection that became a WebSocket is no request any more.
  webSocket.send('{"action":"ping"}');
  expect(String((await once(webSocket, "message"))[0])).toBe('{"type":"pong"}');
});
