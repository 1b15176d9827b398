/** Compares a mounted server with what was allowed of it. What is seen first is allowed; later changes wait for the owner. */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { fileStamp } from "../platform/private-file.ts";
import type { SeenTool } from "./definition.ts";
import { closedTools, isSameProgram, type Pinned, readPin, type Waiting, writePin } from "./pin-file.ts";
import type { ProgramPart } from "./program-parts.ts";

export interface PinOptions {
  readonly file: string;
  readonly server: string;
  readonly log: Logger;
}

export class Pin {
  readonly #options: PinOptions;
  #stamp: string | undefined;
  #pinned: Pinned | undefined;

  constructor(options: PinOptions) {
    this.#options = options;
  }

  /** Whether the file is another than at the last look: the owner may have allowed what waits. */
  get isStale(): boolean {
    return fileStamp(this.#options.file) !== this.#stamp;
  }

  /** The tools that were allowed. */
  get names(): readonly string[] {
    return this.#look()?.allowed.tools.map(({ name }) => name) ?? [];
  }

  /** Whether this program may be started. */
  allowsProgram(program: readonly ProgramPart[]): boolean {
    const pinned = this.#look();
    if (!pinned || isSameProgram(pinned.allowed.program, [...program])) return true;
    this.#wait(pinned, { program: [...program] });
    return false;
  }

  /** The names of tools that are closed. A server's first tools are allowed. */
  closed(program: readonly ProgramPart[], tools: readonly SeenTool[]): ReadonlySet<string> {
    const { log, server } = this.#options;
    const now = { program: [...program], tools: [...tools] };
    const pinned = this.#look();
    if (!pinned) {
      if (tools.length === 0) return new Set();
      this.#keep({ allowed: now });
      log.info({ server, tools: tools.length }, "a mounted MCP server was seen first: its tools are pinned");
      return new Set();
    }
    const closed = closedTools(pinned, now.tools);
    this.#wait(pinned, closed.length > 0 ? now : undefined);
    return new Set(closed.map(({ tool }) => tool.name));
  }

  #wait({ allowed, waiting: before }: Pinned, waiting: Waiting | undefined): void {
    if (!isDeepStrictEqual(before, waiting)) this.#keep({ allowed, ...(waiting && { waiting }) });
  }

  #keep(pinned: Pinned): void {
    const { file, server, log } = this.#options;
    this.#pinned = pinned;
    try {
      writePin(file, pinned);
    } catch (err) {
      log.warn({ server, err }, "what is allowed of a mounted MCP server could not be kept");
    }
    this.#stamp = fileStamp(file);
  }

  #look(): Pinned | undefined {
    const { file, server, log } = this.#options;
    if (!this.isStale) return this.#pinned;
    this.#stamp = fileStamp(file);
    try {
      this.#pinned = readPin(file);
    } catch (err) {
      log.warn({ server, err }, "what was allowed of a mounted MCP server is not known: it is closed");
      this.#pinned = { allowed: { program: null, tools: [] } };
    }
    return this.#pinned;
  }
}
