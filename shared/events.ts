/** What a device reports by itself (device document, 4. Device Event). */
import * as z from "zod";

export const EVENT_TYPES = [
  "low_disk_space",
  "high_cpu_usage",
  "new_file_detected",
  "service_down",
  "error_occurred",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Device document 4. Device Event, and what our agent adds. A device may report types of its own. */
export const eventSchema = z.object({
  type: z.literal("event"),
  device_id: z.string().min(1).max(128).optional(),
  event_type: z.string().min(1).max(64),
  severity: z.string().max(32).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  timestamp: z.string().max(64).optional(),
  /** Ours: UUIDv7. The same event sent again, after a link dropped, is kept once. */
  id: z.uuid().optional(),
  /** Ours: what it is about, such as a drive or a service; an event that resolves carries the key of the one it ends. */
  key: z.string().min(1).max(256).optional(),
  /** Ours: what was reported under this type and key is over. */
  resolved: z.literal(true).optional(),
});
export type DeviceEvent = z.infer<typeof eventSchema>;
