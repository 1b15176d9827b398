/** The ports on which Matrx itself listens on this machine: relay and local servers. No call reaches them by ConnectPort. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "@matrx/shared/public-url.ts";
import * as z from "zod";
import type { Home } from "../config/app-dirs.ts";
import { readJsonFile, writePrivateFile } from "../platform/private-file.ts";

/** In a data folder: an embedded relay's (`scripts/start/lock.ts`), and a local server's. */
const FILES = ["relay.pid", "local-server.json"] as const;

const listeningSchema = z.object({ port: z.int() });

export interface OwnPortsOptions {
  /** The relay that this agent connects to; one on this machine listens here. */
  readonly relay?: string | undefined;
  /** Folders in which Matrx keeps data, as of now. */
  readonly folders: () => readonly string[];
}

export class OwnPorts {
  readonly #options: OwnPortsOptions;

  constructor(options: OwnPortsOptions) {
    this.#options = options;
  }

  has(port: number): boolean {
    const { relay, folders } = this.#options;
    if (relay !== undefined && portHere(relay) === port) return true;
    return folders().some((folder) => FILES.some((file) => portIn(join(folder, file)) === port));
  }
}

/** The port of a URL of this machine. */
function portHere(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url);
  if (!isLoopback(hostname)) return undefined;
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Undefined for a folder of another kind, or one that this user cannot read. */
function portIn(file: string): number | undefined {
  try {
    return readJsonFile(file, listeningSchema)?.port;
  } catch {
    return undefined;
  }
}

/** Notes the port of this home's local server; what a crash leaves there only closes one port more. Throws MatrxError. */
export function noteListening(home: Pick<Home, "localServerFile">, port: number): void {
  writePrivateFile(home.localServerFile, `${JSON.stringify({ port })}\n`);
}

export function forgetListening(home: Pick<Home, "localServerFile">): void {
  rmSync(home.localServerFile, { force: true });
}
