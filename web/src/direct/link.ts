/** The link to a local server: it opens again by itself until it is closed. Only whoever connects directly loads it. */
import { pause } from "@matrx/client/pause.ts";
import { Connection } from "@matrx/client/socket/connection.ts";
import { webSocketDial } from "@matrx/client/socket/web-socket.ts";
import { onWake } from "../base/on-wake.ts";
import { frameIn } from "../relay/answer.ts";
import { Backoff } from "../relay/streams/retry.ts";
import { type DirectState, useDirect } from "./local.ts";
import { lookAt, type Target } from "./probe.ts";

/** A server that answers requests, and nothing else. */
const NO_WEB_SOCKET = { obstacle: "other", said: "It does not accept a WebSocket at /ws." } as const;

export class DirectLink {
  readonly #target: Target;
  readonly #closed = new AbortController();
  readonly #backoff = new Backoff();
  #connection: Connection | undefined;
  /** The server keeps its working folder and background jobs for the next connection. */
  #session: string | undefined;
  #woken = new AbortController();

  /** Opens it, and tells `useDirect` how it stands. */
  constructor(target: Target) {
    this.#target = target;
    onWake(() => this.#wake(), this.#closed.signal);
    void this.#keepOpen();
  }

  /** Undefined while it is not open. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  close(): void {
    this.#closed.abort();
    this.#connection?.close();
  }

  /** Tries at once, or asks an open connection for a sign of life. */
  #wake(): void {
    this.#connection?.check();
    this.#woken.abort();
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#closed;
    for (;;) {
      const found = await lookAt(this.#target);
      if (signal.aborted) return;
      if (found.kind === "obstacle") {
        const { obstacle, said } = found;
        useDirect.setState({ obstacle, said });
        // Asking again would not help.
        if (obstacle === "no token" || obstacle === "wrong token") return enter("stopped");
      } else {
        useDirect.setState({ version: found.version });
        await this.#hold();
      }
      this.#woken = new AbortController();
      await pause(this.#backoff.next(), AbortSignal.any([signal, this.#woken.signal]));
      if (signal.aborted) return;
    }
  }

  /** Connects, and resolves when the connection is lost. */
  async #hold(): Promise<void> {
    const connection = await this.#opened().catch(() => undefined);
    if (!connection) return this.#lost();
    if (this.#closed.signal.aborted) return connection.close();
    this.#connection = connection;
    connection.check();
    const gone = Promise.withResolvers<void>();
    const end = () => {
      this.#session = connection.session;
      this.#lost();
      gone.resolve();
    };
    connection.signal.addEventListener("abort", end, { once: true });
    await gone.promise;
  }

  /** Throws MatrxError. */
  #opened(): Promise<Connection> {
    const { address, token } = this.#target;
    return Connection.open({
      dial: webSocketDial({
        base: address,
        token: () => token || undefined,
        whyRefused: async () => undefined,
      }),
      session: this.#session,
      read: frameIn,
      onHello: ({ device }) => {
        this.#backoff.opened();
        enter("online");
        useDirect.setState({ device, obstacle: undefined, said: undefined });
      },
      onRoundTrip: (roundTrip) => useDirect.setState({ roundTrip }),
    });
  }

  #lost(): void {
    this.#connection = undefined;
    if (this.#closed.signal.aborted) return;
    if (useDirect.getState().state === "online") enter("reconnecting");
    else useDirect.setState(NO_WEB_SOCKET);
  }
}

function enter(state: DirectState): void {
  if (useDirect.getState().state === state) return;
  useDirect.setState({ state, since: Date.now(), roundTrip: undefined });
}
