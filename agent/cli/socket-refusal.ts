/** Why the relay answered a WebSocket's upgrade with something else. */
import type { IncomingMessage } from "node:http";
import { problemSchema } from "@matrx/shared/api.ts";
import { type Hop, MatrxError } from "@matrx/shared/errors.ts";

export async function refusalOf(response: IncomingMessage): Promise<MatrxError> {
  let text = "";
  for await (const chunk of response) text += chunk;
  const problem = problemSchema.safeParse(parsed(text));
  if (problem.success) {
    const { code, detail, hint, hop } = problem.data;
    return new MatrxError({ code, message: detail, hint, hop: hop as Hop });
  }
  return new MatrxError({
    code: response.statusCode === 401 ? "UNAUTHENTICATED" : "UNAVAILABLE",
    message: `The relay answered ${response.statusCode} to the WebSocket`,
    hint: "Check the relay's address; --rest calls without a WebSocket",
    hop: "relay",
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
