/** NetworkConnections: the TCP and UDP sockets of this machine, and whose they are. */
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Platform } from "../platform/platform.ts";
import {
  type Endpoint,
  type FoundSockets,
  isListening,
  type OwnedSocket,
  SOCKET_STATES,
  type SocketFacts,
  socketsOf,
} from "../platform/sockets.ts";
import { withoutMisleading } from "../text/display-name.ts";

const DEFAULT_LIMIT = 200;
/** Of a program's name. */
const NAME_CHARS = 100;

const input = z.strictObject({
  state: z.enum(SOCKET_STATES).optional().describe("Only TCP sockets in this state"),
  listening: z.boolean().optional().describe("true: only those that take what comes; false: only the others"),
  port: z.int().min(1).max(65_535).optional().describe("Only those with this port, on either end"),
  limit: z.int().min(1).max(5000).optional().describe(`Maximum number of sockets (default ${DEFAULT_LIMIT})`),
});
type Input = z.infer<typeof input>;

const endpoint = z.object({ address: z.string(), port: z.int() });
const output = z.object({
  sockets: z.array(
    z.object({
      protocol: z.enum(["tcp", "udp"]),
      local: endpoint,
      remote: endpoint.nullable().describe("Null: no other end"),
      state: z.enum(SOCKET_STATES).nullable().describe("Null for UDP"),
      pid: z
        .int()
        .nullable()
        .describe("Null: the system does not tell the agent, or nobody holds it any more"),
      process: z.string().nullable().describe("The program's name"),
    }),
  ),
  matching: z.int(),
  total: z.int(),
  truncated: z.boolean(),
});

export function networkConnectionsTool({ sockets }: Platform) {
  return defineTool({
    name: "NetworkConnections",
    family: "system",
    effect: "read",
    description:
      "List TCP and UDP sockets: addresses, ports, state, process. For programs; at most 200 unless limit says otherwise.",
    details:
      "Those that listen come first, then by local port. Of other users' processes the system may tell nothing. A table as text, rows in the metadata.",
    input,
    output,
    model: { hidden: true },
    timeoutMs: 20_000,
    async handle(request, { signal }) {
      const most = request.limit ?? DEFAULT_LIMIT;
      const query = { isWanted: (socket: SocketFacts) => isAskedFor(socket, request), most };
      return resultOf(await socketsOf(sockets, query, signal));
    },
  });
}

function isAskedFor(socket: SocketFacts, { state, listening, port }: Input): boolean {
  if (state !== undefined && socket.state !== state) return false;
  if (listening !== undefined && isListening(socket) !== listening) return false;
  return port === undefined || socket.local.port === port || socket.remote?.port === port;
}

function resultOf({ sockets, matching, total }: FoundSockets): ToolResult {
  const rows = sockets.map(({ process, ...socket }) => ({
    ...socket,
    process: process === null ? null : process.slice(0, NAME_CHARS).toWellFormed(),
  }));
  const left = matching - rows.length;
  const notes = [`${rows.length} of ${matching} matching sockets, ${total} in all`];
  if (left > 0) notes.push(`${left} more: raise limit, or narrow it with state, listening or port`);
  return {
    output: [...tableOf(rows), ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: { sockets: rows, matching, total, truncated: left > 0 } satisfies z.infer<typeof output>,
  };
}

const HEADS = ["PROTO", "LOCAL", "REMOTE", "STATE", "PID", "PROCESS"];

function tableOf(rows: readonly OwnedSocket[]): string[] {
  const cells = rows.map(({ protocol, local, remote, state, pid, process }) => [
    protocol,
    shown(local),
    remote ? shown(remote) : "-",
    state ?? "-",
    String(pid ?? "?"),
    withoutMisleading(process ?? "?"),
  ]);
  const widths = HEADS.map((head, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  );
  return [HEADS, ...cells].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function shown({ address, port }: Endpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
