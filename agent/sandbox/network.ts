/**
 * A network that several sandboxed commands share: a server that one starts is reached from the others. Nothing else is in
 * it but, where domains may be reached, the port of a proxy; its forwarder runs outside the sandbox, so that commands need no
 * sockets of the file system.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";
import type { Network } from "./backend.ts";
import { outliving } from "./outliving.ts";
import type { SystemPaths } from "./system-paths.ts";

export interface NetworkPrograms {
  readonly system: SystemPaths;
  readonly bwrap: string;
  readonly nsenter: string;
  readonly socat: string | undefined;
}

const PROXY_SOCKET = "/run/proxy.sock";
export const PROXY_PORT = 3128;
const LISTENS = `:${PROXY_PORT.toString(16).toUpperCase().padStart(4, "0")} .* 0A `;
/** Tells its pid, as the machine's own `/proc` has it: bubblewrap would die of telling one when nobody listens any more. */
const HOLD = 'read -r pid _ < /proc/self/stat; echo "$pid"; read -r _';
const FORWARD = `
"$1" TCP-LISTEN:${PROXY_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${PROXY_SOCKET} < /dev/null > /dev/null 2>&1 &
until grep -qs '${LISTENS}' /proc/net/tcp; do kill -0 $! || exit 126; sleep 0.01; done
${HOLD}`;

/** `proxy`: the socket of one, which takes socat. It is there until it is closed, or this program ends. Throws MatrxError. */
export async function makeNetwork(programs: NetworkPrograms, proxy: string | undefined): Promise<Network> {
  const { system, bwrap, nsenter, socat } = programs;
  const forwards =
    proxy === undefined || socat === undefined ? undefined : { proxy, socat: realpathSync(socat) };
  const [file = "", ...args] = outliving([
    bwrap,
    ...["--unshare-user", "--unshare-net", "--unshare-pid", "--cap-drop", "ALL", "--die-with-parent"],
    ...(process.geteuid?.() === 0 ? ["--uid", "1000", "--gid", "1000"] : []),
    ...["--bind", "/proc", "/proc", "--dev-bind", "/dev/null", "/dev/null"],
    // Not the whole disk: what is mounted there may go while it is bound.
    ...system.links.flatMap(([link, target]) => ["--symlink", target, link]),
    ...system.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...(forwards ? ["--ro-bind", forwards.proxy, PROXY_SOCKET] : []),
    ...["--", "/bin/sh", "-c"],
    ...(forwards ? [FORWARD, "matrx-network", forwards.socat] : [HOLD]),
  ]);
  // It ends with its stdin.
  const holder = spawn(file, args, { stdio: "pipe", env: { PATH: SYSTEM_PATH }, cwd: "/" });
  const ended = once(holder, "close").then(() => undefined);
  const said = text(holder.stderr);
  for (const stream of holder.stdio)
    if (stream instanceof Socket) stream.on("error", () => undefined).unref();
  const ready = await Promise.race([once(holder.stdout, "data"), ended]).catch(() => undefined);
  if (!ready) throw notMade(await said.catch(() => ""));
  const pid = Number(String(ready[0]));
  const held = ["user", "net"].map((kind) => openSync(`/proc/${pid}/ns/${kind}`, "r"));
  const [user = -1, net = -1] = held;
  // Descriptors hold a network: only a forwarder has something to do.
  if (!forwards) holder.stdin?.end();
  holder.unref();
  const place = (fd: number) => `/proc/${process.pid}/fd/${fd}`;
  return {
    enter: [nsenter, `--user=${place(user)}`, `--net=${place(net)}`, "--preserve-credentials", "--"],
    hasProxy: forwards !== undefined,
    isUsed: () => isUsed(`net:[${fstatSync(net, { bigint: true }).ino}]`, pid),
    close: async () => {
      holder.stdin?.end();
      for (const fd of held) closeSync(fd);
      await ended;
    },
  };
}

/** Whether something runs in a network besides its forwarder, which has processes of its own. */
function isUsed(network: string, holder: number): boolean {
  const own = linkOf(`/proc/${holder}/ns/pid`);
  return readdirSync("/proc").some(
    (pid) =>
      /^\d+$/.test(pid) && linkOf(`/proc/${pid}/ns/net`) === network && linkOf(`/proc/${pid}/ns/pid`) !== own,
  );
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function notMade(said: string): MatrxError {
  const why = said.trim().split("\n").at(-1)?.slice(0, 300) || "it ended at once";
  return agentError("UNAVAILABLE", `No network could be made for the sandbox: ${why}`, {
    hint: "Run: matrx doctor",
  });
}
