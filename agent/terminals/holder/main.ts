/**
 * The holder: a program of its own that holds the terminals of a device, so that they outlive the agent. It has no policy,
 * no network, and reads no calls. Arguments: its folder, and limits as JSON. It ends by itself when it is not needed.
 */
import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server } from "node:net";
import { currentPlatform } from "../../platform/current.ts";
import { type HolderLimits, TERMINAL_LIMITS } from "../protocol.ts";
import { serveConnection } from "./connection.ts";
import { HeldTerminals } from "./held-terminals.ts";
import { findPty } from "./pty.ts";

const [folder = "", given = "{}"] = process.argv.slice(2);
const limits: HolderLimits = { ...TERMINAL_LIMITS, ...JSON.parse(given) };
const platform = currentPlatform();
const endpoint = platform.controlEndpoint(folder, "holder");
if (endpoint === undefined) throw new Error(`the path of ${folder} is too long for a socket`);

for (const signal of ["SIGHUP", "SIGINT", "SIGPIPE"] as const) process.on(signal, () => undefined);

let connections = 0;
let idle: NodeJS.Timeout | undefined;
const terminals = new HeldTerminals({
  ...{ folder, platform, limits, onChange: watchIdle },
  ...(await findPty()),
});
const server = createServer((socket) => {
  connections++;
  socket.on("close", () => {
    connections--;
    watchIdle();
  });
  watchIdle();
  serveConnection(socket, terminals, limits);
});
// Its socket is its own alone; the files of programs in terminals have the modes that they would have without it.
const umask = process.umask(0o077);
await listen(server, endpoint);
process.umask(umask);
watchIdle();

/** Ends this program when it had neither terminals nor connections for some time. */
function watchIdle(): void {
  clearTimeout(idle);
  if (terminals.size > 0 || connections > 0) return;
  // Closing removes the socket.
  idle = setTimeout(() => server.close(() => process.exit(0)), limits.idleMs);
}

/** Listens at a path, where a holder that was killed may have left its socket. Ends this program if one lives there. */
async function listen(server: Server, path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once("error", resolve);
      server.listen(path, () => resolve(undefined));
    });
    server.removeAllListeners("error");
    if (!problem) break;
    if (problem.code !== "EADDRINUSE" || attempt > 0) throw problem;
    if (await isAnswered(path)) process.exit(0);
    rmSync(path, { force: true });
  }
  if (platform.name !== "Windows") chmodSync(path, 0o600);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
