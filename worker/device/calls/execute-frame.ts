/** The frame that carries a call to the device, concatenated as text: input, grant and limits are already JSON. */
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { Lease } from "../leases.ts";
import type { FrameParts, Keyed, Passed } from "../ledger/call.ts";
import type { Recipient } from "../ledger/recipient.ts";

export function framePartsOf(
  { session, timeoutMs }: WantedCall,
  { called }: Passed,
  keyed: Keyed | undefined,
  { id, live, opens }: Recipient,
): FrameParts {
  return { called, id, session, timeoutMs, stream: live, opens, keyed };
}

/** Device document, Tool Execute; `extras` is added for our agent, and not for a bare device. */
export function executeFrame(
  call: CallId,
  tool: string,
  timeoutMs: number,
  input: string,
  extras: string,
): string {
  const seconds = Math.ceil(timeoutMs / 1000);
  const known = `{"type":"tool_execute","tool_call_id":"${call}","tool":${JSON.stringify(tool)},"timeout_sec":${seconds}`;
  return `${known}${extras},"parameters":${input}}`;
}

/** Our additions; `limits` is the JSON of the owner's limits for this device, if any. */
export function extrasOf(
  { called, id, session, timeoutMs, stream, opens, keyed }: FrameParts,
  { json }: Lease,
  limits: string | undefined,
): string {
  let text = `,"grant":${json}`;
  if (called !== undefined) text += `,"called":${JSON.stringify(called)}`;
  if (limits) text += `,"policy":${limits}`;
  if (id !== undefined) text += `,"id":${JSON.stringify(id)}`;
  if (session) text += `,"session":"${session}"`;
  if (timeoutMs) text += `,"timeout_ms":${timeoutMs}`;
  if (stream) text += `,"stream":true`;
  if (opens) text += `,"opens":${JSON.stringify(opens)}`;
  if (keyed) text += `,"input_hash":"${keyed.digest}"`;
  if (keyed?.key) text += `,"idempotency_key":${JSON.stringify(keyed.key)}`;
  return text;
}

/** Says that a person allowed the call. */
export function approvalExtra(approval: { id: string; binding: string }): string {
  return `,"approval":${JSON.stringify(approval)}`;
}

/** Asks our agent whether a person must be asked about a call. */
export function prepareFrame(
  { call, tool, wanted }: PreparedCall,
  { lease, input, limits }: { lease: Lease; input: string; limits: string | undefined },
): string {
  let text = `{"type":"tool_prepare","tool_call_id":"${call}","tool":${JSON.stringify(tool)}`;
  if (wanted.called !== undefined) text += `,"called":${JSON.stringify(wanted.called)}`;
  if (wanted.session) text += `,"session":"${wanted.session}"`;
  if (limits) text += `,"policy":${limits}`;
  return `${text},"grant":${lease.json},"parameters":${input}}`;
}

interface PreparedCall {
  readonly call: CallId;
  readonly tool: string;
  readonly wanted: { readonly called: string | undefined; readonly session: string | undefined };
}

/** Asks our agent for an outcome that only its journal holds. */
export function replayFrame(call: CallId, tool: string): string {
  return `{"type":"tool_execute","tool_call_id":"${call}","tool":${JSON.stringify(tool)},"timeout_sec":30,"replay":true,"parameters":{}}`;
}
