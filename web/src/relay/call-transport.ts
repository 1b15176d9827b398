/** The way to a machine for its calls: requests in the session's name, which are answered with events. */
import { type HttpClient, HttpTransport } from "@matrx/client/http/transport.ts";
import { callerError, type ErrorCode, MatrxError } from "@matrx/shared/errors.ts";
import { open } from "./api.ts";
import { ApiError, otherSessionError } from "./api-error.ts";
import { readEvent } from "./call-events.ts";
import { sessionTurn } from "./session.ts";

/** For one call: whoever signs in meanwhile does not make it. */
export function transportTo(device: string): HttpTransport {
  const turn = sessionTurn();
  const client: HttpClient = {
    async openResponse(path, { method = "GET", ...request }) {
      if (method === "POST" && turn !== sessionTurn()) throw otherSession();
      return await opened(`${method} ${path}`, request);
    },
    send: (method, path) => opened(`${method} ${path}`, {}),
  };
  return new HttpTransport({ client, device, read: readEvent });
}

function otherSession(): MatrxError {
  const cause = otherSessionError();
  return callerError("UNAUTHENTICATED", cause.message, { cause });
}

/** The session is over, may not read the call, or there is no record of it: asking again would not help. */
export const FINAL: ReadonlyMap<number, ErrorCode> = new Map([
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
]);

async function opened(...request: Parameters<typeof open>): Promise<Response> {
  try {
    return await open(...request);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message } = error;
    const final = FINAL.get(status);
    // What the relay itself says of the call would be its answer, and pages tell refusals apart from those.
    const hop = status === 0 || final ? "caller" : "relay";
    throw new MatrxError({ code: final ?? "UNAVAILABLE", message, hop }, error);
  }
}

/** What went wrong, as pages know it. */
export function unwrapped(error: unknown): unknown {
  return error instanceof MatrxError && error.cause instanceof ApiError ? error.cause : error;
}
