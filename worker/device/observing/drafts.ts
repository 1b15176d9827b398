/** What the record is told of a call. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { AuditBy, AuditDraft } from "@matrx/shared/audit.ts";
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { type Effect, effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { type ErrorShape, isErrorCode } from "@matrx/shared/errors.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { answerPreview, previewOf, questionPreview } from "@matrx/shared/redact.ts";
import type { Holder, Lease } from "../leases.ts";
import type { PendingCall } from "../ledger/call.ts";
import { InputPreview } from "../ledger/input-preview.ts";
import type { AuditedRow } from "../ledger/ledger.ts";
import type { CallEnd } from "./call-end.ts";

type CallDraft = Extract<AuditDraft, { type: "call" }>;

/** A tool's name in an entry, in characters: a caller may write anything. */
const TOOL_CHARS = 128;

/** What a ledger's row keeps for the record. */
interface KeptFacts {
  holder?: Holder | undefined;
  input?: Record<string, string>;
}

/** The text that a ledger's row keeps for the record. */
export function keptFacts({ holder, input }: PendingCall): string {
  const kept: KeptFacts = input ? { holder, input: input.parameters } : {};
  return JSON.stringify(kept);
}

/** A call with a row; none if it is from before there was a record. */
export function callDraft(row: AuditedRow | undefined, device: string): CallDraft[] {
  if (!row?.audit) return [];
  const { call, grant_id, tool, state, finished, created, code, exit, ms, bytes, preview } = row;
  const { holder, input } = JSON.parse(row.audit) as KeptFacts;
  return [
    {
      ...{ type: "call", id: `${call}:${state}`, at: iso(finished ?? created), device, call },
      by: byOf(grant_id, holder),
      ...(tool && { tool: tool.slice(0, TOOL_CHARS) }),
      effect: row.effect as Effect,
      ...(input && { input }),
      status: statusOf(row),
      ...(isErrorCode(code) && { code }),
      ...(exit !== null && { exit }),
      ...(ms !== null && { ms }),
      ...(bytes !== null && { bytes }),
      ...(preview && { preview: answerPreview(tool ?? undefined, preview) }),
    },
  ];
}

/** A call without a row that ended. */
export function endDraft(
  pending: PendingCall,
  { status, code, exit, ms, bytes, preview }: CallEnd,
  { device, holder }: { device: string; holder: Holder | undefined },
  now: number,
): CallDraft {
  return {
    ...begunDraft(pending, { device, holder }, now),
    ...{ id: `${pending.call}:finished`, status, ms },
    ...(code && { code }),
    ...(exit !== undefined && { exit }),
    ...(bytes !== undefined && { bytes }),
    ...(preview && { preview: answerPreview(pending.tool, preview) }),
  };
}

/** A call that goes on for long: another entry tells its end. */
export function begunDraft(
  { call, tool, effect, grant, input }: PendingCall,
  { device, holder }: { device: string; holder: Holder | undefined },
  now: number,
): CallDraft {
  return {
    ...{
      type: "call",
      id: `${call}:running`,
      at: iso(now),
      by: byOf(grant, holder),
      device,
      call,
    },
    ...(tool && { tool }),
    effect,
    ...(input && { input: input.parameters }),
    status: "running",
  };
}

/** A call that was refused before anything was sent. */
export function deniedDraft(
  wanted: WantedCall,
  lease: Lease,
  { code, message }: Pick<ErrorShape, "code" | "message">,
  device: string,
  now: number,
): Extract<AuditDraft, { type: "denied" }> {
  const tool = toolNameOf(wanted.tool).slice(0, TOOL_CHARS);
  const { scope, holder } = lease;
  return {
    ...{ type: "denied", id: `${wanted.call}:denied`, at: iso(now), by: byOf(scope.id, holder), device },
    ...{
      call: wanted.call,
      tool,
      effect: effectOfCall(tool, () => JSON.parse(wanted.input)),
      input: new InputPreview(wanted.tool, wanted.input).parameters,
    },
    ...{ code, message: previewOf(message) },
  };
}

export function approvalDraft(
  {
    id,
    device,
    call,
    grant,
    tool,
    effect,
    summary,
    state,
    decided_by,
    for: reach,
    edited,
    note,
  }: ApprovalView,
  holder: Holder | undefined,
  now: number,
): AuditDraft {
  return {
    ...{
      type: "approval",
      id: `${id}:${state}`,
      at: iso(now),
      by: byOf(grant, holder),
      device,
      approval: id,
      call,
    },
    ...{ tool, effect, summary: questionPreview(tool, summary), state },
    ...(decided_by !== null && { decided_by }),
    ...(reach !== null && { for: reach }),
    ...(edited && { edited }),
    ...(note !== null && { note: previewOf(note) }),
  };
}

export function policyDraft(policy: Policy, by: AuditBy, device: string, now: number): AuditDraft {
  return { type: "policy", id: crypto.randomUUID(), at: iso(now), by, device, policy: { ...policy } };
}

export function byOf(grant: string, holder: Holder | undefined): AuditBy {
  return { grant: grant as GrantId, ...holder };
}

function statusOf({ state, status }: AuditedRow): CallDraft["status"] {
  if (state === "expired") return "expired";
  if (state !== "finished") return "unknown";
  return status === "error" || status === "cancelled" ? status : "success";
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
