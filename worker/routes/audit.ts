/** The account's record, for its person: pages of it, its signed end, and all of it as a file. */
import {
  type AuditEntry,
  auditExportSchema,
  auditFilterSchema,
  auditPageSchema,
  auditQuerySchema,
  type SignedHead,
  signedHeadSchema,
} from "@matrx/shared/audit.ts";
import { CALL, DEVICE } from "@matrx/shared/caller/parts.ts";
import { check } from "@matrx/shared/json-input.ts";
import type { Parameter } from "@matrx/shared/openapi/operation.ts";
import type { Context } from "hono";
import { exported } from "../audit/export.ts";
import { signHead } from "../auth/audit-head.ts";
import type { RelayEnv, RelayRoute } from "../route.ts";

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const ENTRY: AuditEntry = {
  ...{ seq: 4112, prev: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", hash: HASH },
  ...{ id: `${CALL}:finished`, at: "2026-02-12T10:30:01.250Z", type: "call", device: DEVICE, call: CALL },
  by: { grant: "grant_4k7m2x9qpatr6w1z", name: "coding assistant", credential: "ai" },
  ...{ tool: "Bash", effect: "execute", input: { command: "make test" } },
  ...{ status: "success", exit: 0, ms: 1250, bytes: 2048, preview: "ok" },
};

const HEAD: SignedHead = {
  account: "owner",
  ...{ seq: 4112, hash: HASH, at: "2026-02-12T10:30:01.500Z" },
  signed: "eyJhbGciOiJFZERTQSIs...",
};

const FILTER: Readonly<Record<keyof typeof auditFilterSchema.shape, Parameter>> = {
  device: { schema: auditFilterSchema.shape.device, description: "Only entries about this device" },
  grant: {
    schema: auditFilterSchema.shape.grant,
    description: "Only what this grant did, or what was done to it",
  },
  type: { schema: auditFilterSchema.shape.type, description: "Only entries of this type" },
};

export const auditRoutes: readonly RelayRoute[] = [
  {
    method: "GET",
    path: "/v1/audit",
    id: "listAudit",
    tag: "Record",
    summary: "Entries of the record",
    description:
      "Who did what on which machine. With `after`, the oldest come first; otherwise the newest do. Entries are kept for 400 days, and at most a million of them.",
    access: "person",
    query: {
      after: {
        schema: auditQuerySchema.shape.after,
        description: "Entries after this `seq`, oldest first; 0 for all",
      },
      before: {
        schema: auditQuerySchema.shape.before,
        description: "Entries before this `seq`, newest first",
      },
      limit: { schema: auditQuerySchema.shape.limit, description: "At most this many" },
      ...FILTER,
    },
    answers: {
      200: {
        description: "Entries",
        schema: auditPageSchema,
        example: { entries: [ENTRY], next: null },
      },
    },
    errors: ["INVALID_PARAMETERS"],
    answer: async (c) => {
      const { entries, next } = await recordOf(c).page(check(auditQuerySchema, c.req.query()));
      const body = `{"entries":[${entries.join(",")}],"next":${next}}`;
      return c.body(body, 200, { "Content-Type": "application/json", "Cache-Control": "no-store" });
    },
  },
  {
    method: "GET",
    path: "/v1/audit/head",
    id: "getAuditHead",
    tag: "Record",
    summary: "The record's end, signed",
    description: "The account's devices get it too, at most once a minute, and keep the last thousand.",
    access: "person",
    answers: { 200: { description: "The head", schema: signedHeadSchema, example: HEAD } },
    answer: async (c) => {
      const head = await signHead(c.env, await recordOf(c).head());
      return c.json(head satisfies SignedHead, 200, { "Cache-Control": "no-store" });
    },
  },
  {
    method: "GET",
    path: "/v1/audit/export",
    id: "exportAudit",
    tag: "Record",
    summary: "The record as a file",
    description:
      "Oldest entry first, one line each. JSON lines can be verified; in CSV, cells that a spreadsheet would take for a formula begin with an apostrophe.",
    access: "person",
    query: {
      format: { schema: auditExportSchema.shape.format, description: "`jsonl` if absent" },
      ...FILTER,
    },
    answers: {
      200: {
        description: "The entries",
        other: {
          "application/x-ndjson": "One entry as JSON on each line",
          "text/csv": "With a line of headings",
        },
      },
    },
    errors: ["INVALID_PARAMETERS"],
    answer: (c) => {
      const { format, ...filter } = check(auditExportSchema, c.req.query());
      const type = format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson";
      return c.body(exported(recordOf(c), filter, format), 200, {
        "Content-Type": type,
        "Content-Disposition": `attachment; filename="matrx-record.${format}"`,
        "Cache-Control": "no-store",
      });
    },
  },
];

function recordOf(c: Context<RelayEnv>) {
  return c.env.AUDIT.getByName(c.var.caller.account);
}
