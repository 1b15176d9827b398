/** What this machine can do at this moment, for its registration (device document, Device Registration). */
import type { ToolDescription } from "@matrx/shared/tool.ts";

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
