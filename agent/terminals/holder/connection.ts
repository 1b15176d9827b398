/** One connection of an agent to the holder: its greeting, its requests, and the terminal that it may watch. */
import type { Socket } from "node:net";
import { FrameReader, messageFrame } from "../frames.ts";
import {
  greetingSchema,
  type HolderLimits,
  type HolderRequest,
  requestSchema,
  TERMINAL_LIMITS,
  VERSIONS,
  viewerMessageSchema,
  type Welcome,
} from "../protocol.ts";
import type { HeldTerminal } from "./held-terminal.ts";
import type { HeldTerminals } from "./held-terminals.ts";
import { Refusal } from "./refusal.ts";
import { Viewer } from "./viewer.ts";

type Watched = { readonly terminal: HeldTerminal; readonly viewer: Viewer };

/** Serves a connection until it ends. */
export function serveConnection(socket: Socket, terminals: HeldTerminals, limits: HolderLimits): void {
  const reader = new FrameReader();
  let isGreeted = false;
  let watched: Watched | undefined;

  const send = (message: object) => {
    if (!socket.destroyed && !socket.writableEnded) socket.write(messageFrame(message));
  };
  const watch = async (request: Extract<HolderRequest, { op: "attach" }>) => {
    const terminal = terminals.find(request.id);
    const { ring } = terminal;
    const snapshot = request.from === "snapshot" ? await terminal.snapshot() : undefined;
    const wanted = typeof request.from === "number" ? request.from : (snapshot?.at ?? ring.end);
    if (wanted > ring.end) throw new Refusal("INVALID", `It has written only ${ring.end} bytes`);
    const from = Math.max(wanted, ring.begin);
    const viewer = new Viewer({
      ...{ socket, ring, from, write: request.write, label: request.label, deadMs: limits.viewerDeadMs },
      onProgress: () => terminal.balance(),
    });
    watched = { terminal, viewer };
    const { cols, rows } = terminal.facts();
    const others = terminal.viewers();
    send({
      n: request.n,
      result: { from, lost: from - wanted, snapshot: snapshot?.text, cols, rows, viewers: others },
    });
    terminal.add(viewer);
  };
  const answer = async (request: HolderRequest) => {
    const { n } = request;
    try {
      if (request.op === "attach") await watch(request);
      else send({ n, result: (await terminals.serve(request)) ?? null });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      send({ n, error: { code: error instanceof Refusal ? error.code : "FAILED", message } });
    }
  };
  const greet = (message: unknown) => {
    const { versions } = greetingSchema.parse(message);
    const v = VERSIONS.find((version) => versions.includes(version));
    const welcome: Welcome = { versions: [...VERSIONS], pid: process.pid };
    send(v === undefined ? welcome : { ...welcome, v, pty: terminals.pty, records: true });
    isGreeted = v !== undefined;
    if (!isGreeted) socket.end();
  };
  const type = async (terminal: HeldTerminal, bytes: Buffer) => {
    const written = terminal.write(bytes);
    if (!terminal.isFull) return;
    socket.pause();
    await written;
    socket.resume();
  };
  const obey = async ({ terminal, viewer }: Watched, message: unknown) => {
    const order = viewerMessageSchema.parse(message);
    if (!viewer.write) return;
    if (order.type === "resize") terminal.resize(order.cols, order.rows);
    else await terminal.signal(order.signal).catch(() => undefined);
  };

  socket.on("data", (piece) => {
    try {
      for (const frame of reader.read(piece)) {
        if (frame.kind === "data") {
          if (!watched || frame.bytes.length > TERMINAL_LIMITS.inputBytes)
            throw new Error("unexpected bytes");
          if (watched.viewer.write) void type(watched.terminal, frame.bytes);
        } else if (!isGreeted) greet(frame.message);
        else if (watched) obey(watched, frame.message).catch(() => socket.destroy());
        else void answer(requestSchema.parse(frame.message));
      }
    } catch {
      // Nobody who keeps to the protocol gets here.
      socket.destroy();
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => watched?.terminal.remove(watched.viewer));
}
