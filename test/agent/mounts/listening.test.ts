/** Streams of news that the server ends, and calls whose stream ends. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Client } from "@modelcontextprotocol/client";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { HttpClientTransport, STREAM_ENDED } from "../../../agent/mounts/http-client.ts";
import { keepListening } from "../../../agent/mounts/listening.ts";

/** Its streams end when the test says so. */
async function startSite() {
  const listens: string[] = [];
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: "site", version: "1" },
        { capabilities: { tools: { listChanged: true } } },
      );
      server.setRequestHandler("tools/list", () => ({ tools: [] }));
      server.setRequestHandler("tools/call", () => new Promise(() => undefined));
      return server;
    },
    { responseMode: "sse", keepAliveMs: 20 },
  );
  const http = createServer(
    getRequestListener(async (request) => {
      const method = request.headers.get("Mcp-Method");
      if (method === "subscriptions/listen") listens.push(method);
      return await handler.fetch(request);
    }),
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return { http, listens, url: new URL(`http://127.0.0.1:${port}/mcp`) };
}

async function connect(url: URL, onCall: () => void = () => {}): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      versionNegotiation: { mode: "auto" },
      listChanged: { tools: { autoRefresh: false, onChanged: () => {} } },
    },
  );
  const transport = new HttpClientTransport(url, {
    async fetch(wanted, init) {
      const response = await fetch(wanted, init);
      if (new Headers(init?.headers).get("Mcp-Method") === "tools/call") onCall();
      return response;
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

it("opens the stream of news again, and says that news may be lost", async () => {
  const { http, listens, url } = await startSite();
  const client = await connect(url);
  const stop = new AbortController();
  const again = Promise.withResolvers<void>();
  const listening = keepListening(client, again.resolve, stop.signal, { firstPause: 5, longestPause: 20 });
  expect(listens).toHaveLength(1);
  http.closeAllConnections();
  await again.promise;
  expect(listens.length).toBeGreaterThan(1);
  stop.abort();
  await client.close();
  await listening;
});

it("fails a call at once whose stream ends", async () => {
  const { http, url } = await startSite();
  const answering = Promise.withResolvers<void>();
  const client = await connect(url, answering.resolve);
  const call = client.callTool({ name: "any", arguments: {} });
  await answering.promise;
  http.closeAllConnections();
  await expect(call).rejects.toMatchObject({ code: STREAM_ENDED });
});
