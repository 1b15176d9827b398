/** Calls as server-sent events: for whoever accepts `text/event-stream`. */
import { CALL_HEADER, SESSION_HEADER } from "@matrx/shared/tokens.ts";
import type { Caller } from "../auth/caller.ts";
import type { OpenStream, StreamedCall } from "../device/callers/sse-call.ts";
import type { Device } from "../objects/device.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { newCall, type Wanted } from "./invoke.ts";

const EVENT_STREAM = "text/event-stream";

/** The caller wants to be told as it happens. */
export function acceptsEventStream(request: Request): boolean {
  return (
    request.method !== "HEAD" && (request.headers.get("Accept") ?? "").toLowerCase().includes(EVENT_STREAM)
  );
}

/** Sends a call and answers with its events. Throws MatrxError. */
export async function streamCall(
  device: DurableObjectStub<Device>,
  caller: Caller,
  request: Request,
  wanted: Wanted & Pick<StreamedCall, "cancelOnDisconnect">,
): Promise<Response> {
  const call: StreamedCall = { ...wanted, ...newCall(request) };
  const opened = unwrap((await device.streamCall(caller, call)) as Outcome<OpenStream>);
  return eventResponse(opened, { ...(call.session && { [SESSION_HEADER]: call.session }) });
}

/** The events of a call that was made before. 204 to a reader who has its last one: so EventSource does not come again. Throws MatrxError. */
export async function attachToCall(
  device: DurableObjectStub<Device>,
  caller: Caller,
  request: Request,
  call: StreamedCall["call"],
): Promise<Response> {
  if (request.headers.get("Last-Event-ID") === "end") return new Response(null, { status: 204 });
  return eventResponse(unwrap((await device.attach(caller, call)) as Outcome<OpenStream>), {});
}

function eventResponse({ call, body }: OpenStream, headers: Record<string, string>): Response {
  return new Response(body, {
    headers: {
      "Content-Type": EVENT_STREAM,
      "Cache-Control": "no-store, no-transform",
      // Proxies such as nginx hold answers back otherwise.
      "X-Accel-Buffering": "no",
      [CALL_HEADER]: call,
      ...headers,
    },
  });
}
