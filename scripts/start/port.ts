/** The port to listen on. */
import { type AddressInfo, createServer } from "node:net";
import { listenAtLocalhost } from "../../agent/local/loopback.ts";
import { hasCode, messageOf, Problem } from "../problem.ts";

/** Where the relay will listen. It needs every address of `localhost`: a program on another one would receive our requests. */
export interface LocalAddresses {
  readonly port: number;
  /** Those of `localhost` that this machine has: `127.0.0.1`, and mostly `::1`. */
  readonly addresses: readonly string[];
}

/** Finds the port: the wanted one, or for 0 one that is free on all addresses. Throws Problem if another program has it. */
export async function findPort(wanted: number): Promise<LocalAddresses> {
  try {
    const { port, servers } = await listenAtLocalhost(createServer, wanted);
    const addresses = servers.map((server) => (server.address() as AddressInfo).address);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return { port, addresses };
  } catch (error) {
    throw await problemOf(error, wanted);
  }
}

async function problemOf(error: unknown, port: number): Promise<Problem> {
  if (hasCode(error, "EADDRINUSE")) return await portInUse(port);
  if (hasCode(error, "EACCES"))
    return new Problem(`Port ${port} needs more permissions: choose one above 1023 with --port.`);
  return new Problem(`Port ${port} cannot be opened (${messageOf(error)}): choose another with --port.`);
}

/** Another program listens on the port. */
export async function portInUse(port: number): Promise<Problem> {
  // Loaded only now: it is much, and seldom needed.
  const { portHolder } = await import("../../agent/platform/port-holder.ts");
  return new Problem(
    `Port ${port} is in use by ${await portHolder(port)}: stop it, or choose another port with \`npm start -- --port ${port + 1}\`.`,
  );
}
