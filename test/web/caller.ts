/** A caller with a token of its own, as an AI or a script is one. */
import { createdTokenSchema, type NewToken } from "../../shared/token-api.ts";
import type { App } from "./app.ts";

/** Calls a tool of the app's machine. Resolves to the answer as text. */
export type Caller = (
  tool: string,
  input: Record<string, unknown>,
  headers?: Record<string, string>,
) => Promise<string>;

/** Makes a token: an AI's if nothing else is said. */
export async function callerOf({ relay, machine }: App, wish: Partial<NewToken>): Promise<Caller> {
  const { token } = await relay.request(await relay.signIn(), "POST /v1/tokens", createdTokenSchema, wish);
  return async (tool, input, headers) => {
    const response = await fetch(`${relay.url}/v1/devices/${machine.id}/tools/${tool}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(input),
    });
    return await response.text();
  };
}
