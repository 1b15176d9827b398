/** The relay's port of a device, over HTTP: what code in the relay has by requests to the device's object. */
import { pathOf, RelayClient } from "../../client/http/relay-client.ts";
import { MatrxError } from "../../shared/errors.ts";
import type { CallId } from "../../shared/ids.ts";
import { StreamedCalls } from "../../shared/mcp/streamed-calls.ts";
import { CALL_HEADER, SESSION_HEADER } from "../../shared/tokens.ts";

interface PortAt {
  readonly url: string;
  readonly device: string;
  readonly token: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

export function callsOverHttp({ url, device, token, fetch }: PortAt): StreamedCalls {
  const client = new RelayClient({ relay: url, token: () => token, fetch });
  const base = pathOf("v1", "devices", device);
  const opened = async (path: string, headers: Record<string, string>, more: object = {}) => {
    const asked = { headers: { Accept: "text/event-stream", ...headers }, ...more };
    const response = await client.openResponse(`${base}${path}`, asked).catch(asRuntime);
    if (!response.body) throw new Error("No events came");
    return { call: response.headers.get(CALL_HEADER) as CallId, body: response.body };
  };
  return new StreamedCalls({
    device,
    openTools: () => Promise.reject(new Error("No model is here")),
    streamCall: ({ tool, input, session, key, timeoutMs, cancelOnDisconnect }) =>
      opened(
        pathOf("tools", tool),
        {
          ...(session !== undefined && { [SESSION_HEADER]: session }),
          ...(key !== undefined && { "Idempotency-Key": key }),
        },
        {
          ...{ method: "POST", body: JSON.parse(input) },
          query: {
            ...(timeoutMs !== undefined && { timeout_ms: String(timeoutMs) }),
            ...(cancelOnDisconnect && { cancel_on_disconnect: "true" }),
          },
        },
      ),
    attach: (call, waitMs = 60_000) =>
      opened(pathOf("calls", call), { Prefer: `wait=${Math.ceil(waitMs / 1000)}` }),
    cancelCall: async (call) => {
      await client.send("POST", `${base}${pathOf("calls", call)}/cancel`);
    },
    cancelUnshared: () => Promise.resolve(false),
  });
}

/** Where a program's connection breaks, the runtime throws errors of its own. */
function asRuntime(error: unknown): never {
  if (error instanceof MatrxError && error.hop === "caller") throw new Error(error.message);
  throw error;
}
