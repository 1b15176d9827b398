/** Where well-known MCP clients keep their servers, and in which form. */

export interface StdioCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** The file, as a person would look for it. */
  readonly file: string;
  readonly snippet: (server: StdioCommand) => string;
}

const SERVER = "matrx";

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    file: "claude_desktop_config.json (Settings > Developer > Edit Config)",
    snippet: usual,
  },
  { name: "claude-code", title: "Claude Code", file: ".mcp.json of a project", snippet: usual },
  { name: "cursor", title: "Cursor", file: "~/.cursor/mcp.json", snippet: usual },
  {
    name: "vscode",
    title: "VS Code",
    file: ".vscode/mcp.json of a project (or the command MCP: Open User Configuration)",
    snippet: (server) => json({ servers: { [SERVER]: { type: "stdio", ...server } } }),
  },
  { name: "codex", title: "Codex", file: "~/.codex/config.toml", snippet: codex },
  { name: "gemini-cli", title: "Gemini CLI", file: "~/.gemini/settings.json", snippet: usual },
  { name: "windsurf", title: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json", snippet: usual },
  {
    name: "opencode",
    title: "opencode",
    file: "opencode.json",
    snippet: ({ command, args }) =>
      json({ mcp: { [SERVER]: { type: "local", command: [command, ...args], enabled: true } } }),
  },
  {
    name: "zed",
    title: "Zed",
    file: "settings.json (the command zed: open settings)",
    snippet: (server) => json({ context_servers: { [SERVER]: server } }),
  },
  {
    name: "lm-studio",
    title: "LM Studio",
    file: "mcp.json (Program > Install > Edit mcp.json)",
    snippet: usual,
  },
];

/** The shape that most clients share. */
function usual(server: StdioCommand): string {
  return json({ mcpServers: { [SERVER]: server } });
}

/** TOML's basic strings are JSON's, but for the escapes that paths and options do not need. */
function codex({ command, args }: StdioCommand): string {
  const list = args.map((arg) => JSON.stringify(arg)).join(", ");
  return `[mcp_servers.${SERVER}]\ncommand = ${JSON.stringify(command)}\nargs = [${list}]`;
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
