/** Connections to one device for any number of streams: another one when the last is full, a new one when it is lost. */
import type { RelayClient } from "./relay-client.ts";
import { type Opened, StreamConnection, type StreamOptions } from "./stream-connection.ts";

export class StreamPool {
  readonly #client: RelayClient;
  readonly #device: string;
  readonly #connections = new Set<StreamConnection>();
  /** One connection at a time is dialled, for all who wait for it. */
  #dialling: Promise<StreamConnection> | undefined;
  #isClosed = false;

  constructor(client: RelayClient, device: string) {
    this.#client = client;
    this.#device = device;
  }

  /** Connects if no connection is open, to learn early what is wrong. Throws MatrxError. */
  async connect(): Promise<void> {
    await this.#withRoom();
  }

  /** As `StreamConnection.open`. The limits of grant and device hold for all connections together. */
  async open(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: StreamOptions,
  ): Promise<Opened> {
    for (;;) {
      const connection = await this.#withRoom();
      // Others may have waited for the same connection.
      if (connection.hasRoom) return await connection.open(tool, input, options);
    }
  }

  /** Closes all connections, and with them the streams. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
  }

  async #withRoom(): Promise<StreamConnection> {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    this.#dialling ??= this.#dial().finally(() => {
      this.#dialling = undefined;
    });
    return await this.#dialling;
  }

  async #dial(): Promise<StreamConnection> {
    const connection = await StreamConnection.open(this.#client, this.#device);
    this.#connections.add(connection);
    connection.signal.addEventListener("abort", () => this.#connections.delete(connection), { once: true });
    if (this.#isClosed) connection.close();
    return connection;
  }
}
