/** What to put into an MCP client's configuration so that it starts `matrx mcp`. */
import { join, resolve } from "node:path";
import { namedToNpx, PACKAGE_FOLDER } from "../../config/program.ts";
import { MCP_CLIENTS, type StdioCommand } from "../output/mcp-clients.ts";
import type { McpOptions } from "./mcp.ts";

/** Prints the snippet for stdout, and where it belongs for the person. */
export function printClientConfig(name: string, options: McpOptions & { json?: boolean }): void {
  const client = MCP_CLIENTS.find((known) => known.name === name);
  if (!client) throw new Error(`no client ${name}`);
  if (!options.json) console.error(`Add this to ${client.file} of ${client.title}, and start it again:\n`);
  console.log(client.snippet(commandOf(options)));
}

/** Absolute, because programs with windows have no PATH of a shell. */
function commandOf(options: McpOptions): StdioCommand {
  const args = ["mcp", ...argumentsOf(options)];
  if (isFromNpx()) return { command: "npx", args: ["-y", namedToNpx(), ...args] };
  return { command: process.execPath, args: [join(PACKAGE_FOLDER, "bin", "matrx.js"), ...args] };
}

function argumentsOf({
  device,
  allDevices,
  relay,
  tokenFile,
  tools,
  readOnly,
  folder,
  network,
  asOwner,
}: McpOptions) {
  return [
    ...(device === undefined ? [] : ["--device", device]),
    ...(allDevices ? ["--all-devices"] : []),
    ...(relay === undefined ? [] : ["--relay", relay]),
    ...(tokenFile === undefined ? [] : ["--token-file", resolve(tokenFile)]),
    ...(tools ? ["--tools", tools.join()] : []),
    ...(readOnly ? ["--read-only"] : []),
    ...(folder ? ["--folder", ...folder.map((path) => (path.startsWith("~") ? path : resolve(path)))] : []),
    ...(network ? ["--network", ...network] : []),
    ...(asOwner ? ["--as-owner"] : []),
  ];
}

/** npx keeps packages in folders that it may empty. */
function isFromNpx(): boolean {
  return /[\\/]_npx[\\/]/.test(PACKAGE_FOLDER);
}
