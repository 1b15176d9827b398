/** How many files and connections the relay may have open at once: at its limit, workerd ends. */
import { spawnSync } from "node:child_process";
import { Problem } from "../problem.ts";

/** About fifty for itself, four for a device, two for each connection. */
const LEAST = 256;

/** What a child of ours may open; Node has raised it to the hard limit already. Undefined: no limit, or none that is told. */
export function descriptorLimit(): number | undefined {
  if (process.platform === "win32") return undefined;
  const told = spawnSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).stdout ?? "";
  return /^\d+$/.test(told.trim()) ? Number(told) : undefined;
}

/** Throws Problem when the limit is hopeless. */
export function requireDescriptors(limit = descriptorLimit()): void {
  if (limit === undefined || limit >= LEAST) return;
  throw new Problem(
    `Only ${limit} files and connections may be open at once here, but the relay needs at least ${LEAST}: raise the limit ` +
      "(`ulimit -n 4096` first; in a systemd unit LimitNOFILE=), and start again.",
  );
}

/** Why the relay ended, if its last words tell of too many connections. */
export function exhaustionIn(lastWords: string, limit = descriptorLimit()): string | undefined {
  if (!/too many open files/i.test(lastWords)) return undefined;
  const most = limit === undefined ? "" : ` (${limit} here)`;
  return `ran out of file descriptors${most}: more programs connected at once than the limit allows. Check who connects, or raise the limit with \`ulimit -n\``;
}
