/** What a device reports by itself, and commands to its program. */
import { commandedSchema, eventListSchema, newCommandSchema } from "@matrx/shared/api.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { EVENTS_EXAMPLE, eventQuery } from "@matrx/shared/openapi/call-parts.ts";
import type { Operation } from "@matrx/shared/openapi/operation.ts";
import { DEVICE } from "./parts.ts";

export const eventOperations: readonly Operation[] = [
  {
    method: "GET",
    path: "/v1/devices/{device}/events",
    id: "listEvents",
    tag: "Events",
    summary: "What the device reported",
    description: `The last ${LIMITS.eventsKept} events, newest last. Tokens limited to folders are refused.`,
    access: "caller",
    query: eventQuery,
    answers: {
      200: {
        description: "Events",
        schema: eventListSchema,
        example: EVENTS_EXAMPLE,
      },
    },
    errors: ["INVALID_PARAMETERS", "RATE_LIMITED"],
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
        description:
          "Delivered to the device's connection; the device's state shows whether the program followed it.",
        schema: commandedSchema,
        example: { device: DEVICE, command: "restart_client" },
      },
    },
    errors: ["DEVICE_OFFLINE", "RATE_LIMITED"],
  },
];
