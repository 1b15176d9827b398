/** A real MCP client, of either era of the protocol. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export type Era = "legacy" | "auto";
export const ERAS: readonly Era[] = ["legacy", "auto"];

export interface Connecting {
  readonly url: URL;
  readonly token: string;
  readonly onChanged?: () => void;
  /** It listens for changed tools. */
  readonly onListening?: () => void;
  /** The client can show a person an address, and says what the person did there. */
  readonly onUrl?: (url: string, message: string) => Promise<"accept" | "decline">;
}

/** Connects a client, which ends with its scope. */
export async function connectMcp(era: Era, connecting: Connecting) {
  const { url, token, onChanged = () => {}, onListening = () => {}, onUrl } = connecting;
  const client = new Client(
    { name: "test", version: "1" },
    {
      versionNegotiation: { mode: era },
      ...(onUrl && { capabilities: { elicitation: { url: {} } } }),
      listChanged: { tools: { onChanged, autoRefresh: false, debounceMs: 0 } },
    },
  );
  if (onUrl)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (params.mode !== "url") throw new Error("The client was asked for something else than an address");
      return { action: await onUrl(params.url, params.message) };
    });
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    async fetch(wanted, init) {
      const response = await fetch(wanted, init);
      const method = new Headers(init?.headers).get("Mcp-Method");
      if (response.ok && (init?.method === "GET" || method === "subscriptions/listen")) onListening();
      return response;
    },
  });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** The text of a result's first part. */
export function textOf(result: { content: readonly { type: string }[] }): string {
  const [first] = result.content as readonly { type: string; text?: string }[];
  return first?.text ?? "";
}
