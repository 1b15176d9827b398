/** Listens on this machine's own 127.0.0.1, and gives each connection a stream of its own to a port of the device. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Device } from "@matrx/client/device.ts";
import { callerError, type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { StreamEnd } from "@matrx/shared/streams/endpoint.ts";
import { isNodeError } from "../../platform/private-file.ts";
import { breakOff, joined } from "../../ports/join.ts";

/** Never another address: whoever could reach that would act by this user's token. */
const HOST = "127.0.0.1";

/** Memory for one connection, in bytes: 64 of them, as many as a grant may have, stay within the grant's credit. */
export const FORWARD_CREDIT = 256 * 1024;

/** What became of a connection. */
export type Ended =
  | { readonly sent: number; readonly received: number }
  /** Why it could not be opened, or broke off. Undefined: a program on this machine broke it off. */
  | { readonly error: MatrxError | undefined };

export interface ForwarderOptions {
  readonly remote: Device;
  /** The device's port. */
  readonly port: number;
  readonly onOpen: (connection: number) => void;
  readonly onEnd: (connection: number, ended: Ended) => void;
}

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #last = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    // Nothing is read before the device is connected.
    this.#server = createServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
      (socket) => void this.#forward(socket),
    );
  }

  /** Starts listening; 0: any free port. Resolves with the port. Throws MatrxError. */
  async listen(port: number): Promise<number> {
    try {
      this.#server.listen({ host: HOST, port });
      await once(this.#server, "listening");
    } catch (cause) {
      throw cannotListen(port, cause);
    }
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections there have been. */
  get connections(): number {
    return this.#last;
  }

  /** Stops listening, and breaks off what is open. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) breakOff(socket);
    await closed;
  }

  async #forward(socket: Socket): Promise<void> {
    const { remote, port, onOpen, onEnd } = this.#options;
    const connection = ++this.#last;
    const left = new AbortController();
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      // What it sent before may still be on its way.
      if (socket.errored) left.abort();
    });
    let stream: StreamEnd | undefined;
    try {
      const options = { credit: FORWARD_CREDIT, signal: left.signal };
      ({ stream } = await remote.open("ConnectPort", { port }, options));
      onOpen(connection);
      const opened = stream;
      onEnd(connection, await joined(socket, opened, () => opened.end()));
    } catch (error) {
      stream?.reset(LEFT);
      const isOurs = error instanceof MatrxError && error.code !== "CANCELLED";
      onEnd(connection, { error: isOurs ? error : undefined });
      breakOff(socket);
    }
  }
}

const LEFT: ErrorShape = { code: "CANCELLED", message: "The caller's program broke it off", hop: "caller" };

/** Whether another program has the port, or only the system may give it. */
export function isTaken(error: unknown): boolean {
  return (
    error instanceof MatrxError &&
    (isNodeError(error.cause, "EADDRINUSE") || isNodeError(error.cause, "EACCES"))
  );
}

function cannotListen(port: number, cause: unknown): MatrxError {
  const code = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
  return callerError("UNAVAILABLE", `Can't listen on port ${port} of this machine${code}`, {
    hint: "Choose another one with --local; 0 takes any free one",
    cause,
  });
}
