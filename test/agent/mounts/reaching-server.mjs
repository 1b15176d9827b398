/** An MCP server whose one tool runs what it is given, to find out what the server reaches. Needs nothing but Node. */
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = {
  name: "evaluate",
  description: "Evaluates JavaScript.",
  inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
};

async function evaluate(code) {
  try {
    return {
      content: [
        { type: "text", text: String(await new Function("load", `return ${code}`)((name) => import(name))) },
      ],
    };
  } catch (error) {
    return {
      isError: true,
      content: [{ type: "text", text: `${error.message} ${error.cause?.message}` }],
    };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "reaching", version: "1" },
      },
    });
  else if (method === "tools/list") say({ id, result: { tools: [tool] } });
  else if (method === "tools/call") say({ id, result: await evaluate(params.arguments.code) });
  else if (id !== undefined) say({ id, error: { code: -32601, message: "Method not found" } });
}
