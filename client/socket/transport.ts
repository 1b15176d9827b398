/** A device over WebSockets: one connection for all calls, and more where streams need them. */
import { ConnectionLost } from "../errors.ts";
import type {
  Attempt,
  CallEvent,
  CallListener,
  CallRequest,
  Input,
  Opened,
  StreamOptions,
  Transport,
  WatchOptions,
} from "../transport.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";

export interface SocketTransportOptions extends ConnectionOptions {
  /** Waits for the end of a call by its name, since a connection knows only its own calls. */
  readonly follow?: Transport["follow"];
}

export class SocketTransport implements Transport {
  readonly host: string | undefined;
  readonly follow: Transport["follow"];
  readonly #options: SocketTransportOptions;
  readonly #connections = new Set<Connection>();
  /** One connection at a time is dialled, for all who wait for it. */
  #dialling: Promise<Connection> | undefined;
  #session: string | undefined;
  readonly #closed = new AbortController();

  constructor(options: SocketTransportOptions) {
    this.host = options.host;
    this.follow = options.follow;
    this.#options = options;
    this.#session = options.session;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** Connects if no connection is open, to learn early what is wrong. Throws MatrxError. */
  async connect(): Promise<void> {
    await this.#withRoom();
  }

  async attempt(request: CallRequest, listener: CallListener): Promise<Attempt> {
    const connection = await this.#unlessStopped(listener);
    if ("kind" in connection) return connection;
    const ended = await connection.call(request, listener);
    // It stays the session of what is called later, over other connections too.
    this.#session = connection.session;
    return ended;
  }

  /** Makes a call that opens a stream. The limits of grant and device hold for all connections together. Throws MatrxError. */
  async open(
    tool: string,
    input: Input,
    options: StreamOptions,
    onEvent: (event: CallEvent) => void,
  ): Promise<Opened> {
    for (;;) {
      const connection = await this.#withRoom();
      // Others may have waited for the same connection.
      if (connection.hasRoom) return await connection.open(tool, input, options, onEvent);
    }
  }

  async watch({ after, onEvent, onConnect, signal }: WatchOptions): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = () => resolve();
    signal.addEventListener("abort", end, { once: true });
    const begin = async () => {
      const connection = await this.#withRoom();
      if (signal.aborted) return;
      const over = AbortSignal.any([signal, connection.signal]);
      over.addEventListener("abort", end, { once: true });
      connection.watch(after, { onEvent, onRefused: reject }, over);
      onConnect();
    };
    begin().catch(reject);
    await promise.finally(() => signal.removeEventListener("abort", end));
  }

  /** Asks each connection for a sign of life: a network that went away may not have closed it. */
  check(): void {
    for (const connection of this.#connections) connection.check();
  }

  close(): void {
    this.#closed.abort();
    for (const connection of this.#connections) connection.close();
  }

  /** A connection; or what became of the attempt, if it was stopped before, or there is none. Throws MatrxError. */
  async #unlessStopped({ stop, leave }: CallListener): Promise<Connection | Attempt> {
    const over = AbortSignal.any([stop, leave]);
    const gone = (why: string): Attempt => ({ kind: "lost", why, sent: false });
    if (over.aborted) return gone("cancelled");
    const stopped = Promise.withResolvers<Attempt>();
    const end = () => stopped.resolve(gone("cancelled"));
    over.addEventListener("abort", end, { once: true });
    try {
      const dialled = this.#withRoom().catch((error: unknown) => {
        if (error instanceof ConnectionLost) return gone(error.why);
        throw error;
      });
      return await Promise.race([dialled, stopped.promise]);
    } finally {
      over.removeEventListener("abort", end);
    }
  }

  async #withRoom(): Promise<Connection> {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = undefined;
    });
    return await this.#dialling;
  }

  async #dial(): Promise<Connection> {
    const connection = await Connection.open({ ...this.#options, session: this.#session });
    this.#connections.add(connection);
    connection.signal.addEventListener("abort", () => this.#connections.delete(connection), { once: true });
    if (this.#closed.signal.aborted) connection.close();
    return connection;
  }
}
