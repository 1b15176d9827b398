/** One connection to an MCP server: its tools, and calls of them. */
import type { Progress } from "@matrx/shared/content.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { Client, type Tool, type Transport } from "@modelcontextprotocol/client";
import * as z from "zod";
import { AGENT_VERSION } from "../config/program.ts";
import { keepListening } from "./listening.ts";
import type { ForeignResult } from "./result.ts";

/** A server of before 2026 may not answer the question which era it is of. */
const PROBE_WITHIN = 5000;
const LIST_WITHIN = 20_000;
const PAGES_MAX = 10;
/** Tools that are looked at; those beyond are left out. */
const LISTED_MAX = 1000;
const CHANGES_TOGETHER = 500;

/** A tool as the server describes it. Only its name is known to be right. */
export interface ListedTool {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
}

const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().max(4096).optional(),
});
const listedSchema = z.looseObject({ name: z.string().min(1).max(256) });

export interface ForeignCall {
  readonly tool: ListedTool;
  readonly input: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Which protocol to speak: asks the server, or takes it for one of before 2026. */
export type Era = "auto" | "legacy";

export class Connection {
  readonly #client: Client;
  readonly #listening = new AbortController();

  private constructor(client: Client, onToolsChanged: () => void) {
    this.#client = client;
    void keepListening(client, onToolsChanged, this.#listening.signal);
  }

  static async open(
    transport: Transport,
    { era, signal, onToolsChanged, onClosed }: OpenOptions,
  ): Promise<Connection> {
    const client = new Client(
      { name: "matrx-relay", version: AGENT_VERSION },
      {
        // None: what a server asks of the user, of a model or of the disk is declined.
        capabilities: {},
        inputRequired: { autoFulfill: false },
        versionNegotiation: { mode: era, probe: { timeoutMs: PROBE_WITHIN } },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: CHANGES_TOGETHER, onChanged: onToolsChanged },
        },
        // Callers are told what a tool said, whether or not it kept to its own schema.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
      },
    );
    client.onclose = onClosed;
    client.onerror = () => undefined;
    await client.connect(transport, { signal, timeout: LIST_WITHIN });
    return new Connection(client, onToolsChanged);
  }

  /** The server's tools, in its order; what is none is left out. */
  async tools(signal: AbortSignal): Promise<ListedTool[]> {
    const tools: ListedTool[] = [];
    if (!this.#client.getServerCapabilities()?.tools) return tools;
    let cursor: string | undefined;
    for (let pages = 0; pages < PAGES_MAX && tools.length < LISTED_MAX; pages++) {
      const page: z.infer<typeof pageSchema> = await this.#client.request(
        { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
        pageSchema,
        { signal, timeout: LIST_WITHIN },
      );
      for (const one of page.tools.slice(0, LISTED_MAX)) {
        const tool = listedSchema.safeParse(one);
        if (tool.success) tools.push(tool.data);
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }

  /** Rejects with what the library or the server says is wrong. */
  async call({ tool, input, signal, onProgress }: ForeignCall): Promise<ForeignResult> {
    return await this.#client.callTool(
      { name: tool.name, arguments: input },
      {
        signal,
        // The call's own deadline ends it.
        timeout: TIMES.callMax + TIMES.answerWaits,
        onprogress: ({ progress, total, message }) =>
          onProgress({
            progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          }),
        // Without its output schema: the library refuses an answer of text alone, though the tool has run.
        toolDefinition: { ...tool, outputSchema: undefined } as Tool,
      },
    );
  }

  async close(): Promise<void> {
    this.#listening.abort();
    await this.#client.close();
  }
}

export interface OpenOptions {
  readonly era: Era;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
  readonly onClosed: () => void;
}
