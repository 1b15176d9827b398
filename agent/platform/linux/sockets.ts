/** Sockets from /proc: those of the network namespace that the agent is in. */
import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { SocketAddress } from "node:net";
import { endianness } from "node:os";
import { chosen, type Endpoint, type SocketFacts, type SocketList, type SocketState } from "../sockets.ts";
import { TimeSlice } from "../time-slice.ts";
import { processName } from "./process-list.ts";
import { allPids } from "./processes.ts";

const TABLES = ["tcp", "tcp6", "udp", "udp6"] as const;

export const linuxSockets: SocketList = {
  async find(query) {
    const tables = await Promise.all(
      TABLES.map(async (name) => {
        // Without IPv6 its tables are not there.
        const text = await readFile(`/proc/net/${name}`, "latin1").catch(() => "");
        return parseSockets(text, name.startsWith("tcp") ? "tcp" : "udp");
      }),
    );
    const { sockets, ...counts } = chosen(tables.flat(), query);
    const pids = await holdersOf(new Set(sockets.map(({ inode }) => inode)));
    const names = new Map<number, string | null>();
    for (const pid of new Set(pids.values())) names.set(pid, (await processName(pid)) ?? null);
    const owned = sockets.map(({ inode, ...socket }) => {
      const pid = pids.get(inode) ?? null;
      return { ...socket, pid, process: pid === null ? null : (names.get(pid) ?? null) };
    });
    return { sockets: owned, ...counts };
  },
};

interface LinuxSocket extends SocketFacts {
  /** "0": no process holds it. */
  readonly inode: string;
}

/** By the kernel's numbers (include/net/tcp_states.h). */
const STATES: readonly (SocketState | undefined)[] = [
  ...([undefined, "ESTABLISHED", "SYN_SENT", "SYN_RECEIVED", "FIN_WAIT_1", "FIN_WAIT_2"] as const),
  ...(["TIME_WAIT", "CLOSED", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "SYN_RECEIVED"] as const),
];

/** A table of `/proc/net` (proc_net(5)). */
export function parseSockets(text: string, protocol: "tcp" | "udp", order = endianness()): LinuxSocket[] {
  return text.split("\n").flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    const [, local = "", remote = "", state = ""] = columns;
    const inode = columns[9];
    if (inode === undefined || !/^[0-9A-F]+:[0-9A-F]{4}$/.test(local)) return [];
    const other = endpointOf(remote, order);
    return {
      protocol,
      local: endpointOf(local, order),
      remote: other.port === 0 ? null : other,
      state: protocol === "udp" ? null : (STATES[Number.parseInt(state, 16)] ?? null),
      inode,
    };
  });
}

/** The address stands there as numbers of 32 bits, each in the order of the machine. */
function endpointOf(text: string, order: "BE" | "LE"): Endpoint {
  const [address = "", port = ""] = text.split(":");
  const bytes = Buffer.from(address, "hex");
  if (order === "LE") bytes.swap32();
  return { address: addressOf(bytes), port: Number.parseInt(port, 16) };
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  return new SocketAddress({ family: "ipv6", address: groups.join(":") }).address;
}

/** The processes that hold sockets, by inode; of each the first. Only those whose files this user may see. */
async function holdersOf(inodes: ReadonlySet<string>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const wanted = new Set(inodes);
  wanted.delete("0");
  const slice = new TimeSlice();
  for (const pid of await allPids()) {
    for (const inode of socketsOf(pid)) if (wanted.delete(inode)) found.set(inode, pid);
    if (wanted.size === 0) break;
    if (slice.isUp) await slice.rest();
  }
  return found;
}

function* socketsOf(pid: number): Generator<string, void> {
  const folder = `/proc/${pid}/fd`;
  for (const fd of quietly(() => readdirSync(folder)) ?? []) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(quietly(() => readlinkSync(`${folder}/${fd}`)) ?? "") ?? [];
    if (inode !== undefined) yield inode;
  }
}

/** Undefined: it has ended meanwhile, or belongs to another user. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
