/** A caller whose calls open streams: a WebSocket with subprotocol `matrx.v1`. */

import { WebSocket } from "ws";
import * as z from "zod";
import { LIMITS } from "../../shared/limits.ts";
import { StreamEnd } from "../../shared/streams/endpoint.ts";
import { decodeStreamFrame, isStreamFrame } from "../../shared/streams/frame.ts";

const answerSchema = z.looseObject({
  id: z.string().nullish(),
  type: z.string(),
  output: z.string().optional(),
  code: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type Answer = z.infer<typeof answerSchema>;

export interface Opened {
  readonly answer: Answer;
  readonly stream: StreamEnd;
}

const CONNECTION = "0000000000000000";
const WINDOW = 1024 * 1024;

export class StreamCaller implements Disposable {
  readonly socket: WebSocket;
  readonly #streams = new Map<number, StreamEnd>();
  readonly #answers = new Map<string, (answer: Answer) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => socket.terminate());
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary && isStreamFrame(data)) {
        const frame = decodeStreamFrame(data);
        return this.#streams.get(frame.stream)?.receive(frame);
      }
      const answer = answerSchema.parse(JSON.parse(data.toString()));
      if (answer.id && ["success", "error"].includes(answer.type)) this.#answers.get(answer.id)?.(answer);
    });
  }

  static async open(relay: string, device: string, token: string): Promise<StreamCaller> {
    const url = `${relay.replace(/^http/, "ws")}/v1/devices/${device}/ws`;
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, ["matrx.v1"], { headers, perMessageDeflate: false });
    const caller = new StreamCaller(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return caller;
  }

  /** Calls, and resolves with the answer. */
  call(tool: string, input: object = {}, more: object = {}): Promise<Answer> {
    const id = `call-${++this.#last}`;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.socket.send(JSON.stringify({ id, tool, input, ...more }));
    });
  }

  /** Calls, and opens a stream with the call. */
  async stream(tool: string, input: object, window = WINDOW): Promise<Opened> {
    const number = ++this.#last;
    const stream = new StreamEnd({
      ...{ connection: CONNECTION, stream: number, side: "caller", hop: "caller", window, credit: 0 },
      send: (frame) => this.socket.send(frame),
      frameBytes: LIMITS.streamDataBytes,
    });
    this.#streams.set(number, stream);
    const answer = await this.call(tool, input, { opens: { stream: number, credit: window } });
    return { answer, stream };
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}
