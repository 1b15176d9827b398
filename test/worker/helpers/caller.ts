/** A caller's WebSocket (guide, WebSocket Protocol). */
import type { Answer } from "@matrx/shared/caller/to-caller.ts";
import { bearer } from "./relay.ts";
import { TestSocket } from "./socket.ts";

export class TestCaller extends TestSocket {
  static async connect(
    device: string,
    token: string,
    options: { query?: string; protocol?: string } = {},
  ): Promise<TestCaller> {
    const { query = "", protocol } = options;
    const headers = { ...bearer(token), ...(protocol && { "Sec-WebSocket-Protocol": protocol }) };
    const [ws, responseHeaders] = await TestSocket.upgrade(`/v1/devices/${device}/ws${query}`, headers);
    return new TestCaller(ws, responseHeaders);
  }

  get session(): string {
    return this.headers.get("Matrx-Session") ?? "";
  }

  /** Sends a call and awaits the next frame, which must be its answer. */
  async call(tool: string, input: unknown = {}, more: Record<string, unknown> = {}): Promise<Answer> {
    const id = `req-${crypto.randomUUID().slice(0, 8)}`;
    this.send({ id, tool, input, ...more });
    const answer = await this.nextJson<Answer>();
    if (answer.id !== id)
      throw new Error(`the answer is to ${answer.id}, not to ${id}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
