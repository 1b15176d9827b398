/** Parameters, answers and examples that several routes share. */
import * as z from "zod";
import { type callViewSchema, problemSchema } from "../api.ts";
import { familiesSchema } from "../family-schemas.ts";
import { DEVICE_ID } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { pendingCallSchema } from "../openapi/bodies.ts";
import type { Answer, Parameter } from "../openapi/operation.ts";
import { CALL_HEADER, SESSION_HEADER } from "../tokens.ts";
import { DEFAULT_FAMILIES, FAMILIES } from "../tool-families.ts";
import { toolFormatSchema } from "../tool-formats.ts";
import { callSchema } from "./from-caller.ts";
import { answerSchema } from "./to-caller.ts";

export const DEVICE = "laptop-4k7m2x9qpa";
export const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75";

/** Parameters in paths, by name. */
export const PATH = {
  device: {
    schema: z.string().regex(DEVICE_ID),
    description: "A device's id, as `GET /v1/devices` lists it",
    example: DEVICE,
  },
  call: { schema: z.uuidv7(), description: "A call's name, from `Matrx-Call` or an answer", example: CALL },
  tool: {
    schema: z.string().min(1).max(128),
    description: "A tool's name, or its `local_*` alias",
    example: "Bash",
  },
  upload: {
    schema: z.string().min(1).max(64),
    description: "An unfinished upload",
    example: "upload_0123456789abcdefghjk",
  },
  path: {
    schema: z.string().min(1).max(8192),
    description: "A path on the device, each part percent-encoded; the rest of the URL",
    example: "home/ann/report.pdf",
  },
} satisfies Record<string, Parameter>;

/** The query parameter for a call's deadline, with the limits of the schema that checks it. */
export const timeoutMs: Parameter = {
  schema: callSchema.shape.timeout_ms.unwrap(),
  description: "Deadline of the whole call, in milliseconds; the tool's own time limit applies too.",
  example: 120_000,
};

/** Which tools a model is shown. */
export const TOOLS: Parameter = {
  schema: familiesSchema,
  description: `For models: only these families, of ${FAMILIES.join(", ")}, or \`all\`; if absent, those of the grant, else ${DEFAULT_FAMILIES.join(", ")}`,
  example: "files,shell",
};

/** Lists of tools for models. */
export const FORMAT: Readonly<Record<string, Parameter>> = {
  format: {
    schema: toolFormatSchema,
    description:
      "Definitions in the format of a model's API, of the tools that the credential and the device's policy allow",
    example: "openai",
  },
  tools: TOOLS,
};

/** Headers of a call over REST. */
export const CALL_HEADERS: Readonly<Record<string, Parameter>> = {
  "Idempotency-Key": {
    schema: z.string().min(1).max(LIMITS.idempotencyKeyChars),
    description:
      "With the same key, grant and device, a call gives the same outcome for 24 hours and doesn't run again.",
    example: "build-42",
  },
  [CALL_HEADER]: {
    schema: z.uuidv7(),
    description:
      "Your own name for the call: a UUIDv7 of the current time, in lower case. If no answer comes, ask for the call's record by this name. A name the device already knows is a `CONFLICT`.",
    example: CALL,
  },
  [SESSION_HEADER]: {
    schema: z.string().regex(/^(new|[0-9a-f]{16})$/),
    description:
      "`new`, or the id that an earlier answer returned. Calls in one session share a working directory and a history of reads; without it, each call has its own session.",
    example: "new",
  },
};

/** How long to wait for a call (RFC 7240). */
export const PREFER: Parameter = {
  schema: z.string(),
  description:
    "`wait=SECONDS`: if the call takes longer, answer with its name: 202, or the event `pending`. At most 60 seconds, event streams an hour; without it 60 seconds, and event streams wait for the end.",
  example: "wait=30",
};

/** Headers of a call's answer. */
export const ANSWER_HEADERS: Readonly<Record<string, Parameter>> = {
  [CALL_HEADER]: { schema: z.string(), description: "The call's name" },
  [SESSION_HEADER]: { schema: z.string(), description: "The session, if one was asked for" },
};

export const EVENTS = {
  "text/event-stream":
    "Events of the call: `call`, then `approval`, `output` and `gap`, finally `result`, `error` or `pending`",
};

export const CALL_EXAMPLE = { tool: "Bash", input: { command: "make test" }, timeout_ms: 120_000 };

export const ANSWER_EXAMPLE = {
  type: "success",
  output: "all tests passed\n",
  call: CALL,
  device: DEVICE,
  image: null,
  metadata: { exit_code: 0 },
};

export const PENDING: Answer = {
  description:
    "It takes longer than 60 seconds. The call keeps running, or waits for a person's `approval`; its record, at `url`, will have the outcome.",
  schema: pendingCallSchema,
  example: { call: CALL, state: "accepted", url: `/v1/devices/${DEVICE}/calls/${CALL}` },
  headers: {
    ...ANSWER_HEADERS,
    Location: { schema: z.string(), description: "The call's record", required: true },
  },
};

/** The answer to a body that is not a call, on the guide's routes. */
export const MALFORMED_CALL: Answer = {
  description: "The body is not a call; in the guide's shape. Other errors are problem+json.",
  schema: answerSchema,
  example: {
    ...{ type: "error", output: "input: must be an object", image: null, metadata: { field: "input" } },
    ...{ code: "INVALID_PARAMETERS", hint: "Correct the field and send it again", hop: "relay" },
  },
  other: { "application/problem+json": problemSchema },
};

export const CALL_VIEW_EXAMPLE: z.infer<typeof callViewSchema> = {
  call: CALL,
  device: DEVICE,
  tool: "Bash",
  state: "finished",
  created: "2026-02-12T10:30:00.000Z",
  deadline: "2026-02-12T10:32:00.000Z",
  finished: "2026-02-12T10:30:05.000Z",
  status: "success",
  code: null,
  outcome_in: "here",
  outcome: { type: "success", output: "all tests passed\n", metadata: { exit_code: 0 } },
};
