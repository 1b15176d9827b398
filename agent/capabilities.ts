/** What this machine can do at this moment, for its registration: looked up without loading what does it. */
import { findProgram } from "./platform/find-program.ts";
import type { Platform } from "./platform/platform.ts";
import type { Tool } from "./tool.ts";

/** The device document's four, and ours. */
export function capabilitiesOf(
  tools: readonly Tool[],
  { desktop }: Platform,
  env: NodeJS.ProcessEnv,
): Record<string, boolean> {
  const names = new Set(tools.map((tool) => tool.name));
  const hasDisplay = desktop.hasDisplay(env);
  const hasCamera = () =>
    isInstalled("node-screenshots") ||
    desktop.cameras(undefined, env).some(({ program }) => findProgram(program, env) !== undefined);
  return {
    file_operations: names.has("Read") && names.has("Write"),
    app_control: names.has("open_app") && hasDisplay,
    voice: false,
    homelab: false,
    shell: names.has("Bash"),
    screenshot: names.has("Screenshot") && hasDisplay && hasCamera(),
    processes: names.has("ListProcesses"),
  };
}

function isInstalled(library: string): boolean {
  try {
    import.meta.resolve(library);
    return true;
  } catch {
    return false;
  }
}
