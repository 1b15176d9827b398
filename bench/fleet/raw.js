/**
 * One Durable Object for each idle device, and nothing else: believes every registration, stores nothing. Plain
 * JavaScript, for workerd runs this file as it is.
 */
import { DurableObject } from "cloudflare:workers";

export class RawHome extends DurableObject {
  constructor(state, env) {
    super(state, env);
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  fetch() {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client, headers: { "matrx-nonce": "none" } });
  }

  /** workerd itself dies of thousands of sockets that are closed at once and that nobody closes here. */
  webSocketClose(socket, code) {
    socket.close(code === 1005 || code === 1006 ? 1000 : code);
  }

  webSocketMessage(socket) {
    socket.send(JSON.stringify({ type: "device_registered", device_id: "bench", permissions: {} }));
  }
}

export default {
  fetch(request, env) {
    return env.HOME.getByName(new URL(request.url).searchParams.get("device")).fetch(request);
  },
};
