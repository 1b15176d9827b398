/** Streamable HTTP for our MCP clients, where a request whose stream ends without an answer has failed at once. */
import { isJSONRPCRequest, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

type Send = StreamableHTTPClientTransport["send"];

/** The JSON-RPC error code of such a request. */
export const STREAM_ENDED = -32_091;

export class HttpClientTransport extends StreamableHTTPClientTransport {
  /** The client library itself would wait until the request's time is over. */
  override async send(...[message, options]: Parameters<Send>): Promise<void> {
    const isWaited = !Array.isArray(message) && isJSONRPCRequest(message) && !options?.onRequestStreamEnd;
    if (!isWaited) return await super.send(message, options);
    const { id } = message;
    const error = { code: STREAM_ENDED, message: "the connection ended before the answer came" };
    // After an answer, this one is of no request any more and is passed over.
    const onRequestStreamEnd = () => this.onmessage?.({ jsonrpc: "2.0", id, error });
    await super.send(message, { ...options, onRequestStreamEnd });
  }
}
