/** OpenSSH's server and its reverse tunnel, with keys of the run's own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { findPort } from "../scripts/start/port.ts";
import { type Processes, pidOf } from "./processes.ts";

const SSHD = "/usr/sbin/sshd";
/** Where sshd wants an empty folder when root starts it. */
const PRIVILEGE_SEPARATION = "/run/sshd";

/** Options of a client that knows no host and asks nothing. */
const CLIENT = ["-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"];

/** A server, and the key that opens it. */
export interface SshServer {
  readonly pid: number;
  readonly port: number;
  readonly key: string;
}

/** Why there is no OpenSSH server on this machine, or undefined. */
export function noSshServer(): string | undefined {
  if (!existsSync(SSHD)) return "OpenSSH's server is not installed (Debian: openssh-server)";
  return undefined;
}

/** The same for terminals: unless devpts gives new ones to the group tty, sshd has to, which only root may do. */
export function noSshTerminals(): string | undefined {
  const why = noSshServer();
  if (why || process.platform !== "linux" || userInfo().uid === 0) return why;
  const isGiven = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .some((line) => /\sdevpts\s\S*\bgid=/.test(line));
  return isGiven ? undefined : "Here sshd can open terminals only as root: devpts is mounted without gid=";
}

/** `name`: of its folder in the run's. */
export async function startSshServer(processes: Processes, name: string): Promise<SshServer> {
  const folder = join(processes.folder, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const key of ["host", "client"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, key)]);
  const { port } = await findPort(0);
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
    "Subsystem sftp internal-sftp",
    "LogLevel ERROR",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const child = processes.spawn(SSHD, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "inherit"] });
  return { pid: pidOf(child, "sshd"), port, key: join(folder, "client") };
}

/** Resolves with the port that the server opened for the device's own. */
export async function startReverseTunnel(
  processes: Processes,
  { port, key }: SshServer,
  device: number,
): Promise<number> {
  const args = [
    ...[...CLIENT, "-N", "-i", key, "-p", String(port), "-o", "ExitOnForwardFailure=yes"],
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

/** Arguments with which scp reaches a server at this port. */
export function scpArguments({ key }: SshServer, port: number): string[] {
  return [...CLIENT, "-q", "-i", key, "-P", String(port)];
}

/** Arguments with which ssh reaches a server at this port. */
export function sshArguments({ key }: SshServer, port: number): string[] {
  return [...CLIENT, "-q", "-i", key, "-p", String(port), `${userInfo().username}@127.0.0.1`];
}

/** A path behind a server, as scp writes it. */
export function scpPath(path: string): string {
  return `${userInfo().username}@127.0.0.1:${path}`;
}
