/** An MCP server whose tools are what a file says whenever they are listed. `renew` says that they have changed. */
import { readFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [, , file] = process.argv;

serveStdio(() => {
  const server = new Server(
    { name: "changing", version: "1" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler("tools/list", () => ({ tools: JSON.parse(readFileSync(file, "utf8")) }));
  server.setRequestHandler("tools/call", async ({ params: { name } }) => {
    if (name === "renew") await server.sendToolListChanged();
    if (name === "die") process.exit(3);
    return { content: [{ type: "text", text: `${name} ran` }] };
  });
  return server;
});
