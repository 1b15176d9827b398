/** Bare devices (device document): their results become the answers that our agent would have written. */
import type { Answer } from "@matrx/shared/caller-frames.ts";
import type { ToolResult } from "@matrx/shared/device-frames.ts";
import type { ErrorCode } from "@matrx/shared/errors.ts";
import type { DeviceId } from "@matrx/shared/ids.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import { isDeviceCode } from "./device-answer.ts";

const encoder = new TextEncoder();

/** `id`: the caller's, absent for REST. */
export function answerOfBare(
  result: ToolResult,
  id: string | undefined,
  device: DeviceId,
  ms: number,
): { header: ResultHeader; body: Uint8Array } {
  const code = result.success ? undefined : codeOf(result.error?.code);
  const answer: Answer = {
    ...(id !== undefined && { id }),
    type: result.success ? "success" : "error",
    output: result.success ? outputOf(result.result) : (result.error?.message ?? "The tool failed"),
    call: result.tool_call_id,
    device,
    ...(id === undefined && { image: null }),
    ...metadataOf(result.result),
    ...(code && { code, hop: "device" as const }),
  };
  const status = result.success ? "success" : code === "CANCELLED" ? "cancelled" : "error";
  const header: ResultHeader = { call: result.tool_call_id, status, ms, ...(code && { code }) };
  return { header, body: encoder.encode(JSON.stringify(answer)) };
}

/** A code of ours that a device may give is kept; any other is the tool's own affair. */
function codeOf(code: string | undefined): ErrorCode {
  return isDeviceCode(code) ? code : "TOOL_EXECUTION_FAILED";
}

function outputOf(result: unknown): string {
  if (typeof result === "string") return result;
  if (isRecord(result) && typeof result.message === "string") return result.message;
  return result === undefined ? "" : JSON.stringify(result);
}

function metadataOf(result: unknown): { metadata?: Record<string, unknown> } {
  return isRecord(result) ? { metadata: result } : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
