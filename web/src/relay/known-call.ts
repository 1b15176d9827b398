/** A call that the relay knows by its name, as whoever made it, or looks for it later, can follow or stop it. */
import type { CallView } from "@matrx/shared/api.ts";
import { api, openEvents } from "./api.ts";
import { ApiError } from "./api-error.ts";
import { type CallAnswer, type CallEvent, eventsOf } from "./call-events.ts";

/** Pause before the relay is asked again, in milliseconds. */
const AGAIN = 2000;
/** The session is over, may not read the call, or there is no record of it. */
const FINAL_STATUSES = [401, 403, 404];

export interface KnownCall {
  readonly device: string;
  readonly call: string;
}

export interface CallListener {
  /** It is on its way. */
  onCall(): void;
  /** Output, a gap in it, progress, or a question to a person. */
  onEvent(event: CallEvent): void;
  /** What stands in the way. */
  onTrouble(text: string): void;
}

/** Its answer, once there is one, through connections that break. Throws ApiError; the signal's reason when that ends it. */
export function followCall(
  { device, call }: KnownCall,
  listener: CallListener,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const follow = async () => {
    const path = { device, call };
    const response = await openEvents("GET /v1/devices/{device}/calls/{call}", { path }, signal);
    listener.onCall();
    return answerIn(response, listener, signal);
  };
  return persistently(follow, listener, signal);
}

/** Reads the events of a call. Undefined: the connection broke before its end. */
export async function answerIn(
  response: Response,
  { onEvent }: Pick<CallListener, "onEvent">,
  signal: AbortSignal,
): Promise<CallAnswer | undefined> {
  for await (const event of eventsOf(response)) {
    if (event.kind === "answer") return event.answer;
    onEvent(event.event);
  }
  signal.throwIfAborted();
  return undefined;
}

/** Whether nothing more comes of it. */
export function isOver({ state }: Pick<CallView, "state">): boolean {
  return state !== "accepted" && state !== "awaiting_approval";
}

/** Asks the machine to stop it. Throws ApiError. */
export async function stopCall(path: KnownCall): Promise<void> {
  await api("POST /v1/devices/{device}/calls/{call}/cancel", { path: { ...path } });
}

/** Asks until there is something, except where asking again would not help. */
export async function persistently<T>(
  ask: () => Promise<T | undefined>,
  { onTrouble }: Pick<CallListener, "onTrouble">,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      const found = await ask();
      signal.throwIfAborted();
      if (found !== undefined) return found;
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      if (FINAL_STATUSES.includes(error.status)) throw error;
      onTrouble(`${error.message} Asking again for the result …`);
    }
    await pause(signal);
  }
}

/** Ends early, with an error, when the reader leaves. */
export function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, AGAIN);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
