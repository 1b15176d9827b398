/** Parameters and examples that several of the relay's routes share. */
import type { callViewSchema } from "@matrx/shared/api.ts";
import { DEVICE_ID } from "@matrx/shared/ids.ts";
import { pendingCallSchema } from "@matrx/shared/openapi/bodies.ts";
import { chosenCall, idempotencyKey, matrxCall } from "@matrx/shared/openapi/call-parts.ts";
import type { Answer, Parameter } from "@matrx/shared/openapi/operation.ts";
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import * as z from "zod";

export const DEVICE = "laptop-4k7m2x9qpa";
export const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75";
export const GRANT = "grant_4k7m2x9qpatr6w1z";
export const CODE = "7K2M-9XQP";

/** Parameters in paths, by name. */
export const PATH = {
  device: {
    schema: z.string().regex(DEVICE_ID),
    description: "A device's id, as `GET /v1/devices` lists it",
    example: DEVICE,
  },
  call: { schema: z.uuidv7(), description: "A call's name, from `Matrx-Call` or an answer", example: CALL },
  grant: { schema: z.string(), description: "A token's id, as `GET /v1/tokens` lists it", example: GRANT },
  tool: {
    schema: z.string().min(1).max(128),
    description: "A tool's name, or its `local_*` alias",
    example: "Bash",
  },
  code: {
    schema: z.string(),
    description: "The code that the machine or the command line shows; dashes and case don't matter",
    example: CODE,
  },
} satisfies Record<string, Parameter>;

/** Headers of a call over REST. */
export const CALL_HEADERS: Readonly<Record<string, Parameter>> = {
  "Idempotency-Key": idempotencyKey,
  [CALL_HEADER]: chosenCall,
  [SESSION_HEADER]: {
    schema: z.string().regex(/^(new|[0-9a-f]{16})$/),
    description:
      "`new`, or the id that an earlier answer returned. Calls in one session share a working directory and a history of reads; without it, each call has its own session.",
    example: "new",
  },
};

/** Headers of a call's answer. */
export const ANSWER_HEADERS: Readonly<Record<string, Parameter>> = {
  [CALL_HEADER]: matrxCall,
  [SESSION_HEADER]: { schema: z.string(), description: "The session, if one was asked for" },
};

export const PENDING: Answer = {
  description:
    "It takes longer than 60 seconds. The call keeps running; its record, at `url`, will have the outcome.",
  schema: pendingCallSchema,
  example: { call: CALL, state: "accepted", url: `/v1/devices/${DEVICE}/calls/${CALL}` },
  headers: {
    ...ANSWER_HEADERS,
    Location: { schema: z.string(), description: "The call's record", required: true },
  },
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

export const DEVICE_VIEW_EXAMPLE = {
  id: DEVICE,
  name: "laptop",
  kind: "agent",
  state: "ONLINE",
  last_seen: "2026-02-12T10:30:00.000Z",
  proof: { at: "2026-02-12T10:29:58.000Z", verdict: "success", tool: "SystemInfo", ms: 12.5 },
  hostname: "ann-laptop",
  os: "Linux",
  os_version: "Debian GNU/Linux 13",
  agent_version: "0.1.0",
  created: "2026-01-01T09:00:00.000Z",
};
