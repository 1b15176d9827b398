/** The device link (device document, and what our agent adds): one union per direction. */

import * as z from "zod";
import { signedHeadSchema } from "./audit.ts";
import { progressSchema } from "./content.ts";
import { ERROR_CODES } from "./errors.ts";
import { eventSchema } from "./events.ts";
import { grantScopeSchema } from "./grant.ts";
import type { GrantId } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { pausedSchema } from "./paused.ts";
import { policyLimitsSchema, policySchema } from "./policy.ts";
import { questionSchema } from "./question.ts";
import { opensSchema } from "./streams/opens.ts";
import { systemCommandNameSchema } from "./system-commands.ts";
import { manifestSchema } from "./tool.ts";

const timestamp = z.string().max(64);
const deviceId = z.string().min(1).max(128);
const toolCallId = z.string().min(1).max(128);
/** SHA-256 of everything that a decision is about: device, grant, directory, tool, input, paths, files, policy. */
const binding = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hex");

/** Device document 1. Device Registration, and what our agent adds. */
export const deviceRegisterSchema = z.object({
  type: z.literal("device_register"),
  device_id: deviceId,
  hostname: z.string().max(255).optional(),
  os: z.string().max(64).optional(),
  os_version: z.string().max(128).optional(),
  capabilities: z.record(z.string(), z.unknown()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  /** `Bearer <jwt>` (device document, Authentication), or the bare JWT. */
  auth_token: z.string().max(8192).optional(),
  /** Ours: version of this protocol. Absent: a bare device. */
  protocol: z.int().min(1).optional(),
  /** Ours: version of the agent's program. */
  agent_version: z.string().max(64).optional(),
  /** Ours: hash of the tool list; the relay asks for the body when it does not have it. */
  manifest_hash: z.string().max(128).optional(),
  /** Ours: name of the agent's journal. A new one means that earlier calls were forgotten. */
  journal_id: z.string().max(64).optional(),
  /** Ours: the relay's ledger that this device knew last. If it has changed, or misses the calls, the relay lost records. */
  ledger_id: z.string().max(64).optional(),
  /** Ours: the newest calls with an effect recorded in that ledger. */
  last_calls: z.array(toolCallId).max(LIMITS.lastCalls).optional(),
  /** Ours: whom the device's user closed it to; absent: to nobody. */
  paused: pausedSchema.optional(),
  /** Ours: send `audit_head`. */
  heads_wanted: z.boolean().optional(),
});

/** Device document 2. Device Heartbeat. Our agent sends the text `ping` instead. */
const deviceHeartbeatSchema = z.object({
  type: z.literal("device_heartbeat"),
  device_id: deviceId.optional(),
  timestamp: timestamp.optional(),
});

/** Device document 3. Tool Result: bare devices only; our agent answers in result frames. */
const toolResultSchema = z.object({
  type: z.literal("tool_result"),
  device_id: deviceId.optional(),
  tool_call_id: toolCallId,
  success: z.boolean(),
  result: z.unknown().optional(),
  error: z.object({ code: z.string().max(64).optional(), message: z.string() }).optional(),
  executed_at: timestamp.optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

/** Device document 5. User Query (Future). */
const userQuerySchema = z.object({
  type: z.literal("user_query"),
  device_id: deviceId.optional(),
  query: z.string(),
  timestamp: timestamp.optional(),
});

/** Device document, Backend to Client 4: a client that runs a model may send the chunks back. */
const llmResponseChunkSchema = z.object({
  type: z.literal("llm_response_chunk"),
  chunk: z.string(),
  complete: z.boolean(),
});

/** Ours: makes this connection the second one of a registered agent, for streams. Answered by `bulk_ready`. */
export const deviceBulkSchema = z.object({
  type: z.literal("device_bulk"),
  device_id: deviceId,
  auth_token: z.string().max(8192),
});
export type DeviceBulk = z.infer<typeof deviceBulkSchema>;

/** Device document, Error Responses: a device may report one too. */
const deviceErrorSchema = z.object({
  type: z.literal("error"),
  error_code: z.string().max(64),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  timestamp: timestamp.optional(),
});

/** Ours: the tool list, sent when the relay asked for it. */
const manifestFrameSchema = z.object({ type: z.literal("manifest"), ...manifestSchema.shape });

/** Ours: what the journal knows about calls that the relay asked about. `never`: not seen, so not run. */
const callStatusSchema = z.object({
  type: z.literal("call_status"),
  calls: z
    .array(z.object({ tool_call_id: toolCallId, state: z.enum(["never", "started", "finished", "unknown"]) }))
    .max(LIMITS.unansweredPerDevice),
});

/** Ours: asks for room for an answer of (about) this many bytes, which is ready or yet to be made. */
const creditRequestSchema = z.object({
  type: z.literal("credit_request"),
  tool_call_id: toolCallId,
  bytes: z.int().min(0).max(LIMITS.resultFrameBytes),
});
export type CreditRequest = z.infer<typeof creditRequestSchema>;

/** Ours: how far a call is, if its caller asked for live output. Lossy; only the newest counts. */
const toolProgressSchema = z.object({
  type: z.literal("tool_progress"),
  tool_call_id: toolCallId,
  ...progressSchema.shape,
});
export type ToolProgress = z.infer<typeof toolProgressSchema>;

/** Ours: whether a person must be asked about a call, and what they are asked. With `error` the call is refused. */
const toolPreparedSchema = z.object({
  type: z.literal("tool_prepared"),
  tool_call_id: toolCallId,
  ask: z.boolean(),
  /** Only somebody at the machine can decide; the relay cannot. */
  at: z.literal("machine").optional(),
  /** What the decision is about. Absent if nobody is asked. */
  binding: binding.optional(),
  question: questionSchema.optional(),
  error: z
    .object({
      code: z.enum(ERROR_CODES),
      message: z.string().max(8192),
      hint: z.string().max(8192).optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
export type ToolPrepared = z.infer<typeof toolPreparedSchema>;

/** Ours: somebody at the machine decided on a call that only they could decide on. */
const approvalDecidedSchema = z.object({
  type: z.literal("approval_decided"),
  tool_call_id: toolCallId,
  binding,
  allow: z.boolean(),
  /** To the caller, if it is denied. */
  note: z.string().max(1000).optional(),
});
export type ApprovalDecided = z.infer<typeof approvalDecidedSchema>;

/** Ours: whom the device's user closed it to, whenever that changes; null: to nobody. */
const deviceStatusSchema = z.object({
  type: z.literal("device_status"),
  paused: pausedSchema.nullable(),
});
export type DeviceStatus = z.infer<typeof deviceStatusSchema>;

/** What a device sends as text. Results and output of our agent are binary (`result-frame.ts`). */
export const fromDeviceSchema = z.discriminatedUnion("type", [
  deviceRegisterSchema,
  deviceBulkSchema,
  deviceHeartbeatSchema,
  toolResultSchema,
  eventSchema,
  userQuerySchema,
  llmResponseChunkSchema,
  deviceErrorSchema,
  manifestFrameSchema,
  callStatusSchema,
  creditRequestSchema,
  toolProgressSchema,
  toolPreparedSchema,
  approvalDecidedSchema,
  deviceStatusSchema,
]);
export type FromDevice = z.infer<typeof fromDeviceSchema>;
export type DeviceRegister = z.infer<typeof deviceRegisterSchema>;

/** The stream that a call opens: its number on the caller's connection, and the agent's first credit. */
const executeOpensSchema = opensSchema.extend({ connection: z.string().regex(/^[0-9a-f]{16}$/) });
export type ExecuteOpens = z.infer<typeof executeOpensSchema>;

/** Device document, Backend to Client 1. Tool Execute, with additions for our agent. */
const toolExecuteSchema = z.object({
  type: z.literal("tool_execute"),
  tool_call_id: toolCallId,
  tool: z.string(),
  /** Ours: the caller's name for the tool, if it is not the tool's own. */
  called: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()),
  /** Seconds, rounded up from the deadline. */
  timeout_sec: z.number().positive(),
  /** Ours: milliseconds from receipt until the tool is stopped. */
  timeout_ms: z.int().positive().optional(),
  /** Ours: the caller's id, which the agent writes into the answer. Absent: REST, the answer has none. */
  id: z.string().optional(),
  /** Ours: the caller's session. Absent: a new one just for this call. */
  session: z.string().optional(),
  grant: grantScopeSchema.optional(),
  /** Ours: the owner's policy for this device at the relay; absent: no limits there. */
  policy: policyLimitsSchema.optional(),
  /** Ours: the caller wants live output. */
  stream: z.boolean().optional(),
  /** Ours: the call opens a stream of bytes with its caller (`streams/frame.ts`). */
  opens: executeOpensSchema.optional(),
  /** Ours: the caller's idempotency key. The journal keeps it, in case the relay's storage loses the call. */
  idempotency_key: z.string().optional(),
  /** Ours: hash of tool and input: reusing a key or name with a different hash is a `CONFLICT`. */
  input_hash: z.string().optional(),
  /** Ours: answer from the journal only, never run: the relay fetches an outcome that it does not hold. */
  replay: z.boolean().optional(),
  /** Ours: a person allowed exactly this call; with another binding now, the agent refuses it. */
  approval: z.object({ id: z.string().max(64), binding }).optional(),
});
export type ToolExecute = z.infer<typeof toolExecuteSchema>;

/** Ours: check this call as for `tool_execute`, run nothing, and say whether a person must be asked. */
const toolPrepareSchema = z.object({
  type: z.literal("tool_prepare"),
  tool_call_id: toolCallId,
  ...toolExecuteSchema.pick({ tool: true, called: true, parameters: true, session: true, policy: true })
    .shape,
  grant: grantScopeSchema,
});
export type ToolPrepare = z.infer<typeof toolPrepareSchema>;

/** What a device may do under its policy at the relay. An absent list sets no limit. */
const permissionsSchema = z.object(
  policySchema.pick({ allowed_tools: true, allowed_paths: true, allowed_apps: true }).shape,
);
export type Permissions = z.infer<typeof permissionsSchema>;

/** Device document, Backend to Client 5. System Command. */
const systemCommandSchema = z.object({
  type: z.literal("system_command"),
  command: systemCommandNameSchema,
  reason: z.string().optional(),
  /** Ours: with `update_permissions`, the permissions that now apply, as in `device_registered`. */
  permissions: permissionsSchema.optional(),
});
export type SystemCommand = z.infer<typeof systemCommandSchema>;

const deviceRegisteredSchema = z.object({
  type: z.literal("device_registered"),
  device_id: deviceId,
  permissions: permissionsSchema,
  /** Ours: version of this protocol that the relay speaks. */
  protocol: z.int().optional(),
  /** Ours: send the manifest's body. */
  manifest_wanted: z.boolean().optional(),
  /** Ours: name of the relay's ledger for this device; it changes when records were lost. */
  ledger_id: z.string().max(64).optional(),
  /** Ours: ask for credit before an answer of more bytes than this. Absent: the relay knows no credit. */
  credit_above: z.int().positive().optional(),
  /** Ours: send `device_status`. Absent: the relay does not know it. */
  status_wanted: z.boolean().optional(),
  /** Ours: send `tool_progress`. Absent: the relay does not know it. */
  progress_wanted: z.boolean().optional(),
});

/** Device document, Error Responses. */
const relayErrorSchema = z.object({
  type: z.literal("error"),
  error_code: z.enum(ERROR_CODES),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  timestamp,
});

/** In `session_end`: the grants of all the relay's callers. */
export const EVERY_GRANT = "*" as GrantId;

/** What the relay sends to a device as text. */
export const toDeviceSchema = z.discriminatedUnion("type", [
  deviceRegisteredSchema,
  /** Ours: answers `device_bulk`. */
  z.object({ type: z.literal("bulk_ready") }),
  z.object({ type: z.literal("heartbeat_ack"), timestamp }),
  toolExecuteSchema,
  toolPrepareSchema,
  /** Ours: stop a call; the agent answers it with `CANCELLED`. */
  z.object({ type: z.literal("tool_cancel"), tool_call_id: toolCallId }),
  /** Ours: asks which of these calls the journal has seen. */
  z.object({ type: z.literal("call_status"), tool_call_ids: z.array(toolCallId) }),
  /** Ours: the outcome of these calls is durable at the relay. */
  z.object({ type: z.literal("result_ack"), tool_call_ids: z.array(toolCallId) }),
  /** Ours: the readers of these answers have room now. */
  z.object({ type: z.literal("credit"), tool_call_ids: z.array(toolCallId) }),
  /**
   * Ours: the grant was revoked; its sessions and jobs end. `commands`: it was narrowed; what its commands left running ends.
   * Of `EVERY_GRANT` only commands end: the relay's policy was narrowed.
   */
  z.object({
    type: z.literal("session_end"),
    grant: z.string(),
    only: z.literal("commands").optional(),
  }),
  /** Ours: the end of the account's record; kept, so that whoever changes the record later is found out. */
  signedHeadSchema.extend({ type: z.literal("audit_head") }),
  systemCommandSchema,
  relayErrorSchema,
  /** Device document, Backend to Client 2: answers `user_query`. */
  z.object({ type: z.literal("assistant_response"), response: z.string(), timestamp }),
  /** Device document, Backend to Client 3: not sent yet. */
  z.object({
    type: z.literal("llm_request"),
    prompt: z.string(),
    model: z.string().optional(),
    stream: z.boolean().optional(),
  }),
  llmResponseChunkSchema,
]);
export type ToDevice = z.infer<typeof toDeviceSchema>;
