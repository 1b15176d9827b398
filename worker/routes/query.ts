/** Parameters in the addresses of tools and calls. */
import { TIMES } from "@matrx/shared/limits.ts";
import { TOOL_FORMATS, type ToolFormat, toolFormatSchema } from "@matrx/shared/tool-formats.ts";
import { wrongFieldError } from "./invoke.ts";

/** `?timeout_ms=` of a request. Throws MatrxError. */
export function timeoutOf(request: Request): number | undefined {
  const text = parameterOf(request, "timeout_ms");
  if (text === undefined) return undefined;
  const timeout = Number(text);
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= TIMES.callMax) return timeout;
  throw wrongFieldError("timeout_ms", `must be a whole number from 1 to ${TIMES.callMax}`);
}

/** `?cancel_on_disconnect=` of a request. Throws MatrxError. */
export function cancelOnDisconnectOf(request: Request): boolean {
  const text = parameterOf(request, "cancel_on_disconnect") ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw wrongFieldError("cancel_on_disconnect", "must be `true` or `false`");
}

/** `?format=` of a list of tools. Throws MatrxError. */
export function formatOf(request: Request): ToolFormat | undefined {
  const text = parameterOf(request, "format");
  if (text === undefined) return undefined;
  const { data } = toolFormatSchema.safeParse(text);
  if (data) return data;
  throw wrongFieldError("format", `must be one of ${TOOL_FORMATS.join(", ")}`);
}

function parameterOf(request: Request, name: string): string | undefined {
  if (!request.url.includes("?")) return undefined;
  return new URL(request.url).searchParams.get(name) ?? undefined;
}
