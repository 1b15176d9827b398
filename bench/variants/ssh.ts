/**
 * OpenSSH's reverse tunnel, what people use instead: the device's side dials a sshd and has a port opened there, and
 * callers reach the device's own server through it. Encrypted, and nothing asked of a call.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { findPort } from "../../scripts/start/port.ts";
import { emptyWork } from "../frames.ts";
import { type Processes, pidOf } from "../processes.ts";
import { socketLine } from "../socket-line.ts";
import type { Variant } from "../variant.ts";

const SSHD = "/usr/sbin/sshd";
/** Where sshd wants an empty folder when root starts it. */
const PRIVILEGE_SEPARATION = "/run/sshd";

/** Why there is no tunnel on this machine, or undefined. */
export function noTunnel(): string | undefined {
  if (!existsSync(SSHD)) return "OpenSSH's server is not installed (Debian: openssh-server)";
  return undefined;
}

export async function sshTunnel(processes: Processes): Promise<Variant> {
  const { port: device } = await processes.start("device");
  const folder = join(processes.folder, "ssh");
  mkdirSync(folder, { mode: 0o700 });
  for (const key of ["host", "client"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, key)]);
  }
  const { port } = await findPort(0);
  const sshd = await startServer(processes, folder, port);
  const tunnel = await startTunnel(processes, folder, port, device);
  const line = await socketLine(`ws://127.0.0.1:${tunnel}`, emptyWork("Read"));
  return { name: "ssh -R", line, relay: sessionOf(sshd) };
}

async function startServer(processes: Processes, folder: string, port: number): Promise<number> {
  if (userInfo().uid === 0) mkdirSync(PRIVILEGE_SEPARATION, { recursive: true });
  const config = join(folder, "sshd_config");
  const lines = [
    "ListenAddress 127.0.0.1",
    `Port ${port}`,
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "client.pub")}`,
    "PidFile none",
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "LogLevel ERROR",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const child = processes.spawn(SSHD, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "inherit"] });
  return pidOf(child, "sshd");
}

/** Resolves with the port that the server opened for the device. */
async function startTunnel(
  processes: Processes,
  folder: string,
  port: number,
  device: number,
): Promise<number> {
  const options = ["ExitOnForwardFailure=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"];
  const args = [
    ...["-F", "none", "-N", "-i", join(folder, "client"), "-p", String(port)],
    ...options.flatMap((option) => ["-o", option]),
    ...["-o", "ConnectionAttempts=20", "-R", `0:127.0.0.1:${device}`, `${userInfo().username}@127.0.0.1`],
  ];
  const child = processes.spawn("ssh", args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  for await (const part of (child.stderr as Readable).setEncoding("utf8")) {
    said += part;
    const opened = /Allocated port (\d+)/.exec(said)?.[1];
    if (opened) return Number(opened);
  }
  throw new Error(`ssh opened no tunnel: ${said.trim()}`);
}

/** The server's process for this one connection: the last of its descendants. */
function sessionOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return child ? sessionOf(Number(child)) : pid;
}
