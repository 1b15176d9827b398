/** A well-behaved MCP server, for tests of what mounts one. */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const object = (properties, required = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
/** A GIF of one pixel. */
const PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
let extra = false;

function server() {
  const made = new Server({ name: "good", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  made.setRequestHandler("tools/list", () => ({
    tools: [
      {
        name: "echo",
        title: "Say it again",
        description: "Echoes.",
        inputSchema: object({ text: { type: "string", "x-mcp-header": "Text" } }, ["text"]),
      },
      {
        name: "parts",
        inputSchema: object({ picture: { type: "string" }, type: { type: "string" } }),
      },
      { name: "data", inputSchema: object({}), outputSchema: object({ sum: { type: "number" } }) },
      { name: "slow", inputSchema: object({ ms: { type: "number" } }) },
      { name: "steps", inputSchema: object({}) },
      { name: "fail", inputSchema: object({}) },
      { name: "die", inputSchema: object({}) },
      { name: "grow", inputSchema: object({}) },
      { name: "environment", inputSchema: object({}) },
      { name: "big", inputSchema: object({ bytes: { type: "number" } }) },
      { name: "garbage", inputSchema: object({}) },
      { name: "dotted.name", inputSchema: object({}) },
      ...(extra ? [{ name: "extra", inputSchema: object({}) }] : []),
    ],
  }));
  made.setRequestHandler("tools/call", async ({ params: { name, arguments: input = {} } }, context) => {
    switch (name) {
      case "echo":
        return text(input.text);
      case "parts":
        return {
          content: [
            { type: "text", text: "see and hear" },
            { type: "image", data: input.picture ?? PIXEL, mimeType: input.type ?? "image/png" },
            { type: "audio", data: "BBBB", mimeType: "audio/wav" },
            { type: "resource_link", uri: "file:///a", name: "a" },
          ],
        };
      case "data":
        return { ...text('{"sum":3}'), structuredContent: { sum: 3 } };
      case "slow":
        console.error("slow began");
        await sleep(input.ms ?? 60_000, undefined, { signal: context.mcpReq.signal }).catch(() => {
          console.error("slow was cancelled");
        });
        return text("slept");
      case "steps":
        for (let progress = 1; progress <= 3; progress++)
          await context.mcpReq.notify({
            method: "notifications/progress",
            params: {
              progressToken: context.mcpReq._meta?.progressToken,
              progress,
              total: 3,
              message: `step ${progress}`,
            },
          });
        return text("done");
      case "fail":
        return { ...text("the disk is full"), isError: true };
      case "die":
        process.exit(3);
        break;
      case "grow":
        extra = true;
        await made.sendToolListChanged();
        return text("grown");
      case "environment":
        return text(JSON.stringify({ ...process.env, CWD: process.cwd() }));
      case "big":
        return text("x".repeat(input.bytes));
      case "garbage":
        writeSync(1, 'this is no message\n{"neither":1}\n[]\n\n\u0000\n');
        return text("still here");
      default:
        return text(name);
    }
  });
  return made;
}

serveStdio(server);
