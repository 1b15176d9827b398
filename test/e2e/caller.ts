/** A caller of one device over WebSocket, and over REST: what it got, in order. */
import { WebSocket } from "ws";
import * as z from "zod";
import { ERROR_CODES } from "../../shared/errors.ts";

const frameSchema = z.looseObject({
  id: z.string().nullish(),
  type: z.string(),
  output: z.string().optional(),
  call: z.string().optional(),
  device: z.string().optional(),
  code: z.enum(ERROR_CODES).optional(),
  data: z.string().optional(),
  offset: z.number().optional(),
  image: z.object({ media_type: z.string(), base64_data: z.string() }).nullish(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type Frame = z.infer<typeof frameSchema>;

/** Every wait ends within, in milliseconds. */
const PATIENCE = 30_000;

export class Caller implements Disposable {
  readonly frames: Frame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      this.frames.push(frameSchema.parse(JSON.parse(data.toString())));
      for (const look of this.#waiting) look();
    });
  }

  static async open(relay: string, device: string, token: string, subprotocol?: string): Promise<Caller> {
    const url = `${relay.replace(/^http/, "ws")}/v1/devices/${device}/ws`;
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, subprotocol ? [subprotocol] : [], { headers });
    const caller = new Caller(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return caller;
  }

  send(message: Record<string, unknown>): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Reads nothing more: what is sent to this caller waits on the way. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The first frame, of those that came and those to come, for which `isIt` is true. */
  async frame(what: string, isIt: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.frames.find(isIt);
        if (found) settle(() => resolve(found));
      };
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        finish();
      };
      const late = () => reject(new Error(`No ${what} came; there were: ${summary(this.frames)}`));
      const timer = setTimeout(() => settle(late), PATIENCE);
      this.#waiting.add(look);
      look();
    });
  }

  /** The answer to a call. */
  answer(id: string): Promise<Frame> {
    return this.frame(
      `answer to ${id}`,
      (frame) => frame.id === id && ["success", "error"].includes(frame.type),
    );
  }

  /** Calls, and waits for the answer. */
  call(id: string, tool: string, input: Record<string, unknown> = {}): Promise<Frame> {
    this.send({ id, tool, input });
    return this.answer(id);
  }

  /** How many frames came for an id. A ping goes round first: what was on its way is here then. */
  async framesOf(id: string): Promise<Frame[]> {
    const pongs = this.frames.filter(({ type }) => type === "pong").length;
    this.send({ action: "ping" });
    await this.frame("pong", () => this.frames.filter(({ type }) => type === "pong").length > pongs);
    return this.frames.filter((frame) => frame.id === id);
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}

function summary(frames: readonly Frame[]): string {
  return frames.map((frame) => JSON.stringify(frame).slice(0, 300)).join("\n");
}

export interface RestAnswer extends Frame {
  status: number;
}

/** Calls by REST at the device's guide base, which answers 200 whatever the tool said. */
export async function invoke(
  base: string,
  token: string,
  body: { tool: string; input?: Record<string, unknown>; timeout_ms?: number; idempotency_key?: string },
): Promise<RestAnswer> {
  const response = await fetch(`${base}/tools/invoke`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ input: {}, ...body }),
  });
  return { ...frameSchema.parse(await response.json()), status: response.status };
}
