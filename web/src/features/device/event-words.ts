/** Events of machines in words. What a machine named itself is shown as it is. */
import type { EventView } from "@matrx/shared/api.ts";
import type { Tone } from "../../ui/Status.tsx";
import { visibleLine } from "../../ui/visible-text.ts";

const TYPES = new Map([
  ["low_disk_space", "Low disk space"],
  ["high_cpu_usage", "High processor use"],
  ["new_file_detected", "File changed"],
  ["service_down", "Service down"],
  ["error_occurred", "Error"],
  ["identity_shared", "Two agents as one machine"],
  ["mount_changed", "MCP server changed"],
]);

export const SEVERITIES: ReadonlyMap<string, readonly [Tone, string]> = new Map([
  ["info", ["info", "Info"]],
  ["warning", ["warn", "Warning"]],
  ["critical", ["bad", "Critical"]],
]);

export function titleOf({ event_type: type }: EventView): string {
  return TYPES.get(type) ?? visibleLine(type.replaceAll("_", " "));
}

/** What an event is about: its key, or files, as `scan.pdf and 2 more in /home/ann/scans`. */
export function aboutOf({ event_type: type, key, data }: EventView): string | undefined {
  if ((type === "identity_shared" || type === "mount_changed") && typeof data.hint === "string")
    return data.hint;
  if (key !== null) return key;
  const { folder, count, files } = data;
  const path = Array.isArray(files) ? files[0]?.path : undefined;
  if (type !== "new_file_detected" || typeof path !== "string") return undefined;
  return `${path}${typeof count === "number" && count > 1 ? ` and ${count - 1} more` : ""} in ${folder}`;
}

/** The machine's clock and the relay's differ by more than a minute, or the machine's cannot be read. */
export function isElsewhen(timestamp: string, received: string): boolean {
  return !(Math.abs(Date.parse(timestamp) - Date.parse(received)) < 60_000);
}

/** Lists with one entry a line, records as `name: value, ...`. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(", ");
}
