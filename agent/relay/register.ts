/** What this machine says of itself when it registers (device document, Device Registration). */
import { readFileSync, statfsSync } from "node:fs";
import { arch, cpus, homedir, hostname, release, totalmem } from "node:os";
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import { PROTOCOL } from "@matrx/shared/tokens.ts";
import type { Manifest, ToolDescription } from "@matrx/shared/tool.ts";
import { AGENT_VERSION } from "../config/program.ts";

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

interface Registration {
  device: string;
  manifest: Manifest;
  journalId: string;
  /** What the journal knows of the relay's ledger. */
  ledger?: Pick<DeviceRegister, "ledger_id" | "last_calls"> | undefined;
  token: string;
}

export function registerFrame(registration: Registration): DeviceRegister {
  const { device, manifest, journalId, ledger, token } = registration;
  return {
    type: "device_register",
    device_id: device,
    ...describeMachine(),
    capabilities: capabilitiesOf(manifest.tools),
    metadata: describeHardware(),
    auth_token: `Bearer ${token}`,
    protocol: PROTOCOL,
    agent_version: AGENT_VERSION,
    manifest_hash: manifest.hash,
    journal_id: journalId,
    ...ledger,
  };
}

function describeHardware(): Record<string, unknown> {
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

/** The device document's four, and ours. */
export function capabilitiesOf(tools: readonly ToolDescription[]): Record<string, boolean> {
  const names = new Set(tools.filter((tool) => tool.unavailable === undefined).map(({ name }) => name));
  return {
    file_operations: names.has("Read") && names.has("Write"),
    app_control: names.has("open_app"),
    voice: false,
    homelab: false,
    shell: names.has("Bash"),
    screenshot: names.has("Screenshot"),
    processes: names.has("ListProcesses"),
  };
}
