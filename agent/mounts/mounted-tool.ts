/** A tool of a mounted server as one of the device's tools. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { oneLine } from "@matrx/shared/one-line.ts";
import { ProtocolError } from "@modelcontextprotocol/client";
import type { Lack, Tool } from "../core/tool.ts";
import type { Pictures } from "../pictures/pictures.ts";
import type { Connection, ListedTool } from "./connection.ts";
import { STREAM_ENDED } from "./http-client.ts";
import { TOO_LARGE } from "./message-reader.ts";
import { partsOf, toolResultOf } from "./result.ts";
import { announcedSchema, inputOf } from "./schema.ts";
import { withShownPictures } from "./shown-pictures.ts";

const DESCRIPTION_CHARS = 8192;
const TITLE_CHARS = 128;
const WHY_CHARS = 300;

/** Where the tool runs. */
export interface Host {
  readonly server: string;
  readonly timeoutMs: number | undefined;
  /** Undefined while the server is not running. */
  readonly connection: Connection | undefined;
  /** Why it is not running. */
  readonly lack: Lack | undefined;
  readonly pictures: Pictures;
  /** Why a tool with this name must not run; it may have been closed while the call waited. */
  refusal(name: string): MatrxError | undefined;
  /** A call failed in a way that may mean that the connection is lost. */
  lost(connection: Connection, error: unknown): void;
}

/** The tool, and what of it is left open; or why it is left out. */
export function mountedTool(
  host: Host,
  name: string,
  listed: ListedTool,
): { tool: Tool; open?: string | undefined } | { problem: string } {
  const made = inputOf(name, listed.inputSchema);
  if ("problem" in made) return made;
  const output = listed.outputSchema === undefined ? undefined : announcedSchema(listed.outputSchema);
  const title = titleOf(listed);
  const tool: Tool = {
    name,
    ...(title && { title }),
    description: textOf(listed.description, DESCRIPTION_CHARS) || `Tool of the MCP server ${host.server}`,
    input: made.input,
    ...(output && "schema" in output && { output: { json_schema: output.schema } }),
    timeoutMs: host.timeoutMs ?? TIMES.callDefault,
    unavailable: () => host.lack,
    prepare() {
      const refusal = host.refusal(name);
      if (refusal) throw refusal;
      return {};
    },
    async handle(parameters, { signal, progress, room, grant }) {
      const { connection } = host;
      if (!connection) throw notRunning(host);
      try {
        const result = await connection.call({
          tool: listed,
          input: parameters,
          signal,
          onProgress: progress,
        });
        const parts = await withShownPictures(partsOf(result), host.pictures.of(grant.id), { grant, signal });
        const answer = toolResultOf(host.server, result, parts);
        await room(bytesOf(answer));
        return answer;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw toldError(host, connection, error);
      }
    },
  };
  return { tool, open: made.open };
}

function titleOf({ title, annotations }: ListedTool): string {
  const own = textOf(title, TITLE_CHARS);
  if (own !== "") return own;
  const hints = typeof annotations === "object" && annotations !== null ? annotations : {};
  return "title" in hints ? textOf(hints.title, TITLE_CHARS) : "";
}

function textOf(value: unknown, most: number): string {
  if (typeof value !== "string") return "";
  const text = value.trim();
  return (text.length > most ? `${text.slice(0, most - 1)}…` : text).toWellFormed();
}

/** About as large as the answer will be. */
function bytesOf({ output, image, content }: Awaited<ReturnType<Tool["handle"]>>): number {
  return output.length + (image?.base64_data.length ?? 0) + (content ? JSON.stringify(content).length : 0);
}

function notRunning({ server, lack }: Host): MatrxError {
  return toolError("UNAVAILABLE", lack?.why ?? `The MCP server ${server} is not running`, {
    hint: lack?.help,
    details: { server },
  });
}

/** What went wrong, in words of ours around those of the server. */
function toldError(host: Host, connection: Connection, error: unknown): unknown {
  if (!(error instanceof Error) || "hop" in error) return error;
  const { server } = host;
  const details = { server };
  if (error instanceof ProtocolError && error.code !== STREAM_ENDED) {
    if (error.code === TOO_LARGE) {
      return toolError(
        "PAYLOAD_TOO_LARGE",
        `The tool ran, but its result is too large for the MCP server's connection`,
        {
          hint: "Ask for less at once",
          details: { ...details, limit_bytes: LIMITS.resultFrameBytes },
        },
      );
    }
    const said = oneLine(error.message, WHY_CHARS);
    return toolError("TOOL_EXECUTION_FAILED", `The MCP server ${server} refused the call: ${said}`, {
      details: { ...details, mcp_code: error.code },
    });
  }
  host.lost(connection, error);
  if (host.connection === connection) {
    const said = oneLine(error.message, WHY_CHARS);
    return toolError("TOOL_EXECUTION_FAILED", `The MCP server ${server} gave no usable answer: ${said}`, {
      details,
    });
  }
  return toolError("TOOL_EXECUTION_FAILED", `The MCP server ${server} stopped while the call ran`, {
    hint: "It is not run again by itself. Check what it changed before you call it again",
    details,
  });
}
