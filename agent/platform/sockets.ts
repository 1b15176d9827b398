/** The machine's TCP and UDP sockets, as a person would look at them. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { inTime } from "./in-time.ts";

/** As RFC 9293 names them, in upper case. */
export const SOCKET_STATES = [
  ...(["LISTEN", "SYN_SENT", "SYN_RECEIVED", "ESTABLISHED", "FIN_WAIT_1", "FIN_WAIT_2"] as const),
  ...(["CLOSE_WAIT", "CLOSING", "LAST_ACK", "TIME_WAIT", "CLOSED"] as const),
] as const;
export type SocketState = (typeof SOCKET_STATES)[number];

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface SocketFacts {
  readonly protocol: "tcp" | "udp";
  readonly local: Endpoint;
  /** Null: it has no other end. */
  readonly remote: Endpoint | null;
  /** Null for UDP, or not known. */
  readonly state: SocketState | null;
}

/** Null: the system does not tell this user, or nobody holds it any more. */
export interface OwnedSocket extends SocketFacts {
  readonly pid: number | null;
  /** The program's name, without arguments. */
  readonly process: string | null;
}

export interface SocketQuery {
  readonly isWanted: (socket: SocketFacts) => boolean;
  /** No more are returned. */
  readonly most: number;
}

export interface FoundSockets<Found extends SocketFacts = OwnedSocket> {
  readonly sockets: readonly Found[];
  readonly matching: number;
  readonly total: number;
}

export interface SocketList {
  find(query: SocketQuery): Promise<FoundSockets>;
}

/** Whether it takes what anybody sends to its port. */
export function isListening({ state, protocol, remote }: SocketFacts): boolean {
  return state === "LISTEN" || (protocol === "udp" && remote === null);
}

/** What a query asks for: those that listen first, then by port. */
export function chosen<Found extends SocketFacts>(
  all: readonly Found[],
  { isWanted, most }: SocketQuery,
): FoundSockets<Found> {
  const matching = all
    .filter(isWanted)
    .toSorted(
      (a, b) =>
        Number(isListening(b)) - Number(isListening(a)) ||
        a.local.port - b.local.port ||
        a.protocol.localeCompare(b.protocol) ||
        (a.remote?.port ?? 0) - (b.remote?.port ?? 0),
    );
  return { sockets: matching.slice(0, most), matching: matching.length, total: all.length };
}

/** In milliseconds: whose they are takes a look at the files of every process. */
const LOOK_MS = 15_000;

/** Those that a query asks for, waited for no longer than a look may take. Throws MatrxError, or the signal's reason. */
export async function socketsOf(
  list: SocketList,
  query: SocketQuery,
  signal: AbortSignal,
): Promise<FoundSockets> {
  return await inTime(() => list.find(query), { withinMs: LOOK_MS, tookTooLong, signal });
}

function tookTooLong(): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `The system did not list its sockets within ${LOOK_MS} ms`, {
    hint: "Try again, with a lower limit",
  });
}
