/** MCP over stdin and stdout, for a client on this machine that starts this program. */
import { randomUUID } from "node:crypto";
import type { McpHost } from "@matrx/shared/mcp/host.ts";
import { mcpServer } from "@matrx/shared/mcp/server.ts";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Logger } from "pino";
import { AGENT_VERSION } from "../config/program.ts";
import { StdioTransport } from "./stdio-transport.ts";

export interface McpStdio {
  /** Resolves once nothing more can come from the client. */
  readonly closed: Promise<void>;
  toolsChanged(): void;
  close(): Promise<void>;
}

/** Serves one client, in the era that it speaks. */
export function serveMcp(host: McpHost, log: Logger): McpStdio {
  const onError = (err: unknown) => log.warn({ err }, "an MCP request failed");
  // Calls of an earlier run of this program are none of its client's.
  const session = randomUUID();
  const servers = new Set<Server>();
  const make = () => {
    const server = mcpServer(host, { version: AGENT_VERSION, session, onError });
    servers.add(server);
    server.onclose = () => servers.delete(server);
    return server;
  };
  const transport = new StdioTransport();
  const onerror = (err: unknown) => log.debug({ err }, "what an MCP client sent could not be used");
  const handle = serveStdio(make, { transport, onerror });
  return {
    closed: transport.closed,
    toolsChanged: () => {
      for (const server of servers) server.sendToolListChanged().catch(onError);
    },
    close: () => handle.close(),
  };
}
