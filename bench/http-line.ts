/** A caller by REST: POST over kept-alive sockets, written by hand, for an HTTP client's own time would hide the relay's. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { callFrame, type Work } from "./frames.ts";
import type { Line } from "./variant.ts";

export interface Target {
  port: number;
  path: string;
  headers?: Record<string, string>;
  /** What is posted; a whole call frame unless the tool stands in the path. */
  body?: string;
  /** What is in the body of every good answer; "success" if nothing else is said. */
  answers?: string;
}

export function httpLine(target: Target, work: Work): Line {
  const request = requestOf(target, target.body ?? callFrame("0", work));
  const { answers = '"success"' } = target;
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const open = async () => {
    const connection = await Connection.open(target.port);
    all.add(connection);
    return connection;
  };
  return {
    async call() {
      const connection = takeOpen(idle) ?? (await open());
      const { status, body } = await connection.exchange(request);
      idle.push(connection);
      if (status !== 200 || !body.includes(answers)) throw new Error(`HTTP ${status}: ${body}`);
    },
    close() {
      for (const connection of all) connection.close();
    },
  };
}

/** A connection that the server has not closed meanwhile for being idle. */
function takeOpen(idle: Connection[]): Connection | undefined {
  for (let connection = idle.pop(); connection; connection = idle.pop()) {
    if (connection.isOpen) return connection;
  }
  return undefined;
}

function requestOf({ port, path, headers }: Target, body: string): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: localhost:${port}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

interface Response {
  status: number;
  body: string;
}

/** One socket with at most one request on it. */
class Connection {
  readonly #socket: Socket;
  #received = "";
  #settle: { resolve(response: Response): void; reject(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (text: string) => this.#read(text));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
    socket.on("error", () => {});
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Connection(socket);
  }

  exchange(request: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const response = parseResponse(this.#received);
    if (!response) return;
    this.#received = "";
    this.#settle?.resolve(response);
    this.#settle = undefined;
  }
}

/** A whole response, or undefined while parts are missing. */
function parseResponse(text: string): Response | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const head = text.slice(0, headEnd).toLowerCase();
  const status = Number(head.slice(9, 12));
  const rest = text.slice(headEnd + 4);
  if (head.includes("transfer-encoding: chunked")) {
    return rest.endsWith("0\r\n\r\n") ? { status, body: rest } : undefined;
  }
  const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
  return rest.length >= length ? { status, body: rest } : undefined;
}
