/** Stdin and stdout of a program that an MCP client started. */
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export class StdioTransport extends StdioServerTransport {
  readonly #closed = Promise.withResolvers<void>();

  constructor() {
    super();
    process.stdin.once("end", this.#closed.resolve).once("close", this.#closed.resolve);
  }

  /** Resolves once the client has closed its end, or sent so much at once that the library reads no more. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  override async close(): Promise<void> {
    this.#closed.resolve();
    await super.close();
  }
}
