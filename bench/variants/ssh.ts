/**
 * OpenSSH's reverse tunnel, what people use instead: the device's side dials a sshd and has a port opened there, and
 * callers reach the device's own server through it. Encrypted, and nothing asked of a call.
 */
import { readFileSync } from "node:fs";
import { emptyWork } from "../frames.ts";
import type { Processes } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import { startReverseTunnel, startSshServer } from "../ssh.ts";
import type { Variant } from "../variant.ts";

export async function sshTunnel(processes: Processes): Promise<Variant> {
  const { port: device } = await processes.start("device");
  const server = await startSshServer(processes, "ssh");
  const tunnel = await startReverseTunnel(processes, server, device);
  const line = await socketLine(`ws://127.0.0.1:${tunnel}`, emptyWork("Read"));
  return { name: "ssh -R", line, relay: sessionOf(server.pid) };
}

/** The server's process for this one connection: the last of its descendants. */
function sessionOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return child ? sessionOf(Number(child)) : pid;
}
