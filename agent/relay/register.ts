/** What this machine says when it registers (device document, Device Registration). */
import type { DeviceRegister } from "@matrx/shared/device-frames.ts";
import type { Paused } from "@matrx/shared/paused.ts";
import { PROTOCOL } from "@matrx/shared/tokens.ts";
import type { Manifest, ToolDescription } from "@matrx/shared/tool.ts";
import { AGENT_VERSION } from "../config/program.ts";
import { describeHardware, describeMachine } from "../platform/machine.ts";

interface Registration {
  device: string;
  manifest: Manifest;
  journalId: string;
  /** What the journal knows about the relay's ledger. */
  ledger?: Pick<DeviceRegister, "ledger_id" | "last_calls"> | undefined;
  /** Whom the machine is closed to. */
  paused?: Paused | undefined;
  token: string;
}

export function registerFrame(registration: Registration): DeviceRegister {
  const { device, manifest, journalId, ledger, paused, token } = registration;
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
    ...(paused && { paused }),
    heads_wanted: true,
  };
}

/** The device document's four capabilities, and ours. */
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
