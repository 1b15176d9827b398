/** A relay as the agent's streams see it: two kinds of connection, and frames. It stands in for the real one, and only listens and speaks. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  creditPayload,
  decodeStreamFrame,
  encodeStreamFrame,
  errorPayload,
  type StreamFrame,
  type StreamKind,
} from "@matrx/shared/streams/frame.ts";
import { onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { ServeStream } from "../../../agent/core/byte-stream.ts";
import type { Link } from "../../../agent/relay/link.ts";
import { PacedSocket } from "../../../agent/relay/paced-socket.ts";
import { Streams, type StreamsOptions } from "../../../agent/relay/streams.ts";
import { OWNER, silentLog } from "../core/small-tools.ts";

export const CONNECTION = "0123456789abcdef";
export const KiB = 1024;

/** One connection of the device, at the relay's end. */
export class DeviceEnd {
  readonly socket: WebSocket;
  readonly frames: StreamFrame[] = [];
  readonly texts: string[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data, isBinary) => {
      if (isBinary) this.frames.push(decodeStreamFrame(data as Buffer));
      else this.texts.push(data.toString());
    });
  }

  send(kind: StreamKind, payload: Uint8Array | string, { stream = 1, bulk = false } = {}): void {
    const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    this.socket.send(encodeStreamFrame({ connection: CONNECTION, stream, bulk }, kind, bytes));
  }

  reset(stream: number): void {
    const error = { code: "CANCELLED", message: "enough", hop: "caller" } as const;
    this.send("reset", errorPayload(error), { stream });
  }

  credit(bytes: number, stream: number): void {
    this.send("credit", creditPayload(bytes), { stream });
  }

  /** What came on a stream: kinds in order, with the text of data. */
  told(stream = 1): string[] {
    return this.frames
      .filter((frame) => frame.stream === stream)
      .map(({ kind, payload }) => (kind === "data" ? Buffer.from(payload).toString() : kind));
  }
}

export interface StreamScene {
  readonly streams: Streams;
  readonly first: DeviceEnd;
  /** Connections for streams, in the order in which they came. */
  readonly second: DeviceEnd[];
  /** Serves a stream of a call; resolves when it is over. */
  serve(
    serve: ServeStream,
    options?: { stream?: number; interactive?: boolean; credit?: number },
  ): Promise<void>;
}

export async function streamScene({
  answer = { type: "bulk_ready" } as object,
  idleMs = 60_000,
  refusalNow = (() => undefined) as StreamsOptions["refusalNow"],
} = {}): Promise<StreamScene> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("headers", (headers) => headers.push(`Matrx-Nonce: ${crypto.randomUUID()}`));
  const arrived: DeviceEnd[] = [];
  server.on("connection", (socket) => {
    const end = new DeviceEnd(socket);
    arrived.push(end);
    socket.once("message", () => {
      if (end.texts[0]?.includes("device_bulk")) socket.send(JSON.stringify(answer));
    });
  });
  await once(server, "listening");
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = new WebSocket(url, { perMessageDeflate: false });
  await once(own, "open");
  const dial = { url, device: "box", credential: "proof", sign: async (nonce: string) => `signed ${nonce}` };
  const streams = new Streams({ bulk: { ...dial, log: silentLog, idleMs }, refusalNow, log: silentLog });
  own.on("message", (data) => streams.receive(data as Buffer));
  const link = { streamSocket: new PacedSocket(own) } as unknown as Link;
  streams.attach(link);
  onTestFinished(async () => {
    streams.detach(link);
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  const [first] = arrived;
  if (!first) throw new Error("the first connection did not come");
  return {
    ...{ streams, first },
    get second() {
      return arrived.slice(1);
    },
    serve: (serve, { stream = 1, interactive = false, credit = 64 * KiB } = {}) =>
      streams.serve({
        ...{ serve, interactive, call: `call-${stream}`, tool: "Read", grant: OWNER, needs: {} },
        opens: { connection: CONNECTION, stream, credit },
      }),
  };
}
