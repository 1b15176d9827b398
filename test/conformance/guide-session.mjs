// One WebSocket session, written from the Matrx Local guide alone (its WebSocket Protocol).
import assert from "node:assert/strict";
import { WebSocket } from "ws";
import { checkShape } from "./guide-expect.mjs";

const WAIT_MS = 15_000;

/** Adds a path to the base URL and keeps its query string. */
export function address(base, path, socket = false) {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/$/, "") + path;
  if (socket) url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

function requestId() {
  return `req-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`;
}

/** One WebSocket session: calls matched by id, and a record of every frame that came. */
export class GuideSession {
  #waiting = new Map();
  #pongs = [];
  counts = new Map();
  order = [];
  strays = [];

  static async open(base, token) {
    const session = new GuideSession();
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    session.socket = new WebSocket(address(base, "/ws", true), { headers });
    session.socket.on("message", (data) => session.#receive(JSON.parse(String(data))));
    session.socket.on("close", (code) => session.#fail(new Error(`socket closed with ${code}`)));
    await new Promise((resolve, reject) => {
      session.socket.once("open", resolve);
      session.socket.once("error", reject);
      session.socket.once("unexpected-response", (_request, response) =>
        reject(new Error(`upgrade answered ${response.statusCode}`)),
      );
    });
    session.socket.on("error", (error) => session.#fail(error));
    return session;
  }

  #receive(frame) {
    if (frame.type === "pong" || (frame.output === "pong" && !this.counts.has(frame.id))) {
      this.#pongs.shift()?.resolve(frame);
      return;
    }
    if (!this.counts.has(frame.id)) {
      this.strays.push(frame);
      return;
    }
    this.counts.set(frame.id, this.counts.get(frame.id) + 1);
    this.order.push(frame.id);
    this.#waiting.get(frame.id)?.resolve(frame);
    this.#waiting.delete(frame.id);
  }

  #fail(error) {
    for (const waiter of [...this.#waiting.values(), ...this.#pongs]) waiter.reject(error);
    this.#waiting.clear();
    this.#pongs = [];
  }

  #wait(what, register) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${what}`)), WAIT_MS);
      const settle = (finish) => (value) => {
        clearTimeout(timer);
        finish(value);
      };
      register({ resolve: settle(resolve), reject: settle(reject) });
    });
  }

  /** Sends a tool call and gives its id at once; the response comes as a promise. */
  start(tool, input) {
    const id = requestId();
    this.counts.set(id, 0);
    const response = this.#wait(tool, (waiter) => this.#waiting.set(id, waiter)).then(checkShape);
    response.catch(() => {});
    this.socket.send(JSON.stringify({ id, tool, input }));
    return { id, response };
  }

  invoke(tool, input = {}) {
    return this.start(tool, input).response;
  }

  cancel(id) {
    this.socket.send(JSON.stringify({ id, action: "cancel" }));
  }

  cancelAll() {
    this.socket.send(JSON.stringify({ action: "cancel_all" }));
  }

  ping() {
    const pong = this.#wait("ping", (waiter) => this.#pongs.push(waiter));
    this.socket.send(JSON.stringify({ action: "ping" }));
    return pong;
  }

  /** Closes the session after checking that each id had exactly one frame. */
  async finish() {
    if (this.socket.readyState === WebSocket.OPEN) await this.ping();
    for (const [id, count] of this.counts) assert.equal(count, 1, `${id} had ${count} frames`);
    assert.deepEqual(this.strays, [], "a frame came for no call");
    this.close();
  }

  close() {
    this.socket.removeAllListeners("close");
    this.socket.close();
  }
}
