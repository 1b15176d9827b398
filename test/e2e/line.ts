/** The line between an agent and its relay, which a test can hold and cut: a TCP proxy. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

export type Direction = "up" | "down";

export class Line {
  readonly port: number;
  readonly #server;
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  readonly #passed = { up: 0, down: 0 };
  #target = 0;
  #delay = 0;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (near) => this.#join(near));
  }

  /** Listens on a free port; leads nowhere until `leadTo`. */
  static async open(): Promise<Line> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Line(server);
  }

  leadTo(port: number): void {
    this.#target = port;
  }

  /** From now on a new connection's bytes take this long each way, in milliseconds. */
  slowDown(delay: number): void {
    this.#delay = delay;
  }

  /** Lets nothing through in one direction: `up` is towards the relay. What is sent waits. */
  hold(direction: Direction): void {
    for (const { near, far } of this.#pairs) {
      const [from, to] = direction === "up" ? [near, far] : [far, near];
      from.unpipe(to);
      from.pause();
    }
  }

  /** Bytes that wait in one direction. */
  held(direction: Direction): number {
    const sources = [...this.#pairs].map(({ near, far }) => (direction === "up" ? near : far));
    return sources.reduce((bytes, source) => bytes + source.readableLength, 0);
  }

  /** Bytes that came in one direction since it was opened. */
  passed(direction: Direction): number {
    const sources = [...this.#pairs].map(({ near, far }) => (direction === "up" ? near : far));
    return sources.reduce((bytes, source) => bytes + source.bytesRead, this.#passed[direction]);
  }

  /** Breaks every connection; what was held is lost. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    const far = connect(this.#target, "127.0.0.1");
    const pair = { near, far };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      if (this.#delay > 0) from.pipe(delayed(this.#delay)).pipe(to);
      else from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        if (this.#pairs.delete(pair)) {
          this.#passed.up += near.bytesRead;
          this.#passed.down += far.bytesRead;
        }
        to.destroy();
      });
    }
  }
}

function delayed(ms: number): Transform {
  return new Transform({ transform: (chunk, _encoding, done) => void setTimeout(done, ms, null, chunk) });
}
