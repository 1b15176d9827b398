/** The way to a machine: through the relay, or for this computer directly. Whoever calls its tools need not know which. */
import { DirectCall } from "../direct/call.ts";
import { LOCAL_DEVICE } from "../direct/local.ts";
import { Call, type Tool } from "../relay/call.ts";
import type { CallAnswer } from "../relay/call-events.ts";
import type { CallListener } from "../relay/known-call.ts";

/** One call of a tool. */
export interface ToolCall {
  /** Its name at the relay, once that is known. */
  readonly id: string | undefined;
  /** Makes the call and resolves to its answer. Throws ApiError; resolves to undefined after `leave`. */
  run(input: Record<string, unknown>, listener: CallListener): Promise<CallAnswer | undefined>;
  /** Asks the machine to stop it. Throws ApiError. */
  stop(): Promise<void>;
  /** Reads no more: what only reads is stopped, the rest goes on. */
  leave(): void;
}

/** A call that is not made yet. */
export function newCall(device: string, tool: Tool): ToolCall {
  return device === LOCAL_DEVICE ? new DirectCall(tool) : new Call(device, tool);
}
