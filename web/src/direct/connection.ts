/** The direct connection: it opens again by itself for as long as somebody wants it, and passes on calls. */
import type { ToCaller } from "@matrx/shared/caller/to-caller.ts";
import { answerIn, answerOf, UNREADABLE } from "../relay/answer.ts";
import { ApiError } from "../relay/api-error.ts";
import type { CallAnswer, CallEvent } from "../relay/call-events.ts";
import type { LiveSocket } from "../relay/live-socket.ts";
import { openLink } from "./link.ts";
import { beginDirect, type DirectState, endDirect, useDirect } from "./local.ts";
import { type Found, lookAt, type Target } from "./probe.ts";

/** Pauses before it is opened again, in milliseconds. */
const AGAIN = { first: 500, longest: 15_000 };

/** A server that answers requests, and nothing else. */
const NO_WEB_SOCKET = { obstacle: "other", said: "It does not accept a WebSocket at /ws." } as const;

/** A call that was not answered yet. */
export interface Unanswered {
  onEvent(event: CallEvent): void;
  /** Its answer; undefined: the connection broke. */
  onEnd(answer: CallAnswer | undefined): void;
}

let target: Target | undefined;
let link: LiveSocket | undefined;
let session: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let pause = AGAIN.first;
/** By the ids of their frames. */
const calls = new Map<string, Unanswered>();

useDirect.subscribe(({ state }) => {
  if (state === "off" && target) forget();
});

/** Connects, in the place of an earlier connection, until `endDirect`. */
export function connect(next: Target): void {
  endDirect();
  target = next;
  beginDirect(next.address);
  for (const event of WAKING) addEventListener(event, retryNow);
  document.addEventListener("visibilitychange", retryNow);
  void attempt(next);
}

const WAKING = ["online", "focus"] as const;

/** Tries at once, or asks an open connection for a sign of life. */
function retryNow(): void {
  if (document.visibilityState !== "visible" || !target) return;
  if (link) return link.check();
  if (timer === undefined) return;
  pause = AGAIN.first;
  clearTimeout(timer);
  void attempt(target);
}

/** The token that is in use; empty: none. */
export function tokenInUse(): string {
  return target?.token ?? "";
}

/** Sends a call's frame; what becomes of it is told to `unanswered`. Throws ApiError: there is no connection. */
export function sendCall(id: string, text: string, unanswered: Unanswered): void {
  if (useDirect.getState().state !== "online" || !link?.send(text)) throw notConnectedError();
  calls.set(id, unanswered);
}

/** Asks the server to stop a call. False: there is no connection. */
export function sendCancel(id: string): boolean {
  return link?.send(JSON.stringify({ action: "cancel", id })) ?? false;
}

/** Hears no more of a call. */
export function dropCall(id: string): void {
  calls.delete(id);
}

/** Reads a route of the server. Throws ApiError. */
export async function readDirectly<T>(path: string): Promise<T> {
  if (!target) throw notConnectedError();
  const { address, token } = target;
  const response = await fetch(`${address}${path}`, {
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    headers: token ? { Authorization: `Bearer ${token}` } : {},
  }).catch(() => {
    throw notConnectedError();
  });
  const answer = await response.json().catch(() => {
    throw notConnectedError();
  });
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

export function notConnectedError(): ApiError {
  return new ApiError(0, {
    detail: "There is no direct connection to this computer now.",
    hint: "Look under Settings, Connection.",
  });
}

function forget(): void {
  for (const event of WAKING) removeEventListener(event, retryNow);
  document.removeEventListener("visibilitychange", retryNow);
  clearTimeout(timer);
  timer = undefined;
  target = undefined;
  session = undefined;
  pause = AGAIN.first;
  link?.close();
  link = undefined;
  endCalls();
}

async function attempt(wanted: Target): Promise<void> {
  timer = undefined;
  const found = await lookAt(wanted);
  if (target !== wanted) return;
  if (found.kind === "obstacle") return stopAt(wanted, found);
  useDirect.setState({ version: found.version });
  link = openLink(wanted, session, {
    onFrame: take,
    onRoundTrip: (roundTrip) => useDirect.setState({ roundTrip }),
    onEnd: () => {
      link = undefined;
      if (useDirect.getState().state !== "online") useDirect.setState(NO_WEB_SOCKET);
      lost(wanted);
      endCalls();
    },
  });
}

function take(frame: ToCaller): void {
  switch (frame.type) {
    case "hello": {
      pause = AGAIN.first;
      session = frame.session;
      enter("online");
      useDirect.setState({ device: frame.device, obstacle: undefined, said: undefined });
      return;
    }
    case "output":
    case "gap":
    case "progress":
    case "approval":
      return calls.get(frame.id)?.onEvent(frame);
    case "success":
    case "error": {
      const { id, ...answer } = frame;
      const call = id ? calls.get(id) : undefined;
      if (!id || !call) return;
      calls.delete(id);
      return call.onEnd(answerIn(answer) ?? answerOf(UNREADABLE));
    }
    default:
    // Nothing else is asked for.
  }
}

function stopAt(wanted: Target, { obstacle, said }: Extract<Found, { kind: "obstacle" }>): void {
  useDirect.setState({ obstacle, said });
  // Asking again would not help.
  if (obstacle === "no token" || obstacle === "wrong token") return enter("stopped");
  lost(wanted);
}

function lost(wanted: Target): void {
  if (target !== wanted) return;
  if (useDirect.getState().state === "online") enter("reconnecting");
  timer = setTimeout(() => void attempt(wanted), pause * (0.75 + Math.random() / 2));
  pause = Math.min(pause * 2, AGAIN.longest);
}

function enter(state: DirectState): void {
  if (useDirect.getState().state === state) return;
  useDirect.setState({ state, since: Date.now(), roundTrip: undefined });
}

function endCalls(): void {
  const ended = [...calls.values()];
  calls.clear();
  for (const call of ended) call.onEnd(undefined);
}
