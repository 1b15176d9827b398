/** The route for events that a device reported. */
import { eventListSchema, eventQuerySchema } from "../api.ts";
import { check } from "../json-input.ts";
import { LIMITS } from "../limits.ts";
import { CALL, DEVICE } from "./parts.ts";
import type { CallerPort } from "./port.ts";
import type { CallerRoute } from "./route.ts";

export const eventsRoute: CallerRoute<CallerPort> = {
  method: "GET",
  path: "/events",
  id: "listEvents",
  tag: "Events",
  summary: "What the device reported",
  description: `The last ${LIMITS.eventsKept} events, newest last. Tokens limited to folders are refused.`,
  access: "caller",
  query: {
    after: {
      schema: eventQuerySchema.shape.after.unwrap(),
      description: "Only events after this one; if it is no longer kept, all of them",
    },
    limit: { schema: eventQuerySchema.shape.limit, description: "At most this many" },
  },
  answers: {
    200: {
      description: "Events",
      schema: eventListSchema,
      example: {
        device: DEVICE,
        events: [
          {
            id: CALL,
            event_type: "low_disk_space",
            severity: "warning",
            key: "/",
            data: { drive: "/", free_gb: 5.2 },
            resolved: false,
            open: true,
            timestamp: "2026-02-12T10:45:00Z",
            received: "2026-02-12T10:45:00.120Z",
            dropped: 0,
          },
        ],
        dropped: 0,
      },
    },
  },
  errors: ["INVALID_PARAMETERS", "RATE_LIMITED"],
  answer: async (port, request) => Response.json(await port.events(check(eventQuerySchema, request.query()))),
};
