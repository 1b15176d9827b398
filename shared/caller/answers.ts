/** Errors of calls, in the shapes that callers get. */
import type { Answer } from "../caller-frames.ts";
import type { ErrorCode, ErrorShape } from "../errors.ts";

/** A refusal as the caller's answer. */
export function refusalAnswer(
  error: ErrorShape,
  id: string | undefined,
  call?: string,
  device?: string,
): Answer {
  return {
    ...(id !== undefined && { id }),
    type: "error",
    output: error.message,
    code: error.code,
    ...(error.hint && { hint: error.hint }),
    hop: error.hop,
    ...(call && { call }),
    ...(device && { device }),
    ...(error.details && { metadata: error.details }),
  };
}

/** A refusal as REST in the guide's shape gives it: without an id, and always with `image`. */
export function guideRefusal(error: ErrorShape, call: string | undefined, device: string): Answer {
  return { ...refusalAnswer(error, undefined, call, device), image: null };
}

/** An answer that is an error, as HTTP tells of it: errors are small, and HTTP has a form of its own for them. */
export function answerProblem(
  code: ErrorCode = "TOOL_EXECUTION_FAILED",
  { output, hint, hop, call, device, metadata }: Answer,
): { error: ErrorShape; extra: Record<string, unknown> } {
  const error: ErrorShape = { code, message: output, hint, hop: hop ?? "device" };
  return { error, extra: { output, call, device, ...(metadata && { metadata }) } };
}
