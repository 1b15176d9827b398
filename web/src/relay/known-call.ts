/** A call that the relay knows by its name, as whoever made it, or looks for it later, can follow or stop it. */
import { followedCall } from "@matrx/client/call.ts";
import type * as client from "@matrx/client/transport.ts";
import type { CallView } from "@matrx/shared/api.ts";
import { api } from "./api.ts";
import type { CallAnswer, CallEvent } from "./call-events.ts";
import { transportTo, unwrapped } from "./call-transport.ts";

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

const NEVER = new AbortController().signal;

/** What `@matrx/client` tells, as pages say it. */
export function heardBy(
  { onCall, onEvent, onTrouble }: CallListener,
  leave: AbortSignal,
): client.CallListener {
  let isConnected = false;
  return {
    onName() {
      isConnected = true;
      onCall();
    },
    onEvent(event) {
      // Whether output is missing since a call was sent again, its offsets tell.
      if (event.type !== "gap" || event.frames > 0) onEvent(event);
    },
    onTrouble({ why, next }) {
      if (next === "send") onTrouble("Can't reach the relay. Making sure that it got the call …");
      else if (isConnected) onTrouble("Connection lost. Asking the relay for the result …");
      else onTrouble(`${why} Asking again for the result …`);
      isConnected = false;
    },
    stop: NEVER,
    leave,
  };
}

/** Its answer, once there is one, through connections that break; undefined after `leave`. Throws ApiError. */
export async function followCall(
  { device, call }: KnownCall,
  listener: CallListener,
  leave: AbortSignal,
): Promise<CallAnswer | undefined> {
  try {
    const end = await followedCall(transportTo(device), call, heardBy(listener, leave));
    return end.kind === "answer" ? end.answer : undefined;
  } catch (error) {
    throw unwrapped(error);
  }
}

/** Reads its events over one connection, to its answer; undefined: it broke off before. Throws ApiError. */
export async function hearCall(
  { device, call }: KnownCall,
  onEvent: (event: CallEvent) => void,
  leave: AbortSignal = NEVER,
): Promise<CallAnswer | undefined> {
  const unheard = () => undefined;
  const listener = { onEvent, onName: unheard, onTrouble: unheard, stop: NEVER, leave };
  const attempt = await transportTo(device)
    .follow?.(call, listener)
    .catch((error: unknown) => {
      throw unwrapped(error);
    });
  if (attempt?.kind === "answer") return attempt.answer;
  if (attempt?.kind === "lost" && attempt.cause) throw attempt.cause;
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
