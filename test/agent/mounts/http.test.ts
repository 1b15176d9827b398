/** MCP servers at a URL: both eras, secrets in headers, and a server that goes away. */
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { mounted, names, QUICK } from "./mounted.ts";

interface Site {
  readonly url: string;
  /** The header that it was sent last. */
  key: string | null;
  /** Its answers to calls end before anything is said. */
  breaksOff?: boolean;
  close(): Promise<void>;
}

function echoServer(): Server {
  const server = new Server({ name: "site", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: String(params.arguments?.text) }],
  }));
  return server;
}

async function startSite(port = 0, path = "/mcp"): Promise<Site> {
  const handler = createMcpHandler(() => echoServer());
  const site: Pick<Site, "key" | "breaksOff"> = { key: null };
  const http: HttpServer = createServer(
    getRequestListener(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/moved") return Response.redirect(new URL("/mcp", request.url), 307);
      if (pathname !== path) return new Response("no", { status: 404 });
      site.key = request.headers.get("X-Key") ?? request.headers.get("Authorization");
      if (request.headers.get("Mcp-Method") === "tools/call" && site.breaksOff)
        return new Response(": nothing more\n\n", { headers: { "Content-Type": "text/event-stream" } });
      return await handler.fetch(request);
    }),
  );
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  const close = async () => {
    await handler.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  const { port: chosen } = http.address() as AddressInfo;
  return Object.assign(site, { url: `http://127.0.0.1:${chosen}${path}`, close });
}

it("are mounted like programs, and sent their headers, which are told to nobody", async () => {
  const site = await startSite();
  const at = await mounted({ site: { url: site.url, headers: { "X-Key": "sesame" } } });
  await at.mounts.settled;
  expect(names(at.mounts)).toEqual(["site__echo"]);
  expect((await at.call("site__echo", { text: "hello" })).answer.output).toBe("hello");
  expect(site.key).toBe("sesame");
  expect(at.logged.join("") + JSON.stringify(at.mounts.views)).not.toContain("sesame");
});

it("that go away fail their calls, and are found again when they are back", async () => {
  const site = await startSite();
  const at = await mounted({ site: { url: site.url } }, QUICK);
  await at.mounts.settled;
  await site.close();
  expect((await at.call("site__echo", { text: "a" })).answer.code).toBe("TOOL_EXECUTION_FAILED");
  await at.until(() => at.mounts.views[0]?.state === "failed");
  expect((await at.call("site__echo", { text: "a" })).answer.code).toBe("UNAVAILABLE");
  await startSite(Number(new URL(site.url).port));
  await at.until(() => at.mounts.views[0]?.state === "running");
  expect((await at.call("site__echo", { text: "back" })).answer.output).toBe("back");
});

it("do not get headers that were meant for another address", async () => {
  const site = await startSite();
  const url = site.url.replace("/mcp", "/moved");
  const at = await mounted({ site: { url, headers: { "X-Key": "sesame" } } }, QUICK);
  await at.mounts.settled;
  expect(at.mounts.views).toMatchObject([{ state: "failed" }]);
  expect(site.key).toBeNull();
});

it("that break off an answer fail that call at once, and are connected to again", async () => {
  const site = await startSite();
  const at = await mounted({ site: { url: site.url } }, QUICK);
  await at.mounts.settled;
  site.breaksOff = true;
  const { answer } = await at.call("site__echo", { text: "a" });
  expect(answer).toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
    hint: expect.stringContaining("not run again"),
  });
  site.breaksOff = false;
  await at.until(() => at.mounts.views[0]?.state === "running");
  expect((await at.call("site__echo", { text: "back" })).answer.output).toBe("back");
});

it("may have a name and a password in their URL, which are told to nobody else", async () => {
  const site = await startSite();
  const url = site.url.replace("://", "://ann:open%20sesame@");
  const at = await mounted({ site: { url }, gone: { url: url.replace("/mcp", "/gone") } }, QUICK);
  await at.mounts.settled;
  expect((await at.call("site__echo", { text: "hello" })).answer.output).toBe("hello");
  expect(site.key).toBe(`Basic ${Buffer.from("ann:open sesame").toString("base64")}`);
  expect(at.logged.join("") + JSON.stringify(at.mounts.views)).not.toContain("sesame");
});
