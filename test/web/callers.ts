/** Callers beside the person in the app: tokens of their own, and real calls with them. */
import { createdTokenSchema, type NewToken } from "../../shared/token-api.ts";
import type { App } from "./app.ts";

/** Calls a tool of the app's machine. Resolves to the answer's body. */
export type Caller = (tool: string, input: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** Makes a token, an AI's if nothing else is said, and calls with it. */
export async function callerOf(
  app: App,
  wish: NewToken | (Partial<NewToken> & { name: string }),
): Promise<Caller> {
  const { relay, machine } = app;
  const { token } = await relay.request(await relay.signIn(), "POST /v1/tokens", createdTokenSchema, wish);
  return async (tool, input) => {
    const response = await fetch(`${relay.url}/v1/devices/${machine.id}/tools/${tool}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(input),
    });
    return (await response.json()) as Record<string, unknown>;
  };
}
