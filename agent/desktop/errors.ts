/** What goes wrong on the desktop. */
import { MatrxError } from "@matrx/shared/errors.ts";

/** There is no screen to show things on, or to take a picture of. */
export function noDisplayError(message: string, hint: string): MatrxError {
  return desktopError(message, hint, { reason: "NO_DISPLAY" });
}

export function desktopError(
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): MatrxError {
  return new MatrxError({ code: "TOOL_EXECUTION_FAILED", message, hint, hop: "tool", details });
}

export function deniedError(
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): MatrxError {
  return new MatrxError({ code: "PERMISSION_DENIED", message, hint, hop: "tool", details });
}

export function wrongParameterError(field: string, message: string, hint: string): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message,
    hint,
    hop: "tool",
    details: { field },
  });
}
