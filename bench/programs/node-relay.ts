/** A bare relay in Node: one device, any number of callers, no checks. */
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { ready } from "../processes.ts";
import { ROUTE_LENGTH, routeOf } from "../route.ts";

const callers = new Map<string, WebSocket>();
let device: WebSocket | undefined;

function acceptDevice(socket: WebSocket): void {
  device = socket;
  socket.on("message", (data: Buffer) => {
    const frame = data.toString();
    callers.get(frame.slice(0, ROUTE_LENGTH))?.send(frame.slice(ROUTE_LENGTH));
  });
}

function acceptCaller(socket: WebSocket): void {
  const route = routeOf(callers.size);
  callers.set(route, socket);
  socket.on("message", (data: Buffer) => device?.send(route + data.toString()));
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket, request) => {
  if (request.url === "/device") acceptDevice(socket);
  else acceptCaller(socket);
});
server.on("listening", () => ready((server.address() as AddressInfo).port));
