/** Stdin and stdout of a program that an MCP client started. */
import { withoutNullArguments } from "@matrx/shared/mcp/null-arguments.ts";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export class StdioTransport extends StdioServerTransport {
  readonly #closed = Promise.withResolvers<void>();

  constructor() {
    super();
    this.#withoutNullArguments();
    process.stdin.once("end", this.#closed.resolve).once("close", this.#closed.resolve);
  }

  /** Resolves once the client has closed its end, or sent so much at once that the library reads no more. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** What handles messages gets them as over HTTP. */
  #withoutNullArguments(): void {
    let handler: StdioServerTransport["onmessage"];
    Object.defineProperty(this, "onmessage", {
      get: () => handler,
      set: (next: typeof handler) => {
        handler = next && ((message) => next(withoutNullArguments(message) as typeof message));
      },
    });
  }

  override async close(): Promise<void> {
    this.#closed.resolve();
    await super.close();
  }
}
