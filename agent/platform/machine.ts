/** What this machine is: its name, system and hardware. */
import { readFileSync, statfsSync } from "node:fs";
import { arch, cpus, homedir, hostname, release, totalmem } from "node:os";

const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "macOS",
  linux: "Linux",
  win32: "Windows",
};

const GiB = 1024 ** 3;

/** Host name and system, as pairing and registration show them. */
export function describeMachine(): { hostname: string; os: string; os_version: string } {
  return {
    hostname: hostname().slice(0, 255),
    os: OS_NAMES[process.platform] ?? process.platform,
    os_version: (linuxName() ?? release()).slice(0, 128),
  };
}

/** Facts that a device list may show; units are in the names. */
export function describeHardware(): Record<string, unknown> {
  const disk = diskBytes();
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    arch: arch(),
    ram_gb: Math.round(totalmem() / GiB),
    ...(disk !== undefined && { disk_gb: Math.round(disk / GiB) }),
  };
}

/** Undefined: the user has no home folder, as some services do. */
function diskBytes(): number | undefined {
  try {
    const { blocks, bsize } = statfsSync(homedir());
    return blocks * bsize;
  } catch {
    return undefined;
  }
}

function linuxName(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  } catch {
    return undefined;
  }
}
