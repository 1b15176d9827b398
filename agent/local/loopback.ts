/** The addresses of this machine itself. `localhost` may mean either, so a server has both, or it is not safe to call it so. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { isNodeError } from "../platform/private-file.ts";

const ADDRESSES = ["127.0.0.1", "::1"];
/** Where the first address finds a free port, the second may find it taken. */
const TRIES = 20;

export interface Listening<S extends Server> {
  readonly port: number;
  /** One for each address. */
  readonly servers: readonly S[];
}

/**
 * Listens at `localhost`: on each loopback address that this machine has, on one port. 0: any that is free on all.
 * Throws the system's error when the port is taken on one of them; then nothing listens.
 */
export async function listenAtLocalhost<S extends Server>(
  make: () => S,
  port: number,
): Promise<Listening<S>> {
  for (let tries = 1; ; tries++) {
    try {
      return await listenAtAll(make, port);
    } catch (error) {
      if (port !== 0 || tries === TRIES || !isNodeError(error, "EADDRINUSE")) throw error;
    }
  }
}

/** Listens on one address. Throws the system's error. */
export async function listenAt<S extends Server>(server: S, address: string, port: number): Promise<number> {
  server.listen(port, address);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function listenAtAll<S extends Server>(make: () => S, wanted: number): Promise<Listening<S>> {
  const servers: S[] = [];
  let port = wanted;
  try {
    for (const address of ADDRESSES) {
      const server = make();
      port = await listenAt(server, address, port).catch((error) => {
        if (servers.length > 0 && isMissing(error)) return port;
        throw error;
      });
      if (server.listening) servers.push(server);
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return { port, servers };
}

/** The machine has no such address: IPv6 is switched off. */
function isMissing(error: unknown): boolean {
  return isNodeError(error, "EADDRNOTAVAIL") || isNodeError(error, "EAFNOSUPPORT");
}
