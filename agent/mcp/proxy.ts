/** An MCP endpoint of a relay, for a client on this machine that only starts programs. */
import { randomUUID } from "node:crypto";

import { MatrxError } from "@matrx/shared/errors.ts";
import { errorResult } from "@matrx/shared/mcp/result.ts";
import { SESSION } from "@matrx/shared/mcp/tools.ts";
import { Client, type Progress } from "@modelcontextprotocol/client";
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { AGENT_VERSION } from "../config/program.ts";
import { HttpClientTransport } from "../mounts/http-client.ts";
import { keepListening } from "../mounts/listening.ts";
import { fetchElsewhere } from "../network/fetch.ts";
import { proxyError } from "./proxy-error.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** A call ends by itself before: the relay answers with its name. In milliseconds. */
const ANSWERS_WITHIN = 120_000;

export interface Upstream {
  readonly url: URL;
  readonly token: string;
}

/** Serves the relay's tools over stdin and stdout until the client or the signal ends it. */
export async function runProxy({ url, token }: Upstream, stop: AbortSignal): Promise<void> {
  const client = new Client(
    { name: "matrx mcp", version: AGENT_VERSION },
    {
      versionNegotiation: { mode: "auto" },
      listChanged: { tools: { autoRefresh: false, onChanged: () => changed() } },
    },
  );
  const transport = new HttpClientTransport(url, {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    fetch: fetchElsewhere,
  });
  await client.connect(transport);
  const servers = new Set<Server>();
  const changed = () => {
    for (const server of servers) void server.sendToolListChanged().catch(() => undefined);
  };
  const stdio = new StdioTransport();
  const stopped = new Promise<void>((resolve) =>
    stop.addEventListener("abort", () => resolve(), { once: true }),
  );
  const make = () => {
    const server = proxyServer(client, url.origin);
    servers.add(server);
    server.onclose = () => servers.delete(server);
    return server;
  };
  const handle = serveStdio(make, { transport: stdio });
  const listening = new AbortController();
  void keepListening(client, changed, listening.signal);
  await Promise.race([stdio.closed, stopped]);
  listening.abort();
  await handle.close();
  await client.close();
}

function proxyServer(client: Client, relay: string): Server {
  const { name, title, version } = client.getServerVersion() ?? {
    name: "matrx-relay",
    version: AGENT_VERSION,
  };
  const instructions = client.getInstructions();
  // One for each client: the relay cannot tell those of one token apart.
  const session = randomUUID();
  const server = new Server(
    { name, version, ...(title !== undefined && { title }) },
    { capabilities: { tools: { listChanged: true } }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler("tools/list", async ({ params }) => {
    try {
      // The client at the other end keeps the list itself.
      return await client.listTools(params, { cacheMode: "bypass" });
    } catch (cause) {
      throw asProtocolError(proxyError(cause, relay));
    }
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { name, arguments: input } = params;
    try {
      return await client.callTool(
        { name, arguments: { [SESSION]: session, ...input } },
        {
          signal: context.mcpReq.signal,
          timeout: ANSWERS_WITHIN,
          resetTimeoutOnProgress: true,
          ...passedOn(context),
        },
      );
    } catch (cause) {
      if (context.mcpReq.signal.aborted) throw cause;
      const error = proxyError(cause, relay);
      if (error instanceof MatrxError) return errorResult(error);
      throw asProtocolError(error);
    }
  });
  return server;
}

/** A list has no place for an error of ours. */
function asProtocolError(error: MatrxError | Error): Error {
  if (!(error instanceof MatrxError)) return error;
  const { message, code, hint } = error;
  return new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${message}`, { code, hint });
}

/** Progress, if the client wants it. */
function passedOn({ mcpReq }: ServerContext): { onprogress?: (progress: Progress) => void } {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};
  return {
    onprogress: (progress) =>
      void mcpReq
        .notify({ method: "notifications/progress", params: { progressToken, ...progress } })
        .catch(() => undefined),
  };
}
