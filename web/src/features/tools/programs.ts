/** A call as other callers would make it. */
import { LOCAL_DEVICE } from "../../direct/local.ts";
import type { ToolInput } from "../../ui/schema/draft.ts";

export const PROGRAMS = ["curl", "JSON", "MCP"] as const;
export type Program = (typeof PROGRAMS)[number];

/** Those who can call a machine: this computer's own server has no MCP. */
export function programsFor(device: string): readonly Program[] {
  return device === LOCAL_DEVICE ? PROGRAMS.filter((program) => program !== "MCP") : PROGRAMS;
}

export interface CallForPrograms {
  /** The relay's, or that of the server on this computer. */
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
  const address = `${machineUrl(origin, device)}/tools/${encodeURIComponent(tool)}`;
  return [
    "curl -sS -H @.matrx/authorization",
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(input))}`,
    quoted(address),
  ].join(" ");
}

/** Where it goes, and how. */
export function programAbout(program: Program, { origin, device }: CallForPrograms): string {
  const socket = `${machineUrl(origin, device).replace(/^http/, "ws")}/ws`;
  const token = device === LOCAL_DEVICE ? "the local server's token" : "a token of yours";
  if (program === "JSON") return `A frame to ${socket}, with ${token}.`;
  if (program === "MCP") return `A request to ${origin}/mcp/d/${device}, with a token of yours.`;
  return `The file .matrx/authorization holds a line “Authorization: Bearer …” with ${token}.`;
}

function machineUrl(origin: string, device: string): string {
  return device === LOCAL_DEVICE ? origin : `${origin}/v1/devices/${encodeURIComponent(device)}`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
