/** What goes wrong with a desktop, in words for the reader outside. */
import { MatrxError } from "@matrx/shared/errors.ts";

/** There is no screen to show things on, or to take a picture of. */
export function noDisplay(message: string, hint: string): MatrxError {
  return failed(message, hint, { reason: "NO_DISPLAY" });
}

export function failed(message: string, hint: string, details: Record<string, unknown> = {}): MatrxError {
  return new MatrxError({ code: "TOOL_EXECUTION_FAILED", message, hint, hop: "tool", details });
}

export function denied(message: string, hint: string, details: Record<string, unknown> = {}): MatrxError {
  return new MatrxError({ code: "PERMISSION_DENIED", message, hint, hop: "tool", details });
}

export function wrongParameter(field: string, message: string, hint: string): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message,
    hint,
    hop: "tool",
    details: { field },
  });
}
