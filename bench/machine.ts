/** The machine and the versions that the figures belong to. */
import { execFileSync } from "node:child_process";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { WORKERD } from "./workerd.ts";

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    kernel: release(),
    node: process.version,
    workerd: execFileSync(WORKERD, ["--version"], { encoding: "utf8" }).trim(),
  };
}

export type Machine = ReturnType<typeof describeMachine>;
