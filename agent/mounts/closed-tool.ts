/** A mounted tool that is closed: its server or its definition is not what the owner has allowed. */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Lack, Tool } from "../core/tool.ts";

export const CHANGED_PROGRAM = "its program has changed since it was allowed";

/** Announced in its place, so that a caller who knows it is told why. Nothing in it is the server's but the name. */
export function closedTool(server: string, name: string): Tool {
  const refuse = (): never => {
    throw closedError(server, name);
  };
  return {
    name,
    description: `Closed tool of the MCP server ${server}`,
    input: { json_schema: { type: "object" }, parse: (input: Record<string, unknown>) => input },
    timeoutMs: 1000,
    unavailable: () => closedBecause(server),
    prepare: refuse,
    handle: async () => refuse(),
  };
}

export function closedError(server: string, tool: string): MatrxError {
  const { why, help } = closedBecause(server);
  return agentError("PERMISSION_DENIED", why, { hint: help, details: { server, tool } });
}

function closedBecause(server: string): Lack {
  return {
    why: `The MCP server ${server} has changed since it was allowed, and this tool is closed`,
    help: `On that machine, \`matrx mounts\` shows what changed, and \`matrx mounts allow ${server}\` opens it`,
  };
}
