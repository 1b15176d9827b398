/** Errors as answers of calls, and the other way round. */
import type { ErrorCode, ErrorShape } from "../errors.ts";
import { retryAfterMsOf } from "../retry.ts";
import type { Answer } from "./to-caller.ts";

/** Whose answer it is. */
export interface Addressee {
  /** Without the caller's id it is an answer over REST. */
  readonly id?: string | undefined;
  readonly call?: string | undefined;
  readonly device?: string | undefined;
}

/** REST always says `image`, a WebSocket only when there is one (guide, both protocols). */
export function imageOf(id: string | undefined, image: Answer["image"]): Pick<Answer, "image"> {
  if (image) return { image };
  return id === undefined ? { image: null } : {};
}

/** An error as the answer to a call. The relay recognises what a device wrote by the order of the fields. */
export function errorAnswer({ message, details, code, hint, hop }: ErrorShape, to: Addressee) {
  const { id, call, device } = to;
  return {
    ...(id !== undefined && { id }),
    type: "error",
    output: message,
    ...(call !== undefined && { call }),
    ...(device !== undefined && { device }),
    ...imageOf(id, undefined),
    ...(details && { metadata: details }),
    code,
    ...(hint && { hint }),
    hop,
  } satisfies Answer;
}

/** An error answer as problem+json, HTTP's own form for errors. They are small enough to convert. */
export function answerProblem(
  code: ErrorCode = "TOOL_EXECUTION_FAILED",
  { output, hint, hop, call, device, metadata }: Answer,
): { error: ErrorShape; extra: Record<string, unknown> } {
  const wait = code === "RATE_LIMITED" ? retryAfterMsOf(metadata) : undefined;
  const details = wait === undefined ? undefined : { retry_after_ms: wait };
  const error: ErrorShape = { code, message: output, hint, hop: hop ?? "device", details };
  return { error, extra: { output, call, device, ...(metadata && { metadata }) } };
}
