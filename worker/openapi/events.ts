/** What a device reports by itself, and commands to its program. */
import { commandedSchema, eventListSchema, eventQuerySchema, newCommandSchema } from "@matrx/shared/api.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import { CALL, DEVICE } from "./parts.ts";

export const eventOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/events",
    id: "listEvents",
    tag: "Events",
    summary: "What the device reported",
    description: `The last ${LIMITS.eventsKept} are kept, the newest is last. A token that is limited to folders is refused.`,
    access: "caller",
    query: {
      after: {
        schema: eventQuerySchema.shape.after.unwrap(),
        description: "Only those after this event; if it is not kept any more, all that are",
      },
      limit: { schema: eventQuerySchema.shape.limit, description: "At most so many, the newest ones" },
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
    errors: ["INVALID_PARAMETERS"],
  },
  {
    method: "POST",
    path: "/v1/devices/{device}/commands",
    id: "sendCommand",
    tag: "Devices",
    summary: "Send a command to the device's program",
    access: "person",
    body: { schema: newCommandSchema, example: { command: "restart_client", reason: "Update available" } },
    answers: {
      202: {
        description: "The device's connection has it; whether the program obeyed, its state tells.",
        schema: commandedSchema,
        example: { device: DEVICE, command: "restart_client" },
      },
    },
    errors: ["DEVICE_OFFLINE"],
  },
];
