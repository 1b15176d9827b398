/**
 * Ports of this machine that speak TLS. Which ones do is found out where one gives no HTTP answer: nothing is known before,
 * and programs that speak plain HTTP are not bothered with TLS.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { connect } from "node:tls";
import { connectPort, type LoopbackHost } from "./connect.ts";

/** Opens another connection, by TLS. Undefined: the port does not speak it. */
export type Secured = (signal: AbortSignal) => Promise<Socket | undefined>;

export interface Dialled {
  readonly socket: Socket;
  readonly secured: Secured;
}

/** Time for a handshake on this machine, in milliseconds. */
const SECURED_WITHIN = 3000;

/** So long a port that speaks no TLS is not asked again, in milliseconds. */
const PLAIN_FOR = 60_000;

export class TlsPorts {
  readonly #secure = new Set<number>();
  /** Ports that were tried in vain, with the time. */
  readonly #plain = new Map<number, number>();

  /** Connects, by TLS where the port is known to speak it. Throws MatrxError if nobody serves the port. */
  async connect(port: number, host: LoopbackHost, signal: AbortSignal): Promise<Dialled> {
    if (!this.#secure.has(port)) {
      const secured: Secured = (until) => this.#tryTls(port, host, until);
      return { socket: await connectPort(port, host, signal), secured };
    }
    const socket = await overTls(await connectPort(port, host, signal), signal);
    if (socket) return { socket, secured: async () => undefined };
    this.#secure.delete(port);
    return this.connect(port, host, signal);
  }

  async #tryTls(port: number, host: LoopbackHost, signal: AbortSignal): Promise<Socket | undefined> {
    if (performance.now() - (this.#plain.get(port) ?? Number.NEGATIVE_INFINITY) < PLAIN_FOR) return undefined;
    const socket = await connectPort(port, host, signal).catch(() => undefined);
    const secure = socket && (await overTls(socket, signal));
    if (secure) this.#secure.add(port);
    else this.#plain.set(port, performance.now());
    return secure;
  }
}

/** A request that can be made again, on another connection. */
interface Repeatable<Answer> {
  /** Whether it changes nothing, and has no body that was sent. */
  readonly isSafe: () => boolean;
  readonly again: (socket: Socket) => Promise<Answer>;
}

/** What a port answered; by TLS, if the answer may mean that it speaks nothing else. What is not safe fails, the first time. */
export async function answerOf<Answer extends IncomingMessage | undefined>(
  plain: Promise<Answer>,
  tls: () => Promise<Socket | undefined>,
  { isSafe, again }: Repeatable<Answer>,
): Promise<Answer> {
  const first = await plain.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if ("answer" in first && (first.answer?.statusCode !== 400 || !isSafe())) return first.answer;
  const secure = await tls();
  if (secure && isSafe()) return again(secure);
  if ("error" in first) throw first.error;
  return first.answer;
}

/** Nobody signs certificates for this machine, so any will do. */
async function overTls(socket: Socket, signal: AbortSignal): Promise<Socket | undefined> {
  const secure = connect({
    ...{ socket, servername: "localhost", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] },
  });
  // Whoever uses it sees the error where it reads or writes.
  secure.on("error", () => undefined);
  try {
    await once(secure, "secureConnect", {
      signal: AbortSignal.any([signal, AbortSignal.timeout(SECURED_WITHIN)]),
    });
    return secure;
  } catch {
    secure.destroy();
    socket.destroy();
    signal.throwIfAborted();
    return undefined;
  }
}
