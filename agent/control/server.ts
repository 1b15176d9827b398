/**
 * The control server: how programs of the same user on this machine reach the running agent. It listens on a Unix socket in
 * a folder that only this user may enter, and that is closed to all tools, or on a named pipe.
 */
import { once } from "node:events";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Logger } from "pino";
import { currentPlatform } from "../platform/current.ts";
import { isNodeError, makePrivateFolder } from "../platform/private-file.ts";
import { type ControlRoutes, controlApp } from "./app.ts";
import { type ControlName, controlEndpoint } from "./endpoint.ts";

export interface ControlServerOptions {
  readonly folder: string;
  readonly name: ControlName;
  readonly routes: readonly ControlRoutes[];
  readonly log: Logger;
}

export interface ControlServer {
  close(): Promise<void>;
}

/**
 * Starts listening. A socket that a killed agent left is replaced: the journal's lock, which the caller holds, says that no
 * other agent listens there. Throws MatrxError.
 */
export async function startControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { folder, name, routes, log } = options;
  const endpoint = controlEndpoint(folder, name);
  const server = createServer(
    getRequestListener(controlApp(routes, log).fetch, { overrideGlobalObjects: false }),
  );
  try {
    if (currentPlatform().name !== "Windows") prepare(folder, endpoint);
    server.listen(endpoint);
    await once(server, "listening");
    if (currentPlatform().name !== "Windows") chmodSync(endpoint, 0o600);
  } catch (cause) {
    server.close();
    throw cannotListen(endpoint, cause);
  }
  return {
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Makes the folder, and frees the place of the socket. Throws if the folder is not this user's alone. */
function prepare(folder: string, endpoint: string): void {
  makePrivateFolder(folder);
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.())
    throw new Error(`${folder} is not this user's folder`);
  if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  try {
    if (lstatSync(endpoint).isSocket()) rmSync(endpoint);
  } catch (error) {
    if (!isNodeError(error, "ENOENT")) throw error;
  }
}

function cannotListen(endpoint: string, cause: unknown): MatrxError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return agentError("UNAVAILABLE", `Commands on this machine cannot reach the agent at ${endpoint}: ${why}`, {
    hint: "Check what is in its place, and who owns the folder",
    cause,
  });
}
