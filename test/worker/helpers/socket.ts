/** A client's end of a WebSocket whose messages are awaited one by one. */
import { ask } from "./request.ts";

export class TestSocket {
  readonly ws: WebSocket;
  readonly headers: Headers;
  readonly #inbox: (string | ArrayBuffer)[] = [];
  readonly #waiting: ((message: string | ArrayBuffer) => void)[] = [];
  /** The close frame, once it came. */
  readonly closed: Promise<{ code: number; reason: string }>;

  protected constructor(ws: WebSocket, headers: Headers) {
    this.ws = ws;
    this.headers = headers;
    ws.binaryType = "arraybuffer";
    ws.addEventListener("message", ({ data }) => this.#arrived(data as string | ArrayBuffer));
    this.closed = new Promise((resolve) => {
      ws.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
    });
    ws.accept();
  }

  /** Upgrades; throws with the status when the relay refuses. */
  protected static async upgrade(
    path: string,
    headers: Record<string, string>,
  ): Promise<[WebSocket, Headers]> {
    const response = await ask(path, { headers: { Upgrade: "websocket", ...headers } });
    const { webSocket } = response;
    if (!webSocket) throw new Error(`${response.status} ${await response.text()}`);
    return [webSocket, response.headers];
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  sendBinary(bytes: Uint8Array): void {
    this.ws.send(bytes);
  }

  async next(): Promise<string | ArrayBuffer> {
    const message = this.#inbox.shift();
    if (message !== undefined) return message;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The next message as JSON. */
  async nextJson<Frame = Record<string, unknown>>(): Promise<Frame> {
    const message = await this.next();
    return JSON.parse(typeof message === "string" ? message : new TextDecoder().decode(message)) as Frame;
  }

  /** Messages that came and were not read: a test's end looks that none is left. */
  get unread(): number {
    return this.#inbox.length;
  }

  close(code = 1000): void {
    this.ws.close(code, "test");
  }

  #arrived(message: string | ArrayBuffer): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(message);
    else this.#inbox.push(message);
  }
}
