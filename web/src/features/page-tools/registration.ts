/** Offers tools to the browser's AI, and to scripts of the page as `window.matrx`. */
import { failureOf } from "./failure.ts";
import { type ModelTool, modelContext } from "./model-context.ts";
import type { PageSession } from "./session.ts";
import type { PageTool } from "./tool.ts";

/** Until the returned function is called. */
export function register(session: PageSession, tools: readonly PageTool[]): () => void {
  if (tools.length === 0) return () => undefined;
  const offered = new AbortController();
  for (const tool of tools) void offer(modelTool(session, tool), offered.signal);
  const functions = Object.fromEntries(
    tools.map((tool) => [tool.name, async (input?: unknown) => session.run(tool, input)]),
  );
  const value = Object.freeze(functions);
  Object.defineProperty(window, "matrx", { value, configurable: true, enumerable: true });
  return () => {
    offered.abort();
    if (Reflect.get(window, "matrx") === value) Reflect.deleteProperty(window, "matrx");
  };
}

async function offer(tool: ModelTool, signal: AbortSignal): Promise<void> {
  try {
    await modelContext()?.registerTool(tool, { signal });
  } catch {
    // The browser lets this page have none. Everything else works without them.
  }
}

function modelTool(session: PageSession, { reach, isUntrusted, ...tool }: PageTool): ModelTool {
  const { name, title, description, schema } = tool;
  return {
    ...{ name, title, description, inputSchema: schema },
    annotations: {
      readOnlyHint: reach === "look",
      untrustedContentHint: isUntrusted,
      consequentialHint: reach === "act",
    },
    async execute(input, client) {
      try {
        return await session.run({ reach, isUntrusted, ...tool }, input, client?.signal);
      } catch (error) {
        // Of what is thrown, whoever calls would learn nothing.
        const { code, message, hint } = failureOf(error);
        return { isError: true, code, message, hint };
      }
    },
  };
}
