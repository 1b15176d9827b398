/** Events of this machine for its own programs: reporting one, reading the latest. */
import type { EventList, EventQuery, EventView } from "@matrx/shared/api.ts";
import { CALL } from "@matrx/shared/caller/parts.ts";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { type DeviceEvent, SEVERITIES } from "@matrx/shared/events.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import * as z from "zod";
import type { EventHub } from "../events/hub.ts";

/** Reserved for the counts that may be added to an event later. */
const COUNTS_BYTES = 128;

/** The body of `POST /trigger`. */
export const triggerSchema = z.looseObject({
  event_type: z.string().min(1).max(64).default("trigger"),
  severity: z.enum(SEVERITIES).default("info"),
});

export const triggeredSchema = z.object({
  id: z.string(),
  event_type: z.string(),
  timestamp: z.iso.datetime(),
  relay: z.enum(["connected", "waiting", "none"]),
});

export const triggerOperation: Operation = {
  method: "POST",
  path: "/trigger",
  id: "trigger",
  tag: "Events",
  summary: "Report an event",
  description: "All other fields become its data.",
  access: "caller",
  body: {
    schema: triggerSchema,
    example: { event_type: "backup_done", severity: "info", data: { files: 120 } },
    optional: true,
  },
  answers: {
    200: {
      description: "The event, and whether it is sent to the relay now, later, or not at all",
      schema: triggeredSchema,
      example: {
        id: CALL,
        event_type: "backup_done",
        timestamp: "2026-02-12T10:45:00.000Z",
        relay: "connected",
      },
    },
  },
};

/** Makes an event from a body; the fields of `data` are beside the others. Throws MatrxError. */
export function trigger(
  hub: EventHub,
  { event_type, severity, ...body }: z.infer<typeof triggerSchema>,
): z.infer<typeof triggeredSchema> {
  const { data: inner, ...others } = body;
  const data = isObject(inner) ? { ...others, ...inner } : body;
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > LIMITS.eventDataBytes - COUNTS_BYTES) throw tooLarge(bytes);
  const { id = "", timestamp = "" } = hub.emit({ type: event_type, severity, data });
  return { id, event_type, timestamp, relay: hub.relay };
}

/** The latest events since this program started, in the relay's format. */
export function eventList(device: string, hub: EventHub, { after, limit }: EventQuery): EventList {
  const events = after === undefined ? viewsOf(hub).slice(-limit) : eventsAfter(after, hub).slice(0, limit);
  return { device, events, dropped: 0 };
}

/** The events after a given one; all if that is no longer kept. */
export function eventsAfter(after: string, hub: EventHub): EventView[] {
  const views = viewsOf(hub);
  return views.slice(views.findIndex(({ id }) => id === after) + 1);
}

function viewsOf(hub: EventHub): EventView[] {
  const events = hub.recent();
  const newest = new Map(events.map((event) => [`${event.event_type} ${event.key}`, event]));
  return events.map((event) => viewOf(event, newest.get(`${event.event_type} ${event.key}`) === event));
}

/** An event as callers see it; `isNewest`: the newest of its type and key. */
export function viewOf(event: DeviceEvent, isNewest: boolean): EventView {
  const { id = "", event_type, key, severity, data = {}, resolved = false, timestamp = "" } = event;
  const open = key !== undefined && !resolved && isNewest;
  const facts = { id, event_type, severity: severity ?? null, key: key ?? null, data, resolved, open };
  return { ...facts, timestamp, received: timestamp, dropped: 0 };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tooLarge(bytes: number): MatrxError {
  const limit = LIMITS.eventDataBytes - COUNTS_BYTES;
  const message = `An event can have at most ${limit} bytes of data; this one has ${bytes}`;
  return agentError("PAYLOAD_TOO_LARGE", message, {
    hint: "Write large data to a file, and send its path",
    details: { limit_bytes: limit },
  });
}
