/** What clients of MCP send, of both eras of the protocol. */

import { bearer, json } from "./relay.ts";
import { ask } from "./request.ts";

export const ACCEPT = { Accept: "application/json, text/event-stream" };

/** A request of the 2025 era. */
export function say(path: string, token: string, message: object, headers: Record<string, string> = {}) {
  return ask(path, json({ jsonrpc: "2.0", id: 1, ...message }, { ...ACCEPT, ...bearer(token), ...headers }));
}

/** The greeting of a client of the 2025 era. */
export function greet(path: string, token: string): Promise<Response> {
  const client = { capabilities: {}, clientInfo: { name: "test", version: "1" } };
  return say(path, token, { method: "initialize", params: { protocolVersion: "2025-11-25", ...client } });
}

/** A client of the 2025 era listens for changed tools. */
export async function listen(path: string, token: string): Promise<Response> {
  const session = await sessionAt(path, token);
  return ask(path, { headers: { ...bearer(token), Accept: "text/event-stream", ...session } });
}

/** The headers of a session of the 2025 era. */
export async function sessionAt(path: string, token: string): Promise<Record<string, string>> {
  const begun = await greet(path, token);
  await begun.text();
  return { "Mcp-Session-Id": begun.headers.get("Mcp-Session-Id") ?? "" };
}

/** A client of the 2026 era listens for changed tools. */
export function subscribe(path: string, token: string): Promise<Response> {
  const version = "2026-07-28";
  const method = "subscriptions/listen";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta, notifications: { toolsListChanged: true } };
  return say(path, token, { method, params }, { "Mcp-Method": method, "MCP-Protocol-Version": version });
}

/** A call without a session, as of a program such as curl. */
export function callOver(path: string, token: string, name: string, input: object = {}): Promise<Response> {
  return say(path, token, { method: "tools/call", params: { name, arguments: input } });
}
