/**
 * A Durable Object relay without checks, the measure of ours: hibernatable sockets, routing by a prefix, nothing parsed,
 * nothing stored. Plain JavaScript, for workerd runs this file as it is.
 */
import { DurableObject } from "cloudflare:workers";

/** As in bench/route.ts. */
const ROUTE_LENGTH = 6;

export class RawRelay extends DurableObject {
  #device;
  #callers = new Map();
  #routes = new Map();
  #requests = new Map();
  #next = 0;

  constructor(ctx, env) {
    super(ctx, env);
    for (const socket of ctx.getWebSockets()) this.#keep(socket, socket.deserializeAttachment());
  }

  fetch(request) {
    const { 0: client, 1: server } = new WebSocketPair();
    const route = new URL(request.url).pathname === "/device" ? "device" : this.#newRoute();
    this.ctx.acceptWebSocket(server);
    server.serializeAttachment(route);
    this.#keep(server, route);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** A call by REST. */
  call(body) {
    const route = this.#newRoute();
    const { promise, resolve } = Promise.withResolvers();
    this.#requests.set(route, resolve);
    this.#device.send(route + body);
    return promise;
  }

  webSocketMessage(socket, message) {
    if (socket !== this.#device) {
      this.#device.send(this.#routes.get(socket) + message);
      return;
    }
    const route = message.slice(0, ROUTE_LENGTH);
    const answer = message.slice(ROUTE_LENGTH);
    const caller = this.#callers.get(route);
    if (caller) caller.send(answer);
    else this.#settle(route, answer);
  }

  webSocketClose(socket, code) {
    socket.close(code === 1005 || code === 1006 ? 1000 : code);
  }

  #settle(route, answer) {
    this.#requests.get(route)(answer);
    this.#requests.delete(route);
  }

  #newRoute() {
    this.#next = (this.#next + 1) % 10 ** ROUTE_LENGTH;
    return this.#next.toString().padStart(ROUTE_LENGTH, "0");
  }

  #keep(socket, route) {
    if (route === "device") {
      this.#device = socket;
      return;
    }
    this.#callers.set(route, socket);
    this.#routes.set(socket, route);
    this.#next = Math.max(this.#next, Number(route));
  }
}

export default {
  async fetch(request, env) {
    const relay = env.RELAY.getByName("bench");
    if (request.headers.get("upgrade") === "websocket") return relay.fetch(request);
    return new Response(await relay.call(await request.text()), {
      headers: { "content-type": "application/json" },
    });
  },
};
