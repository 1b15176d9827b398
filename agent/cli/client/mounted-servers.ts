/** The MCP servers that this machine mounts: what is allowed of each, and what waits to be allowed. */
import { isDeepStrictEqual } from "node:util";
import { callerError } from "@matrx/shared/errors.ts";
import type { Home } from "../../config/app-dirs.ts";
import { readConfig } from "../../config/config.ts";
import type { ServerSettings } from "../../config/mount-settings.ts";
import {
  allowed,
  closedTools,
  isSameProgram,
  type Pinned,
  pinFileOf,
  readPin,
  writePin,
} from "../../mounts/pin-file.ts";

type ServerState = "disabled" | "unchecked" | "unseen" | "allowed" | "closed";

/** A definition as its server gives it; `null` if there was none, or it is too long to be kept. */
export interface ToolChange {
  readonly tool: string;
  readonly change: "new" | "changed";
  readonly before: unknown;
  readonly now: unknown;
}

export interface MountedServer {
  readonly name: string;
  readonly state: ServerState;
  /** How many of its tools are allowed. */
  readonly allowed: number;
  /** Files of its program that changed. */
  readonly program: readonly string[];
  readonly tools: readonly ToolChange[];
}

/** By name. Throws MatrxError. */
export function mountedServers(home: Home): MountedServer[] {
  return Object.entries(serversOf(home))
    .map(([name, settings]) => viewOf(name, settings, readPin(pinFileOf(home.pins, name, settings))))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What of one server waits, and how to allow just that. Throws MatrxError. */
export function waitingOf(home: Home, name: string): { server: MountedServer; allow(): void } {
  const servers = serversOf(home);
  const settings = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (!settings)
    throw callerError("NOT_FOUND", "This machine mounts no MCP server of this name", {
      hint: "Those that it mounts: matrx mounts",
    });
  const file = pinFileOf(home.pins, name, settings);
  const shown = readPin(file);
  return {
    server: viewOf(name, settings, shown),
    allow() {
      const now = readPin(file);
      if (!now || !isDeepStrictEqual(now, shown))
        throw callerError("CONFLICT", `${name} has changed again since that was shown`, {
          hint: `Look again: matrx mounts allow ${name}`,
        });
      writePin(file, allowed(now));
    },
  };
}

function serversOf(home: Home): Readonly<Record<string, ServerSettings>> {
  return readConfig(home)?.mcpServers ?? {};
}

function viewOf(name: string, settings: ServerSettings, pinned: Pinned | undefined): MountedServer {
  const { waiting } = pinned ?? {};
  return {
    name,
    state: stateOf(settings, pinned),
    allowed: pinned?.allowed.tools.length ?? 0,
    program:
      pinned && waiting && !isSameProgram(pinned.allowed.program, waiting.program)
        ? waiting.program.map(({ path }) => path)
        : [],
    tools: pinned
      ? closedTools(pinned, waiting?.tools).map(({ tool, before }) => ({
          tool: tool.name,
          change: before ? "changed" : "new",
          before: definitionOf(before?.definition),
          now: definitionOf(tool.definition),
        }))
      : [],
  };
}

function stateOf({ disabled, changes }: ServerSettings, pinned: Pinned | undefined): ServerState {
  if (disabled) return "disabled";
  if (changes === "allow") return "unchecked";
  if (!pinned) return "unseen";
  return pinned.waiting ? "closed" : "allowed";
}

function definitionOf(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}
