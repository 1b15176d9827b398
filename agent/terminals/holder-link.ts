/** A connection of the agent to the holder of its terminals: requests and replies, or the flow of one terminal. */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { agentError, type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type * as z from "zod";
import { dataFrame, type Frame, FrameReader, messageFrame } from "./frames.ts";
import {
  type Attached,
  type AttachRequest,
  attachedSchema,
  replySchema,
  TERMINAL_LIMITS,
  type TerminalEvent,
  terminalEventSchema,
  VERSIONS,
  type ViewerMessage,
  type Welcome,
  welcomeSchema,
} from "./protocol.ts";

/** What comes from a terminal, in order. */
export type TerminalFlow =
  | { readonly kind: "data"; readonly bytes: Buffer }
  | { readonly kind: "event"; readonly event: TerminalEvent };

export class HolderLink {
  readonly welcome: Welcome;
  readonly #socket: Socket;
  readonly #frames: AsyncGenerator<Frame>;
  #asked = 0;
  /** Requests are answered one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(socket: Socket, frames: AsyncGenerator<Frame>, welcome: Welcome) {
    this.#socket = socket;
    this.#frames = frames;
    this.welcome = welcome;
  }

  /** Undefined: no holder listens there. Throws MatrxError if one does whose language this program does not speak. */
  static async open(endpoint: string, versions = VERSIONS): Promise<HolderLink | undefined> {
    const socket = createConnection(endpoint);
    try {
      await once(socket, "connect");
    } catch {
      return undefined;
    }
    socket.on("error", () => undefined);
    const frames = framesOf(socket);
    socket.write(messageFrame({ versions }));
    const first = await frames.next();
    if (first.done || first.value.kind !== "message") {
      socket.destroy();
      return undefined;
    }
    const welcome = welcomeSchema.parse(first.value.message);
    if (welcome.v !== undefined) return new HolderLink(socket, frames, welcome);
    socket.destroy();
    throw otherVersion(welcome);
  }

  /** Throws MatrxError. */
  async ask<Schema extends z.ZodType>(op: string, request: object, result: Schema): Promise<z.infer<Schema>> {
    const n = ++this.#asked;
    const answer = this.#turn.then(async () => {
      this.#socket.write(messageFrame({ n, op, ...request }));
      const { value: frame } = await this.#frames.next();
      if (frame?.kind !== "message") throw lostError();
      const reply = replySchema.parse(frame.message);
      if (reply.error) throw refusedError(reply.error);
      return result.parse(reply.result);
    });
    this.#turn = answer.catch(() => undefined);
    return await answer;
  }

  /** Makes this connection the flow of a terminal. Throws MatrxError. */
  async attach(request: AttachRequest): Promise<Attachment> {
    const attached = await this.ask("attach", request, attachedSchema);
    return new Attachment(this.#socket, this.#frames, attached);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.readyState === "open";
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A terminal that is watched, and perhaps typed into. */
export class Attachment {
  readonly attached: Attached;
  readonly #socket: Socket;
  readonly #frames: AsyncGenerator<Frame>;

  constructor(socket: Socket, frames: AsyncGenerator<Frame>, attached: Attached) {
    this.#socket = socket;
    this.#frames = frames;
    this.attached = attached;
  }

  /** Output and events, until the terminal has ended. The terminal waits for who takes them slowly. Throws MatrxError if the flow breaks off. */
  async *flow(): AsyncGenerator<TerminalFlow> {
    for await (const frame of this.#frames) {
      if (frame.kind === "data") yield frame;
      else {
        const event = terminalEventSchema.parse(frame.message);
        yield { kind: "event", event };
        if (event.event === "exit") return;
      }
    }
    throw lostError();
  }

  /** Types bytes; resolves when there is room for more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#socket.write(dataFrame(bytes)) || this.#socket.destroyed) return;
    const decided = new AbortController();
    const { signal } = decided;
    const drained = [once(this.#socket, "drain", { signal }), once(this.#socket, "close", { signal })];
    // If it broke off, the flow says so.
    await Promise.race(drained).catch(() => undefined);
    decided.abort();
  }

  say(message: ViewerMessage): void {
    this.#socket.write(messageFrame(message));
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The socket is read only as far as frames are taken. */
async function* framesOf(socket: Socket): AsyncGenerator<Frame> {
  const reader = new FrameReader();
  try {
    for await (const piece of socket) yield* reader.read(piece);
  } catch {
    // A connection that broke off ends like any other: what is missing, its reader knows.
  }
}

function refusedError({ code, message }: { code: string; message: string }): MatrxError {
  if (code === "NOT_FOUND")
    return toolError("NOT_FOUND", message, { hint: "List the terminals that are open" });
  if (code === "ENDED") return toolError("CONFLICT", message, { hint: "Open another terminal" });
  if (code === "FULL") return toolError("RATE_LIMITED", message, { hint: "Close one of them first" });
  if (code === "BUSY")
    return toolError("UNAVAILABLE", message, { hint: "Wait until the program reads again, or end it" });
  if (code === "INVALID") return toolError("INVALID_PARAMETERS", message);
  return toolError("TOOL_EXECUTION_FAILED", `The terminal failed: ${message}`);
}

function lostError(): MatrxError {
  const seconds = TERMINAL_LIMITS.viewerDeadMs / 1000;
  return agentError(
    "UNAVAILABLE",
    `The connection to the terminal was lost: its output was not taken for ${seconds} seconds, or what holds it ended`,
    {
      hint: "Attach again from the next byte; if the terminal is gone, all of them are",
      details: { reason: "HOLDER_LOST" },
    },
  );
}

function otherVersion({ pid, versions }: Welcome): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `Terminals are held by process ${pid} of another version of this program, which speaks only version ${versions.join(", ")}`,
    {
      hint: "End what runs in them with the version that opened them, or end that process; then open terminals again",
      details: { reason: "HOLDER_VERSION", pid, versions },
    },
  );
}
