/** Listens on the loopback addresses. `localhost` may mean either one, so it is only safe if our server has both. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { isNodeError } from "../platform/private-file.ts";

const ADDRESSES = ["127.0.0.1", "::1"];
/** How often to retry, since a port that is free on the first address may be taken on the second. */
const TRIES = 20;

export interface Listening<S extends Server> {
  readonly port: number;
  /** One server per address. */
  readonly servers: readonly S[];
}

/**
 * Listens at `localhost`: on each loopback address of this machine, on the same port (0: any that is free on all). If the
 * port is taken on one of them, nothing listens and the system's error is thrown.
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

/** Whether the machine has no such address, because IPv6 is disabled. */
function isMissing(error: unknown): boolean {
  return isNodeError(error, "EADDRNOTAVAIL") || isNodeError(error, "EAFNOSUPPORT");
}
