/** What becomes of a call at this computer while the connection breaks, is stopped, or is left. The local server is in this test. */
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket as Accepted, WebSocketServer } from "ws";
import { listenAt } from "../../../agent/local/loopback.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { DirectCall } from "../../../web/src/direct/call.ts";
import { connect } from "../../../web/src/direct/connection.ts";
import { endDirect, useDirect } from "../../../web/src/direct/local.ts";

const BASH = { name: "Bash", effect: "execute" } as const;
const READ = { name: "Read", effect: "read" } as const;
const WINDOW = new EventTarget();

beforeEach(() => {
  vi.stubGlobal("location", { hostname: "localhost" });
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  vi.stubGlobal("addEventListener", WINDOW.addEventListener.bind(WINDOW));
});
afterEach(() => {
  endDirect();
  vi.unstubAllGlobals();
});

test("it is asked for by the same key however often the connection breaks, and its answer still comes", async () => {
  const { server, made } = await connected();
  const { answer, told } = made(BASH);
  const { idempotency_key: key } = await server.call();
  expect(key).toMatch(/^[\w-]{36}$/);
  for (let breaks = 0; breaks < 2; breaks++) {
    server.cut();
    expect(await server.call()).toMatchObject({ tool: "Bash", idempotency_key: key });
  }
  server.say({ type: "output", stream: "stdout", data: "once\n", offset: 0 });
  server.say({ type: "success", output: "once\n" });
  expect(await answer).toMatchObject({ type: "success", output: "once\n" });
  const lost = "Connection lost. Asking this computer for the result as soon as it answers …";
  expect(told).toEqual(["on its way", lost, "on its way", lost, "on its way", "output"]);
  expect(server.sessions).toEqual([null, "s1", "s1"]);
});

test("what only reads is not made again: it says so", async () => {
  const { server, made } = await connected();
  const { answer } = made(READ);
  expect(await server.call()).not.toHaveProperty("idempotency_key");
  server.cut();
  await expect(answer).rejects.toMatchObject({ hint: expect.stringContaining("Read only reads") });
});

test("a stop reaches the computer; where there is no connection, the outcome is no longer waited for", async () => {
  const { server, made } = await connected();
  const first = made(BASH);
  await server.call();
  await first.call.stop();
  expect(await server.action()).toBe("cancel");
  server.say({ type: "error", code: "CANCELLED", output: "Stopped", hop: "agent" });
  expect(await first.answer).toMatchObject({ code: "CANCELLED", output: "Stopped" });

  const second = made(BASH);
  await server.call();
  await server.goAway();
  await second.call.stop();
  await expect(second.answer).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
});

test("what is left comes to no answer: a read is stopped, the rest goes on", async () => {
  const { server, made } = await connected();
  for (const tool of [BASH, READ]) {
    const { call, answer } = made(tool);
    await server.call();
    call.leave();
    expect(await answer).toBeUndefined();
  }
  expect(await server.action()).toBe("cancel");
  expect(server.cancelled).toEqual(["Read"]);
});

test("one that is too large, or made without a connection, is not sent", async () => {
  const { server, made } = await connected();
  const large = made(BASH, { command: "x".repeat(LIMITS.callFrameBytes) });
  await expect(large.answer).rejects.toMatchObject({ message: expect.stringContaining("4 MiB") });
  await server.goAway();
  await vi.waitUntil(() => useDirect.getState().state === "reconnecting");
  await expect(made(BASH).answer).rejects.toMatchObject({ message: expect.stringContaining("no direct") });
  expect(server.calls).toEqual([]);
});

test("it is connected again at once when the network may be back", async () => {
  const { server } = await connected();
  // By itself, it would try again in days.
  vi.spyOn(Math, "random").mockReturnValue(1e6);
  onTestFinished(() => void vi.restoreAllMocks());
  await server.goAway();
  await vi.waitUntil(() => useDirect.getState().state === "reconnecting");
  WINDOW.dispatchEvent(new Event("online"));
  await vi.waitUntil(() => useDirect.getState().obstacle === "nothing");
  await server.comeBack();
  WINDOW.dispatchEvent(new Event("focus"));
  await vi.waitUntil(() => useDirect.getState().state === "online");
  expect(useDirect.getState().obstacle).toBeUndefined();
});

interface Said {
  readonly id: string;
  readonly tool?: string;
  readonly action?: string;
  readonly idempotency_key?: string;
}

/** A page that is connected to a server which answers as the test says. */
async function connected() {
  const server = await LocalServer.start();
  await connect({ address: server.address, token: "" });
  await vi.waitUntil(() => useDirect.getState().state === "online");
  const made = (tool: typeof BASH | typeof READ, input = {}) => {
    const call = new DirectCall(tool);
    const told: string[] = [];
    const answer = call.run(input, {
      onCall: () => told.push("on its way"),
      onEvent: ({ type }) => told.push(type),
      onTrouble: (text) => told.push(text),
    });
    answer.catch(() => undefined);
    return { call, answer, told };
  };
  return { server, made };
}

/** As far as pages know one: what it is, its tools, and a WebSocket. */
class LocalServer {
  /** Those that connections asked for. */
  readonly sessions: (string | null)[] = [];
  /** Calls and actions that no test has taken yet. */
  readonly calls: Said[] = [];
  readonly actions: Said[] = [];
  /** Tools whose calls were cancelled. */
  readonly cancelled: (string | undefined)[] = [];
  readonly #tools = new Map<string, string | undefined>();
  readonly #http = createServer((request, response) => {
    response.setHeader("Connection", "close");
    response.end(JSON.stringify(request.url === "/" ? { name: "matrx", version: "1.0.0" } : {}));
  });
  #socket: Accepted | undefined;
  #last = "";
  #port = 0;

  static async start(): Promise<LocalServer> {
    const server = new LocalServer();
    await server.comeBack();
    onTestFinished(() => server.goAway());
    return server;
  }

  constructor() {
    new WebSocketServer({ server: this.#http }).on("connection", (socket, { url = "" }) => {
      this.#socket = socket;
      this.sessions.push(new URL(url, this.address).searchParams.get("session"));
      socket.on("message", (data) => this.#take(JSON.parse(String(data))));
      socket.send(JSON.stringify({ type: "hello", protocol: 1, session: "s1", device: null }));
    });
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async comeBack(): Promise<void> {
    this.#port = await listenAt(this.#http, "127.0.0.1", this.#port);
  }

  async goAway(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = once(this.#http, "close");
    this.#http.close();
    this.cut();
    await closed;
  }

  cut(): void {
    this.#socket?.terminate();
  }

  /** The next call. */
  async call(): Promise<Said> {
    await vi.waitUntil(() => this.calls.length > 0, { timeout: 10_000 });
    const call = this.calls.shift() as Said;
    this.#last = call.id;
    return call;
  }

  /** What is asked of a call next. */
  async action(): Promise<string | undefined> {
    await vi.waitUntil(() => this.actions.length > 0);
    return this.actions.shift()?.action;
  }

  /** Of the call that was taken last. */
  say(frame: object): void {
    this.#socket?.send(JSON.stringify({ ...frame, id: this.#last }));
  }

  #take(said: Said): void {
    if (said.action === "ping") return this.#socket?.send('{"type":"pong"}');
    if (said.action === undefined) {
      this.#tools.set(said.id, said.tool);
      this.calls.push(said);
      return;
    }
    this.actions.push(said);
    this.cancelled.push(this.#tools.get(said.id));
  }
}
