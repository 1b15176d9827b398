/** Errors of the desktop tools. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

/** Messages of libraries and programs if the display does not answer. */
export const NO_CONNECTION =
  /connection (?:closed|error|refused)|display string|open display|connect to a wayland/i;

/** There is no screen. */
export function noDisplayError(message: string, hint: string): MatrxError {
  return desktopError(message, hint, { reason: "NO_DISPLAY" });
}

export function desktopError(
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", message, { hint, details });
}

export function deniedError(
  message: string,
  hint: string,
  details: Record<string, unknown> = {},
): MatrxError {
  return toolError("PERMISSION_DENIED", message, { hint, details });
}

export function wrongParameterError(field: string, message: string, hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", message, { hint, details: { field } });
}
