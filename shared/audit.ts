/**
 * The record of an account: who did what on which machine. Each entry is chained to the one before by its hash, so that
 * nothing can be changed, dropped or reordered unnoticed (`audit-chain.ts`).
 */
import * as z from "zod";
import { approvalStateSchema, reachSchema } from "./approval.ts";
import { effectSchema } from "./effects.ts";
import { ERROR_CODES } from "./errors.ts";
import { credentialSchema } from "./grant.ts";
import { DEVICE_ID } from "./ids.ts";

const time = z.iso.datetime();
const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Who did it, as far as the relay knows. */
export const auditBySchema = z.object({
  grant: z.string(),
  name: z.string().optional(),
  credential: credentialSchema.optional(),
});
export type AuditBy = z.infer<typeof auditBySchema>;

const what = z.object({
  id: z.string().describe("What is told twice is written once, by this id"),
  at: time.describe("When it happened"),
  by: auditBySchema.optional(),
  device: z.string().optional(),
});

/** The parameters of a call. */
export const auditInputSchema = z
  .record(z.string(), z.string())
  .describe("The parameters, shortened and without secrets");

const called = z.object({
  call: z.string(),
  tool: z.string().optional().describe("Absent if the relay no longer knew it"),
  effect: effectSchema,
  input: auditInputSchema.optional(),
  code: z.enum(ERROR_CODES).optional(),
});

/** What a grant may do. */
export const auditMaySchema = z.record(z.string(), z.unknown()).describe("What it may do since");

/** A device's policy. */
export const auditPolicySchema = z
  .record(z.string(), z.unknown())
  .describe("The device's policy at the relay since");

/** How a person signed in. */
export const signInWaySchema = z.enum(["link", "passkey", "recovery_code", "invite", "oidc", "login"]);
export type SignInWay = z.infer<typeof signInWaySchema>;

const kinds = [
  /** A call that was sent, or that a person was asked about. `running`: it takes long, and another entry tells its end. */
  what.extend({
    type: z.literal("call"),
    ...called.shape,
    status: z.enum(["success", "error", "cancelled", "expired", "unknown", "running"]),
    exit: z.int().optional(),
    ms: z.number().optional(),
    bytes: z.int().optional(),
    preview: z.string().optional(),
  }),
  /** A call that grant, policy or rates refused. Equal ones within a minute are counted. */
  what.extend({
    type: z.literal("denied"),
    ...called.shape,
    message: z.string(),
    times: z.int().optional(),
  }),
  what.extend({
    type: z.literal("approval"),
    approval: z.string(),
    call: z.string(),
    tool: z.string(),
    effect: effectSchema,
    summary: z.string(),
    state: approvalStateSchema,
    decided_by: z.string().optional(),
    for: reachSchema.optional(),
    edited: z.boolean().optional(),
    note: z.string().optional(),
  }),
  what.extend({
    type: z.literal("grant"),
    action: z.enum(["created", "changed", "revoked"]),
    grant: z.string(),
    name: z.string(),
    credential: credentialSchema,
    may: auditMaySchema.optional(),
  }),
  what.extend({
    type: z.literal("policy"),
    policy: auditPolicySchema,
  }),
  what.extend({
    type: z.literal("device"),
    action: z.enum(["added", "renamed", "tagged", "removed"]),
    name: z.string(),
    tags: z.array(z.string()).optional(),
  }),
  what.extend({
    type: z.literal("session"),
    action: z.enum(["signed_in", "signed_out"]),
    grant: z.string(),
    name: z.string(),
    how: signInWaySchema.optional(),
  }),
  what.extend({
    type: z.literal("passkey"),
    action: z.enum(["added", "renamed", "removed"]),
    name: z.string(),
  }),
  /** At the relay's owner. `closed`: the account that came by it. */
  what.extend({
    type: z.literal("invite"),
    action: z.enum(["created", "withdrawn", "accepted", "closed"]),
    name: z.string(),
    account: z.string(),
  }),
  /** Made anew; earlier ones no longer work. */
  what.extend({ type: z.literal("recovery_codes") }),
  /** Everything that AI grants do was stopped, or may go on. */
  what.extend({ type: z.literal("pause"), paused: z.boolean() }),
  /** Calls that only read may be missing here: the relay was stopped, or could not write. */
  what.extend({
    type: z.literal("gap"),
    since: time,
    until: time,
    lost: z.int().optional().describe("How many, if that is known"),
  }),
  /** Entries up to and including `until` were deleted because of their age or number; `until_hash` is that of the last. */
  what.extend({ type: z.literal("pruned"), until: z.int(), until_hash: hash }),
] as const;

/** What happened, before it has its place in the record. */
export const auditDraftSchema = z.discriminatedUnion("type", kinds);
export type AuditDraft = z.infer<typeof auditDraftSchema>;
export type AuditType = AuditDraft["type"];
export const AUDIT_TYPES = kinds.map(({ shape }) => shape.type.value) as [AuditType, ...AuditType[]];

const place = z.object({
  seq: z.int().min(1).describe("1 for the first, then one more each"),
  prev: hash.describe("The hash of the entry before; zeros for the first"),
  hash: hash.describe(
    "SHA-256, in hex, of `prev` and the entry without `hash` as canonical JSON (RFC 8785), both as UTF-8",
  ),
});

/** An entry of the record. Those who verify must keep fields that they do not know: the hash covers them. */
export const auditEntrySchema = z.intersection(place, auditDraftSchema);
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** The end of the record. */
export const auditHeadSchema = z.object({
  account: z.string(),
  seq: z.int().min(0).describe("The last entry's; 0 if there is none"),
  hash,
  at: time.nullable().describe("When it was written"),
});
export type AuditHead = z.infer<typeof auditHeadSchema>;

/** `GET /v1/audit/head` */
export const signedHeadSchema = auditHeadSchema.extend({
  signed: z
    .string()
    .max(4096)
    .describe("The same as a JWT of the audience `matrx:audit-head`, signed with a key of the relay's JWKS"),
});
export type SignedHead = z.infer<typeof signedHeadSchema>;

const seq = z.coerce.number().pipe(z.int().min(0));

/** What a list of entries may be limited to. */
export const auditFilterSchema = z.object({
  device: z.string().max(64).regex(DEVICE_ID, "must be a device's id").optional(),
  grant: z
    .string()
    .regex(/^grant_[a-z0-9]{1,32}$/, "must be a grant's id")
    .optional(),
  type: z.enum(AUDIT_TYPES).optional(),
});
export type AuditFilter = z.infer<typeof auditFilterSchema>;

/** `GET /v1/audit`: with `after`, the oldest first; otherwise the newest first. */
export const auditQuerySchema = auditFilterSchema.extend({
  after: seq.optional(),
  before: seq.optional(),
  limit: z.coerce.number().pipe(z.int().min(1).max(500)).default(100),
});
export type AuditQuery = z.infer<typeof auditQuerySchema>;

export const auditPageSchema = z.object({
  entries: z.array(auditEntrySchema),
  next: z
    .int()
    .nullable()
    .describe(
      "Continue with it in place of `after` or `before`; null at the end. A page before may be short",
    ),
});

/** `GET /v1/audit/export` */
export const auditExportSchema = auditFilterSchema.extend({
  format: z.enum(["jsonl", "csv"]).default("jsonl"),
});
