/** The guide's routes from before its tools (Legacy Routes): gone, and each names its replacement. */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";

const TOOLS: ReadonlyMap<string, string> = new Map([
  ["/system/info", "SystemInfo"],
  ["/files", "ListDirectory"],
  ["/screenshot", "Screenshot"],
  ["/logs", "SystemLog"],
  ["/generate-directory-structure/text", "DirectoryTree"],
  ["/generate-directory-structure/json", "DirectoryTree"],
  ["/generate-directory-structure/zip", "DirectoryTree"],
  ["/download/small-file", "Read"],
  ["/download/large-file", "Read"],
  ["/download/generated-file", "Read"],
]);

const DATABASES = "Reach databases through an MCP server for them, next to these tools";

/** The error for a legacy path, which says what to use instead; undefined for other paths. */
export function notAnyMore(path: string): MatrxError | undefined {
  const tool = TOOLS.get(path);
  if (path !== "/db-data" && tool === undefined) return undefined;
  const hint = tool
    ? `Call the tool ${tool}: POST /tools/invoke {"tool":"${tool}","input":{...}}`
    : DATABASES;
  const details = tool === undefined ? {} : { details: { tool } };
  return agentError("NOT_FOUND", `${path} is not available here`, { hint, ...details });
}
