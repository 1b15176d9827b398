/** The frame that carries a call to the device, put together as text: the input and the grant are JSON already. */
import type { CallId } from "@matrx/shared/ids.ts";
import type { WantedCall } from "./calls.ts";

/** Device document, Tool Execute. A bare device gets only what the document knows. */
export function executeFrame(
  call: CallId,
  tool: string,
  timeoutMs: number,
  wanted: WantedCall,
  ours: boolean,
): string {
  const seconds = Math.ceil(timeoutMs / 1000);
  const known = `{"type":"tool_execute","tool_call_id":"${call}","tool":${JSON.stringify(tool)},"timeout_sec":${seconds}`;
  return `${known}${ours ? extras(wanted) : ""},"parameters":${wanted.parameters}}`;
}

function extras({ id, session, timeoutMs, stream, lease }: WantedCall): string {
  let text = `,"grant":${lease.json}`;
  if (id !== undefined) text += `,"id":${JSON.stringify(id)}`;
  if (session) text += `,"session":"${session}"`;
  if (timeoutMs) text += `,"timeout_ms":${timeoutMs}`;
  if (stream) text += `,"stream":true`;
  return text;
}

/** Asks our agent for an outcome that only its journal holds. */
export function replayFrame(call: CallId, tool: string): string {
  return `{"type":"tool_execute","tool_call_id":"${call}","tool":${JSON.stringify(tool)},"timeout_sec":30,"replay":true,"parameters":{}}`;
}
