/** Sockets of macOS, by `systeminformation`, which knows how the columns of its versions differ. Written from documents, not run. */
import { chosen, type Endpoint, type OwnedSocket, type SocketList, type SocketState } from "../sockets.ts";
import { programName } from "./program-name.ts";

/** What is used of `networkConnections()` of the library. */
export interface LibrarySocket {
  /** Such as `tcp4`, `udp46`. */
  readonly protocol: string;
  readonly localAddress: string;
  readonly localPort: string;
  readonly peerAddress: string;
  readonly peerPort: string;
  readonly state: string;
  /** NaN, or not there: not known. */
  readonly pid?: number | null;
  /** The command line up to its first colon, arguments and all. */
  readonly process: string;
}

export function darwinSockets(read: () => Promise<readonly LibrarySocket[]> = readByLibrary): SocketList {
  return {
    async find(query) {
      return chosen((await read()).map(socketOf), query);
    },
  };
}

async function readByLibrary(): Promise<readonly LibrarySocket[]> {
  const { default: system } = await import("systeminformation");
  return await system.networkConnections();
}

/** As the library has them, with and without the underscore before a number. */
const STATES: ReadonlyMap<string, SocketState> = new Map([
  ...(["LISTEN", "SYN_SENT", "ESTABLISHED", "CLOSE_WAIT", "CLOSING", "LAST_ACK", "TIME_WAIT"] as const).map(
    (state) => [state, state] as const,
  ),
  ...([
    ["SYN_RECV", "SYN_RECEIVED"],
    ["SYN_RCVD", "SYN_RECEIVED"],
    ["FIN_WAIT1", "FIN_WAIT_1"],
    ["FIN_WAIT_1", "FIN_WAIT_1"],
    ["FIN_WAIT2", "FIN_WAIT_2"],
    ["FIN_WAIT_2", "FIN_WAIT_2"],
    ["CLOSE", "CLOSED"],
  ] as const),
]);

export function socketOf(row: LibrarySocket): OwnedSocket {
  const protocol = row.protocol.startsWith("udp") ? "udp" : "tcp";
  const pid = Number.isInteger(row.pid) && Number(row.pid) > 0 ? Number(row.pid) : null;
  const anyAddress = row.protocol.includes("6") ? "::" : "0.0.0.0";
  const remote = endpointOf(row.peerAddress, row.peerPort, anyAddress);
  return {
    protocol,
    local: endpointOf(row.localAddress, row.localPort, anyAddress),
    remote: remote.port === 0 ? null : remote,
    state: protocol === "udp" ? null : (STATES.get(row.state) ?? null),
    pid,
    process: pid === null ? null : programName(row.process) || null,
  };
}

/** A star stands for any. */
function endpointOf(address: string, port: string, anyAddress: string): Endpoint {
  return { address: address === "*" ? anyAddress : address, port: Number.parseInt(port, 10) || 0 };
}
