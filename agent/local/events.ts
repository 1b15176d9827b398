/** Events of this machine for its own programs: report one, read the last. */
import { type EventList, type EventView, eventQuerySchema } from "@matrx/shared/api.ts";
import { check } from "@matrx/shared/caller-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type DeviceEvent, SEVERITIES } from "@matrx/shared/events.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import * as z from "zod";
import type { EventHub } from "../events/hub.ts";
import type { Answer } from "./answer.ts";
import { readJson, sendJson } from "./rest.ts";

/** Left for the counts that an event may get on its way. */
const COUNTS_BYTES = 128;

/** The body of `POST /trigger`. */
export const triggerSchema = z.looseObject({
  event_type: z.string().min(1).max(64).default("trigger"),
  severity: z.enum(SEVERITIES).default("info"),
});

/** `POST /trigger` of the guide: any JSON object becomes an event's data; fields of `data` stand beside the others. */
export const trigger: Answer = async (request, response, { hub }) => {
  const { event_type, severity, ...body } = check(triggerSchema, await readJson(request));
  const { data: inner, ...others } = body;
  const data = isObject(inner) ? { ...others, ...inner } : body;
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > LIMITS.eventDataBytes - COUNTS_BYTES) throw tooLarge(bytes);
  const { id, timestamp } = hub.emit({ type: event_type, severity, data });
  sendJson(response, 200, { id, event_type, timestamp, relay: hub.relay });
};

/** `GET /events`: the last events since this program began, as the relay's route shows them. */
export const listEvents: Answer = (request, response, { calls, hub }) => {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  const { after, limit } = check(eventQuerySchema, Object.fromEntries(query));
  const events = after === undefined ? viewsOf(hub).slice(-limit) : eventsAfter(after, hub).slice(0, limit);
  sendJson(response, 200, { device: calls.device, events, dropped: 0 } satisfies EventList);
};

/** The events after one of them; all if that is no longer kept. */
export function eventsAfter(after: string, hub: EventHub): EventView[] {
  const views = viewsOf(hub);
  return views.slice(views.findIndex(({ id }) => id === after) + 1);
}

function viewsOf(hub: EventHub): EventView[] {
  const events = hub.recent();
  const newest = new Map(events.map((event) => [`${event.event_type} ${event.key}`, event]));
  return events.map((event) => viewOf(event, newest.get(`${event.event_type} ${event.key}`) === event));
}

/** An event as callers see it; `isNewest`: of its type and key. */
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
  return new MatrxError({
    code: "PAYLOAD_TOO_LARGE",
    message: `An event can have at most ${limit} bytes of data; this one has ${bytes}`,
    hint: "Write large data to a file, and send its path",
    hop: "agent",
    details: { limit_bytes: limit },
  });
}
