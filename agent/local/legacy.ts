/** Paths that this server does not have: the guide's routes from before its tools (Legacy Routes), and the relay's for files. */
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

/** Bytes of files, which the relay has routes for. */
const BYTES = /^(?:\/v1\/devices\/[^/]+)?\/(?:files\/.|uploads(?:\/|$))/;

/** The error for a path that is elsewhere, or gone, which says what to use instead; undefined for other paths. */
export function notAnyMore(path: string): MatrxError | undefined {
  if (BYTES.test(path)) {
    return agentError("NOT_FOUND", "This server neither sends nor stores files as bytes", {
      hint: "Use the relay's routes for files, or here the tools Read and Write",
    });
  }
  const tool = TOOLS.get(path);
  if (path !== "/db-data" && tool === undefined) return undefined;
  const hint = tool
    ? `Call the tool ${tool}: POST /tools/invoke {"tool":"${tool}","input":{...}}`
    : DATABASES;
  const details = tool === undefined ? {} : { details: { tool } };
  return agentError("NOT_FOUND", `${path} is not available here`, { hint, ...details });
}
