/** A caller's WebSocket to either host; each frame that comes must be one that the protocol knows. */
import { type ToCaller, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { onTestFinished } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { SocketHost } from "./socket-hosts.ts";

export interface Dial {
  readonly protocols?: readonly string[];
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** What came: its frame, and whether it came as bytes. */
interface Message {
  readonly frame: ToCaller;
  readonly isBinary: boolean;
}

export type Answer = Extract<ToCaller, { type: "success" | "error" }>;

export class CallerSocket {
  readonly socket: WebSocket;
  /** Of the 101 response. */
  readonly headers: Headers;
  readonly closed: Promise<number>;
  readonly #inbox: Message[] = [];
  #arrived: () => void = () => undefined;

  private constructor(socket: WebSocket, headers: Headers) {
    this.socket = socket;
    this.headers = headers;
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
  }

  /** Resolves with the connection; with the response where it is refused. */
  static dial(
    host: SocketHost,
    { protocols = [], query = "", headers }: Dial = {},
  ): Promise<CallerSocket | Response> {
    const url = `${host.base.replace(/^http/, "ws")}/ws${query}`;
    const options: ClientOptions = { headers: headers ?? { Authorization: `Bearer ${host.token}` } };
    const socket = new WebSocket(url, [...protocols], options);
    onTestFinished(() => socket.terminate());
    return new Promise((resolve, reject) => {
      let upgraded = new Headers();
      socket.once("error", reject);
      socket.once("upgrade", (response) => {
        upgraded = new Headers(response.headers as Record<string, string>);
        const caller = new CallerSocket(socket, upgraded);
        // The first frame may come in the same piece as the response.
        socket.on("message", (data, isBinary) => caller.#take(data.toString(), isBinary));
        socket.once("open", () => resolve(caller));
      });
      socket.once("unexpected-response", async (_request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const { statusCode: status = 0, headers: all } = response;
        resolve(new Response(Buffer.concat(chunks), { status, headers: all as Record<string, string> }));
      });
    });
  }

  static async open(host: SocketHost, how: Dial = {}): Promise<CallerSocket> {
    const caller = await CallerSocket.dial(host, how);
    if (caller instanceof CallerSocket) return caller;
    throw new Error(`Refused: ${caller.status} ${await caller.text()}`);
  }

  /** A value as JSON; text and bytes as they are. */
  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" || frame instanceof Buffer ? frame : JSON.stringify(frame));
  }

  message(): Promise<Message> {
    return this.#first(() => true);
  }

  /** Takes the first message, of those that came and those to come, for which `isIt` is true. */
  async #first(isIt: (frame: ToCaller) => boolean): Promise<Message> {
    for (;;) {
      const index = this.#inbox.findIndex(({ frame }) => isIt(frame));
      const [first] = index < 0 ? [] : this.#inbox.splice(index, 1);
      if (first) return first;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  async next(): Promise<ToCaller> {
    return (await this.message()).frame;
  }

  /** The answer to this id; what comes beside it waits. */
  async answer(id: string): Promise<Answer> {
    return (await this.#first((frame) => isAnswer(frame) && frame.id === id)).frame as Answer;
  }

  /** Everything until the answer to this id, which is the last of it. */
  async until(id: string): Promise<ToCaller[]> {
    const frames: ToCaller[] = [];
    for (;;) {
      const frame = await this.next();
      frames.push(frame);
      if (isAnswer(frame) && frame.id === id) return frames;
    }
  }

  /** Calls and awaits the answer. */
  call(id: string, tool: string, input: object = {}, more: object = {}): Promise<Answer> {
    this.send({ id, tool, input, ...more });
    return this.answer(id);
  }

  /** Everything that was on its way: a ping goes round. */
  async drain(): Promise<ToCaller[]> {
    const frames: ToCaller[] = [];
    this.send({ action: "ping" });
    for (let frame = await this.next(); frame.type !== "pong"; frame = await this.next()) frames.push(frame);
    return frames;
  }

  #take(text: string, isBinary: boolean): void {
    this.#inbox.push({ frame: toCallerSchema.parse(JSON.parse(text)), isBinary });
    this.#arrived();
  }
}

function isAnswer(frame: ToCaller): frame is Answer {
  return frame.type === "success" || frame.type === "error";
}
