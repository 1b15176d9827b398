/** An MCP server of somebody's for a person's files, as each case uses it: by what is wanted, whatever its tools are called. */
import { Client, type ProgressCallback } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** What a person would ask for. Paths are absolute. */
export interface Wishes {
  read: { path: string };
  readLines: { path: string; from: number; count: number };
  readEnd: { path: string; count: number };
  readImage: { path: string };
  write: { path: string; content: string };
  edit: { path: string; from: string; to: string };
  list: { path: string };
  find: { path: string; pattern: string };
  search: { path: string; text: string };
  move: { from: string; to: string };
  remove: { path: string };
  run: { command: string };
  /** Starts a command that goes on. */
  start: { command: string };
  /** What a command that goes on has printed, once it has printed something new or has ended. */
  follow: { id: string };
  end: { id: string };
}
export type Wish = keyof Wishes;

export interface ToolUse {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

type Translations = { [W in Wish]?: (wish: Wishes[W]) => ToolUse };

/** How a server is started on a folder, and which of its tools does what. */
export interface PeerProgram {
  readonly name: string;
  /** Arguments of Node. */
  args(folder: string): string[];
  readonly tools: Translations;
  /** Writes its settings. */
  prepare?(folder: string, home: string): void;
  /** The name of a command that goes on, in the answer to its start. */
  readonly startedId?: RegExp;
  /** Asks again until a search that goes on is over. */
  readonly goOn?: (text: string) => ToolUse | undefined;
}

export interface Reply {
  readonly failed: boolean;
  readonly text: string;
  readonly content: readonly { readonly type: string; readonly data?: string; readonly mimeType?: string }[];
}

/** A server that has no tool for a wish. */
export class Lacks extends Error {}

export interface Asking {
  readonly signal?: AbortSignal;
  readonly onprogress?: ProgressCallback;
}

const ANSWERS_WITHIN = 30_000;
const MOST_ROUNDS = 100;

export class Peer implements AsyncDisposable {
  readonly #program: PeerProgram;
  readonly #client: Client;
  #isClosed = false;

  private constructor(program: PeerProgram, client: Client) {
    this.#program = program;
    this.#client = client;
    client.onclose = () => {
      this.#isClosed = true;
    };
  }

  /** It ended, or said more at once than a client takes. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts a server that may work in `folder`, and keeps what is its own in `home`. */
  static async start(program: PeerProgram, folder: string, home: string): Promise<Peer> {
    program.prepare?.(folder, home);
    const client = new Client({ name: "peers", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: program.args(folder),
      env: { ...(process.env as Record<string, string>), HOME: home, MATRX_HOME: `${home}/matrx` },
      cwd: folder,
      stderr: "ignore",
    });
    await client.connect(transport);
    return new Peer(program, client);
  }

  /** Rejects with Lacks, or if the server does not answer. */
  async ask<W extends Wish>(wish: W, wanted: Wishes[W], asking: Asking = {}): Promise<Reply> {
    const translate = this.#program.tools[wish];
    if (!translate) throw new Lacks(wish);
    let reply = await this.use(translate(wanted), asking);
    const texts = [reply.text];
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const next = wish === "find" || wish === "search" ? this.#program.goOn?.(reply.text) : undefined;
      if (!next) break;
      reply = await this.use(next);
      texts.push(reply.text);
    }
    return { ...reply, text: texts.join("\n") };
  }

  /** Starts a command that goes on; resolves with its name. */
  async start(command: string): Promise<string> {
    const { text } = await this.ask("start", { command });
    const id = this.#program.startedId?.exec(text)?.[1];
    if (id === undefined) throw new Error(`no name of a command: ${text.slice(0, 200)}`);
    return id;
  }

  async use({ tool, input }: ToolUse, asking: Asking = {}): Promise<Reply> {
    try {
      const result = await this.#client.callTool(
        { name: tool, arguments: input },
        { timeout: ANSWERS_WITHIN, resetTimeoutOnProgress: true, ...asking },
      );
      const content = result.content as Reply["content"];
      const texts = (content as readonly { text?: string }[]).map(({ text = "" }) => text);
      return { failed: result.isError === true, text: texts.join("\n"), content };
    } catch (error) {
      if (asking.signal?.aborted) throw error;
      return { failed: true, text: error instanceof Error ? error.message : String(error), content: [] };
    }
  }

  /** The tool that does this, to be used wrongly. */
  toolOf(wish: Wish): string {
    const translate = this.#program.tools[wish] as ((wanted: object) => ToolUse) | undefined;
    if (!translate) throw new Lacks(wish);
    return translate({}).tool;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.close();
  }
}
