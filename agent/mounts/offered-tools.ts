/** The tools of one mounted server, as the device offers them: those that are allowed, and closed ones in their places. */
import { oneLine } from "@matrx/shared/one-line.ts";
import type { Logger } from "pino";
import type { Tool } from "../core/tool.ts";
import { CHANGED_PROGRAM, closedTool } from "./closed-tool.ts";
import type { ListedTool } from "./connection.ts";
import { seenTools } from "./definition.ts";
import { type Host, mountedTool } from "./mounted-tool.ts";
import { mountedNames } from "./names.ts";
import type { Pin } from "./pin.ts";
import type { ProgramPart } from "./program-parts.ts";

export const TOOLS_PER_SERVER = 128;
const WHY_CHARS = 150;
const LEFT_OUT_SHOWN = 20;

export class OfferedTools {
  readonly #host: Host;
  readonly #pin: Pin | undefined;
  readonly #log: Logger;
  #tools: readonly Tool[] = [];
  #leftOut: readonly string[] = [];
  #closed: ReadonlySet<string> = new Set();
  #whyClosed: string | undefined;

  constructor(host: Host, pin: Pin | undefined, log: Logger) {
    this.#host = host;
    this.#pin = pin;
    this.#log = log;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Tools, and parts of their schemas, each with why. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  get whyClosed(): string | undefined {
    return this.#whyClosed;
  }

  /** `name`: as callers know it. */
  isClosed(name: string): boolean {
    return this.#closed.has(name);
  }

  /** Its program has changed, and is not started. */
  closeAll(known: readonly string[]): void {
    const { server } = this.#host;
    const names = [...mountedNames(server, known).values()].slice(0, TOOLS_PER_SERVER);
    this.#tools = names.map((name) => closedTool(server, name));
    this.#closed = new Set(names);
    this.#leftOut = [];
    this.#whyClosed = CHANGED_PROGRAM;
  }

  take(listed: readonly ListedTool[], program: readonly ProgramPart[]): void {
    const { server } = this.#host;
    const names = mountedNames(
      server,
      listed.map(({ name }) => name),
    );
    const seen = seenTools(listed, names);
    const closed = this.#pin?.closed(program, seen) ?? new Set();
    const readable = new Set(seen.map(({ name }) => name));
    const tools: Tool[] = [];
    const leftOut: string[] = [];
    const isClosed = new Set<string>();
    const done = new Set<string>();
    for (const one of listed) {
      const name = names.get(one.name);
      const made =
        done.has(one.name) || name === undefined
          ? { problem: "its name is there twice" }
          : !readable.has(one.name)
            ? { problem: "its definition is too deep" }
            : tools.length >= TOOLS_PER_SERVER
              ? { problem: `the server has more than ${TOOLS_PER_SERVER} tools` }
              : closed.has(one.name)
                ? { tool: closedTool(server, name), open: CLOSED }
                : mountedTool(this.#host, name, one);
      done.add(one.name);
      const told = "problem" in made ? made.problem : made.open;
      if (told !== undefined) leftOut.push(oneLine(`${one.name.slice(0, 64)}: ${told}`, WHY_CHARS));
      if (!("tool" in made)) continue;
      tools.push(made.tool);
      if (made.open === CLOSED) isClosed.add(made.tool.name);
    }
    this.#tools = tools;
    this.#closed = isClosed;
    this.#leftOut = leftOut.slice(0, LEFT_OUT_SHOWN);
    this.#whyClosed =
      closed.size > 0 ? "tools of it have changed, or are new, since it was allowed" : undefined;
    if (leftOut.length > 0)
      this.#log.warn(
        { server, left_out: this.#leftOut },
        "tools of a mounted MCP server, or parts of them, are left out",
      );
  }
}

const CLOSED = "closed, as it has changed or is new since the server was allowed";
