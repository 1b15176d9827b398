/** Calls of FetchPort on a machine of its own, and what comes back by their streams. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished } from "vitest";
import { type HeaderList, readHead } from "../../../shared/forwarding/head.ts";
import { Pieces } from "../../../shared/forwarding/pieces.ts";
import { readSocketFrame, type SocketFrame } from "../../../shared/forwarding/socket-frames.ts";
import { Workbench } from "../tools/workbench.ts";
import type { MemoryStream } from "../transfers/memory-stream.ts";

export const OPEN = { opensStream: true };

export async function serveHttp(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

export interface Wish {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: HeaderList;
  readonly query?: string;
  readonly websocket?: true;
}

export async function wanted(
  port: number,
  { method = "GET", path = "/", headers = [], query, websocket }: Wish = {},
) {
  const secret = { headers, ...(query !== undefined && { query }) };
  const bench = await Workbench.open();
  return await bench.call("FetchPort", { port, method, path, secret, ...(websocket && { websocket }) }, OPEN);
}

export async function responseOf({ pieces }: MemoryStream) {
  const read = new Pieces(eachOf(pieces));
  const head = await readHead(read);
  let body = "";
  for (let piece = await read.next(); piece; piece = await read.next()) body += Buffer.from(piece).toString();
  return { ...head, body };
}

async function* eachOf(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* pieces;
}

/** A caller that keeps its direction open. */
export async function* never(): AsyncGenerator<Uint8Array, void> {
  await new Promise(() => undefined);
  yield new Uint8Array();
}

export async function framesOf({ pieces }: MemoryStream): Promise<SocketFrame[]> {
  const read = new Pieces(eachOf(pieces));
  expect(await readHead(read)).toEqual({ status: 101, headers: [], protocol: "chat" });
  const frames: SocketFrame[] = [];
  for (let frame = await readSocketFrame(read); frame; frame = await readSocketFrame(read))
    frames.push(frame);
  return frames;
}

export const SOCKET = {
  websocket: true,
  headers: [["Sec-WebSocket-Protocol", "chat, other"]],
} as const satisfies Wish;
