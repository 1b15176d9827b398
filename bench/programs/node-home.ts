/** A bare relay in Node for idle devices: believes every registration, and answers the text heartbeat. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { NONCE_HEADER } from "../../shared/tokens.ts";
import { ready, settingsOf } from "../processes.ts";

const { port } = settingsOf<{ port: number }>();
const devices = new Map<string, WebSocket>();
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("headers", (headers) => headers.push(`${NONCE_HEADER}: none`));
sockets.on("connection", (socket, request) => {
  const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("device") ?? "";
  socket.on("message", (data) => {
    if (data.toString() === "ping") return socket.send("pong");
    devices.set(id, socket);
    socket.send(JSON.stringify({ type: "device_registered", device_id: id, permissions: {} }));
  });
});
server.listen(port, "127.0.0.1", () => ready((server.address() as AddressInfo).port));
