/** A device that does no work: serves callers directly (WebSocket and HTTP), or dials a relay without checks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { answerFrame } from "../frames.ts";
import { ready, settingsOf } from "../processes.ts";
import { ROUTE_LENGTH } from "../route.ts";

function answerTo(call: string): string {
  const { id, input } = JSON.parse(call) as { id?: string; input?: Record<string, unknown> };
  return answerFrame(id, input);
}

function serve(): void {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const answer = answerTo(Buffer.concat(parts).toString());
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 0;
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
    socket.on("message", (data: Buffer) => socket.send(answerTo(data.toString())));
  });
  server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
}

function dial(url: string): void {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on("message", (data: Buffer) => {
    const frame = data.toString();
    socket.send(frame.slice(0, ROUTE_LENGTH) + answerTo(frame.slice(ROUTE_LENGTH)));
  });
  socket.on("open", () => ready(0));
  socket.on("close", () => process.exit(1));
}

const { relay } = settingsOf<{ relay?: string }>();
if (relay) dial(relay);
else serve();
