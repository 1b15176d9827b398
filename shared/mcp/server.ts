/** The MCP server over a host, for one request or one connection, in either era of the protocol. */
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { MatrxError } from "../errors.ts";
import type { McpHost } from "./host.ts";
import { callTool, internalError } from "./tool-call.ts";

/** How long a client may keep a list, in milliseconds; it is told when one changes. */
const LIST_FRESH_MS = 60_000;

const INSTRUCTIONS =
  "These tools run on the user's own machines, within what the user allowed. Pass a `session` of your own if others may work under this connection: its working directory is then yours alone. A call that takes long, or that a person must allow first, answers with its name: pass that to wait_call, and don't repeat the call.";

export interface McpServerOptions {
  readonly version: string;
  /** The session of calls that name none. */
  readonly session?: string;
  /** Called with errors that no client is told; faults of clients are theirs alone. */
  readonly onError: (error: unknown) => void;
}

export function mcpServer(host: McpHost, { version, session = "", onError }: McpServerOptions): Server {
  const info = { name: "matrx-relay", title: "Matrx Relay", version };
  const server = new Server(info, {
    capabilities: { tools: { listChanged: true } },
    instructions: INSTRUCTIONS,
    cacheHints: { "tools/list": { ttlMs: LIST_FRESH_MS, cacheScope: "private" } },
  });
  server.setRequestHandler("tools/list", async () => ({ tools: await told(host.tools(), onError) }));
  server.setRequestHandler("tools/call", (request, context) => {
    const { name, arguments: input = {} } = request.params;
    const opensUrls = server.getClientCapabilities()?.elicitation?.url !== undefined;
    return callTool(host, name, input, { context, opensUrls, session, onError });
  });
  return server;
}

/** A list has no place for an error of ours, and the library would tell any other as it is. */
async function told<T>(list: Promise<T>, onError: McpServerOptions["onError"]): Promise<T> {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof MatrxError)) onError(error);
    const { message, code, hint } = error instanceof MatrxError ? error : internalError();
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code, hint });
  }
}
