/** Reads files over one WebSocket, and throws the answers away. */
import { once } from "node:events";
import { WebSocket } from "ws";
import { callFrame, callIdOf } from "../frames.ts";
import type { OurRelay } from "../variants/ours.ts";

export class SocketReader {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #count = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const head = data.toString("latin1", 0, 200);
      const id = /^{"id":"([^"]*)"/.exec(head)?.[1] ?? "";
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (head.includes('"type":"success"')) waiting?.resolve();
      else waiting?.reject(new Error(head));
    });
    socket.on("close", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`closed (${code})`));
    });
  }

  static async open({ port, token }: OurRelay, device: string, count: number): Promise<SocketReader[]> {
    const open = async () => {
      const url = `ws://127.0.0.1:${port}/v1/devices/${device}/ws`;
      const headers = { authorization: `Bearer ${token}` };
      const socket = new WebSocket(url, { headers, perMessageDeflate: false });
      await once(socket, "open");
      return new SocketReader(socket);
    };
    return Promise.all(Array.from({ length: count }, open));
  }

  /** Asks for a file without waiting for the answer. */
  ask(file: string): string {
    const id = callIdOf(this.#count++);
    this.#socket.send(callFrame(id, { tool: "Read", input: { file_path: file } }));
    return id;
  }

  /** Resolves with the answer; rejects when it is an error, or the socket closes. */
  read(file: string): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(this.ask(file), waiting);
    return waiting.promise;
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.terminate();
  }
}
