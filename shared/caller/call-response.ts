/** What HTTP responses to calls have in common. */
import type * as z from "zod";
import type { CallApproval } from "../approval.ts";
import type { CallId } from "../ids.ts";
import type { pendingCallSchema } from "../openapi/bodies.ts";
import { CALL_HEADER, SESSION_HEADER } from "../tokens.ts";
import type { OpenStream } from "./port.ts";
import { EVENT_STREAM } from "./request.ts";

/** The headers that name call and session. */
export function answerHeaders(call: string, session: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { [CALL_HEADER]: call, "Cache-Control": "no-store" };
  if (session) headers[SESSION_HEADER] = session;
  return headers;
}

/** A response of bytes, or of a stream of them. */
export function bytesResponse(
  bytes: Uint8Array | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Response {
  return new Response(bytes as ConstructorParameters<typeof Response>[0], { headers });
}

/** A response that streams a call's events. */
export function eventResponse({ call, body }: OpenStream, session?: string): Response {
  return new Response(body, {
    headers: {
      ...answerHeaders(call, session),
      "Content-Type": EVENT_STREAM,
      "Cache-Control": "no-store, no-transform",
      // Otherwise proxies such as nginx buffer the response.
      "X-Accel-Buffering": "no",
    },
  });
}

/** What is told of a call that continues, or waits for a person, when its caller is sent away. */
export function pendingCall(
  call: CallId,
  device: string,
  approval: CallApproval | undefined,
): z.infer<typeof pendingCallSchema> {
  const url = `/v1/devices/${device}/calls/${call}`;
  const state = approval?.state === "pending" ? "awaiting_approval" : "accepted";
  return { call, state, url, ...(approval && { approval }) };
}
