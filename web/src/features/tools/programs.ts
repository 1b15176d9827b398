/** A call as other callers would make it. */
import type { ToolInput } from "../../ui/schema/draft.ts";

export const PROGRAMS = ["curl", "JSON", "MCP"] as const;
export type Program = (typeof PROGRAMS)[number];

export interface CallForPrograms {
  readonly origin: string;
  readonly device: string;
  readonly tool: string;
  readonly input: ToolInput;
}

export function programText(program: Program, { origin, device, tool, input }: CallForPrograms): string {
  if (program === "JSON") return JSON.stringify({ id: "1", tool, input });
  if (program === "MCP") {
    const params = { name: tool, arguments: input };
    return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  }
  const address = `${origin}/v1/devices/${encodeURIComponent(device)}/tools/${encodeURIComponent(tool)}`;
  return [
    "curl -sS -H @.matrx/authorization",
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(input))}`,
    quoted(address),
  ].join(" ");
}

/** Where it goes, and how. */
export function programAbout(program: Program, { origin, device }: CallForPrograms): string {
  const socket = `${origin.replace(/^http/, "ws")}/v1/devices/${device}/ws`;
  if (program === "JSON") return `A frame to ${socket}, with a token of yours.`;
  if (program === "MCP") return `A request to ${origin}/mcp/d/${device}, with a token of yours.`;
  return "The file .matrx/authorization holds a line “Authorization: Bearer …” with a token of yours.";
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
