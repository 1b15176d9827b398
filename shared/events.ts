/** Events that a device reports (device document, 4. Device Event). */
import * as z from "zod";
import type { ErrorShape } from "./errors.ts";
import type { GrantScope } from "./grant.ts";

export const EVENT_TYPES = [
  "low_disk_space",
  "high_cpu_usage",
  "new_file_detected",
  "service_down",
  "error_occurred",
] as const;

export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How bad it is, the higher the worse; -1 for a word that is not ours. */
export function severityRank(severity: string | null | undefined): number {
  return (SEVERITIES as readonly (string | null | undefined)[]).indexOf(severity);
}

/**
 * Device document 4. Device Event, and what our agent adds. A device may report its own types, and may use our field names
 * for something else: values that are not ours are ignored.
 */
export const eventSchema = z.object({
  type: z.literal("event"),
  device_id: z.string().min(1).max(128).optional(),
  event_type: z.string().min(1).max(64),
  severity: z.string().max(32).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  timestamp: z.string().max(64).optional(),
  /** Ours: UUIDv7, which makes resending an event after a dropped link idempotent. */
  id: z.uuidv7().optional().catch(undefined),
  /** Ours: what it is about, such as a drive or a service; a resolving event carries the key of the condition that it ends. */
  key: z.string().min(1).max(256).optional().catch(undefined),
  /** Ours: the condition of this type and key is over. */
  resolved: z.boolean().optional().catch(undefined),
});
export type DeviceEvent = z.infer<typeof eventSchema>;

/** Decides whether a grant may read a device's events. Returns the refusal, or undefined. */
export function eventRefusal({ effects, paths }: GrantScope): ErrorShape | undefined {
  if (effects.includes("read") && !paths) return undefined;
  return {
    code: "PERMISSION_DENIED",
    message: paths
      ? "This token is limited to folders, but events name files and services outside them"
      : 'Reading events needs the permission "read"',
    hint: "Use a token that may read and isn't limited to folders",
    hop: "relay",
  };
}
