/** An MCP endpoint of a relay, for a client on this machine that only starts programs. */
import { randomUUID } from "node:crypto";

import { SESSION } from "@matrx/shared/mcp/tools.ts";
import { Client, type Progress, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { AGENT_VERSION } from "../config/program.ts";

/** A call ends by itself before: the relay answers with its name. In milliseconds. */
const ANSWERS_WITHIN = 120_000;

export interface Upstream {
  readonly url: URL;
  readonly token: string;
}

/** Serves the relay's tools over stdin and stdout until the client or the signal ends it.*/
export async function runProxy({ url, token }: Upstream, stop: AbortSignal): Promise<void> {
  const client = new Client(
    { name: "matrx mcp", version: AGENT_VERSION },
    { versionNegotiation: { mode: "auto" }, listChanged: { tools: { onChanged: () => changed() } } },
  );
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  const servers = new Set<Server>();
  const changed = () => {
    for (const server of servers) void server.sendToolListChanged().catch(() => undefined);
  };
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const handle = serveStdio(() => {
    const server = proxyServer(client);
    servers.add(server);
    return server;
  });
  await closed;
  await handle.close();
  await client.close();
}

function proxyServer(client: Client): Server {
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
  server.setRequestHandler("tools/list", ({ params }) => client.listTools(params));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { name, arguments: input } = params;
    return client.callTool(
      { name, arguments: { [SESSION]: session, ...input } },
      {
        signal: context.mcpReq.signal,
        timeout: ANSWERS_WITHIN,
        resetTimeoutOnProgress: true,
        ...passedOn(context),
      },
    );
  });
  return server;
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
