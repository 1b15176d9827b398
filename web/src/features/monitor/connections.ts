/** The sockets of a machine, as its tool NetworkConnections tells them. */
import { amount, list, number, record, text } from "./told.ts";

export interface Connection {
  readonly protocol: string;
  readonly local: string;
  /** Undefined: it waits for whoever comes. */
  readonly remote: string | undefined;
  readonly state: string | undefined;
  readonly pid: number | undefined;
  readonly process: string | undefined;
}

export interface Connections {
  readonly rows: readonly Connection[];
  readonly matching: number;
}

/** Rows that are asked for, and shown whatever comes. */
export const MOST_CONNECTIONS = 1000;

export function connectionsOf(told: unknown): Connections {
  const { sockets, matching } = record(told);
  const rows = list(sockets, MOST_CONNECTIONS).map((one) => {
    const fields = record(one);
    return {
      protocol: text(fields.protocol) ?? "",
      local: endOf(fields.local) ?? "",
      remote: endOf(fields.remote),
      state: text(fields.state),
      pid: number(fields.pid),
      process: text(fields.process),
    };
  });
  return { rows, matching: amount(matching) ?? rows.length };
}

/** "127.0.0.1:22", "[::1]:22". */
function endOf(told: unknown): string | undefined {
  const { address, port } = record(told);
  if (typeof address !== "string" || typeof port !== "number") return undefined;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
