/** What calls and events have in common on the relay and on the local server. */
import * as z from "zod";
import { eventQuerySchema, problemSchema } from "../api.ts";
import { callSchema } from "../caller/from-caller.ts";
import { answerSchema } from "../caller/to-caller.ts";
import { LIMITS } from "../limits.ts";
import { toolFormatSchema } from "../tool-formats.ts";
import type { Answer, Parameter } from "./operation.ts";

/** The longest deadline in words of the schema that checks it. */
export const timeoutMs: Parameter = {
  schema: callSchema.shape.timeout_ms.unwrap(),
  description: "Deadline of the whole call, in milliseconds; the tool's own time limit applies too.",
  example: 120_000,
};

export const idempotencyKey: Parameter = {
  schema: z.string().min(1).max(LIMITS.idempotencyKeyChars),
  description:
    "With the same key, grant and device, a call gives the same outcome for 24 hours and doesn't run again.",
  example: "build-42",
};

/** Lists of tools for models. */
export const toolFormat: Parameter = {
  schema: toolFormatSchema,
  description:
    "Definitions in the format of a model's API, of the tools that the credential and the device's policy allow",
  example: "openai",
};

/** Names the call, on every answer of a tool. */
export const matrxCall: Parameter = {
  schema: z.string(),
  description: "The call's name",
};

/** Names the call before it is made. */
export const chosenCall: Parameter = {
  schema: z.uuidv7(),
  description:
    "Your own name for the call: a UUIDv7 of the current time, in lower case. If no answer comes, ask for the call's record by this name. A name the device already knows is a `CONFLICT`.",
  example: "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75",
};

export const CALL_EXAMPLE = { tool: "Bash", input: { command: "make test" }, timeout_ms: 120_000 };

export const ANSWER_EXAMPLE = {
  type: "success",
  output: "all tests passed\n",
  call: "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75",
  device: "laptop-4k7m2x9qpa",
  image: null,
  metadata: { exit_code: 0 },
};

/** A body that is no call, on the guide's routes. */
export const MALFORMED_CALL: Answer = {
  description: "The body is not a call; in the guide's shape. Other errors are problem+json.",
  schema: answerSchema,
  example: {
    ...{ type: "error", output: "input: must be an object", image: null, metadata: { field: "input" } },
    ...{ code: "INVALID_PARAMETERS", hint: "Correct the field and send it again", hop: "relay" },
  },
  other: { "application/problem+json": problemSchema },
};

export const eventQuery: Readonly<Record<string, Parameter>> = {
  after: {
    schema: eventQuerySchema.shape.after.unwrap(),
    description: "Only events after this one; if it is no longer kept, all of them",
  },
  limit: { schema: eventQuerySchema.shape.limit, description: "At most this many" },
};

export const EVENTS_EXAMPLE = {
  device: "laptop-4k7m2x9qpa",
  events: [
    {
      id: "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75",
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
};

/** An upgrade that went well; the body is the link itself. */
export const switched = (link: string): Answer => ({
  description: `The connection is a WebSocket now: the ${link}, see docs/protocol.md.`,
  headers: {
    Upgrade: { schema: z.literal("websocket"), description: "As requested", required: true },
  },
});
