/** Ways to move one file between a caller and a device: ours, and scp through a reverse tunnel. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Processes } from "../processes.ts";
import { scpArguments, scpPath, startReverseTunnel, startSshServer } from "../ssh.ts";
import type { OurRelay } from "../variants/ours.ts";

export interface Way {
  readonly name: string;
  /** Moves the file from the device, or to it. Rejects if that fails. */
  move(from: string, to: string): Promise<void>;
}

export interface Ways {
  readonly down: readonly Way[];
  readonly up: readonly Way[];
}

export const SCP = "scp through ssh -R";
export const OURS = "curl through ours";

/** curl reads and writes; the token is in a file, not among its arguments. */
export function ourWays(processes: Processes, { url, token }: OurRelay, device: string): Ways {
  const headers = join(processes.folder, "headers.txt");
  writeFileSync(headers, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
  const curl = (args: string[]) => processes.run("curl", ["-sSf", "-H", `@${headers}`, ...args]);
  const at = (path: string) => `${url}/v1/devices/${device}/files${path}`;
  return {
    down: [{ name: OURS, move: (from, to) => curl(["-o", to, at(from)]) }],
    up: [{ name: OURS, move: (from, to) => curl(["-T", from, at(to)]) }],
  };
}

/** The device's server, behind the tunnel that the device's side dialled. */
export async function scpWays(processes: Processes): Promise<Ways> {
  const device = await startSshServer(processes, "ssh-device");
  const relay = await startSshServer(processes, "ssh-relay");
  const port = await startReverseTunnel(processes, relay, device.port);
  const scp = (from: string, to: string) => processes.run("scp", [...scpArguments(device, port), from, to]);
  return {
    down: [{ name: SCP, move: (from, to) => scp(scpPath(from), to) }],
    up: [{ name: SCP, move: (from, to) => scp(from, scpPath(to)) }],
  };
}
