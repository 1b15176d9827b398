/** A relay that does what a test says: a WebSocket server on a free port. It stands in for the real one, and only speaks. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FromDevice, ToDevice } from "@matrx/shared/device-frames.ts";
import { fromDeviceSchema } from "@matrx/shared/device-frames.ts";
import { type AgentFrame, decodeAgentFrame } from "@matrx/shared/result-frame.ts";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

/** Frames in the order they came; each is waited for once. */
class Inbox<Frame> {
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];

  put(frame: Frame): void {
    const next = this.#waiting.shift();
    if (next) next(frame);
    else this.#frames.push(frame);
  }

  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get size(): number {
    return this.#frames.length;
  }
}

export class DeviceSocket {
  readonly nonce: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly texts = new Inbox<FromDevice>();
  readonly binary = new Inbox<AgentFrame>();
  readonly closed: Promise<number>;
  readonly socket: WebSocket;
  answersPings = true;
  pings = 0;

  constructor(socket: WebSocket, nonce: string, request: IncomingMessage) {
    this.socket = socket;
    this.nonce = nonce;
    this.url = request.url ?? "";
    this.authorization = request.headers.authorization;
    this.closed = once(socket, "close").then(([code]) => code as number);
    socket.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
  }

  send(frame: ToDevice): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** Takes the registration and says yes. */
  async register(extra: object = {}): Promise<Extract<FromDevice, { type: "device_register" }>> {
    const frame = await this.texts.next();
    if (frame.type !== "device_register") throw new Error(`not a registration: ${frame.type}`);
    this.send({
      type: "device_registered",
      device_id: frame.device_id,
      permissions: {},
      protocol: 1,
      ...extra,
    });
    return frame;
  }

  /** The next result: its header, and the caller's answer. */
  async result() {
    const frame = await this.binary.next();
    if (frame.kind !== "result") throw new Error(`not a result: ${frame.kind}`);
    return { header: frame.header, answer: JSON.parse(Buffer.from(frame.body).toString()) };
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      const copy = new Uint8Array(data).buffer;
      return this.binary.put(decodeAgentFrame(copy));
    }
    const text = data.toString();
    if (text !== "ping") return this.texts.put(fromDeviceSchema.parse(JSON.parse(text)));
    this.pings++;
    if (this.answersPings) this.socket.send("pong");
  }
}

export interface ScriptedRelay {
  readonly url: string;
  /** The next connection of a device. */
  connection(): Promise<DeviceSocket>;
  /** Upgrades are answered with this status and body from now on; undefined: accepted. */
  refuseWith(status: number | undefined, body?: string): void;
  /** How often a device dialled. */
  readonly dials: number;
  close(): Promise<void>;
}

export async function startScriptedRelay(port = 0): Promise<ScriptedRelay> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const connections = new Inbox<DeviceSocket>();
  let refusal: { status: number; body: string } | undefined;
  let dials = 0;
  const nonces = new WeakMap<IncomingMessage, string>();
  sockets.on("headers", (headers, request) => headers.push(`Matrx-Nonce: ${nonces.get(request)}`));
  server.on("upgrade", (request, socket, head) => {
    dials++;
    if (refusal) {
      const { status, body } = refusal;
      socket.end(
        `HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    const nonce = crypto.randomUUID();
    nonces.set(request, nonce);
    sockets.handleUpgrade(request, socket, head, (webSocket) =>
      connections.put(new DeviceSocket(webSocket, nonce, request)),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => closeAll(server, sockets);
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connection: () => connections.next(),
    refuseWith: (status, body = "") => {
      refusal = status === undefined ? undefined : { status, body };
    },
    get dials() {
      return dials;
    },
    close,
  };
}

async function closeAll(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
}
