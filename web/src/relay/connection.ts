/** The app's connection to the relay: it opens again by itself, for as long as somebody is signed in. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import { create } from "zustand";
import { onWake } from "../base/on-wake.ts";
import { openAccountSocket } from "./account-socket.ts";
import { api } from "./api.ts";
import { isSignedOut } from "./api-error.ts";
import type { LiveSocket } from "./live-socket.ts";

/** Pauses before it is opened again, in milliseconds. */
const AGAIN = { first: 500, longest: 15_000 };

/** `connecting`: not yet once; `reconnecting`: it was open before. */
export type ConnectionState = "connecting" | "online" | "reconnecting" | "signed out";

interface Connection {
  readonly state: ConnectionState;
  /** Since when, in milliseconds. */
  readonly since: number;
  /** The last sign of life, there and back, in milliseconds. */
  readonly roundTrip: number | undefined;
}

export const useConnection = create<Connection>(() => ({
  state: "connecting",
  since: Date.now(),
  roundTrip: undefined,
}));

export interface ConnectionListener {
  /** It is open again: what was shown may be old. */
  onOpen(): void;
  onFrame(frame: ToPerson): void;
  onSignedOut(): void;
}

let socket: LiveSocket | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let pause = AGAIN.first;
/** Whose connection is wanted; an attempt for an earlier one is dropped. */
let wanted: ConnectionListener | undefined;

/** Connects until the returned function is called. */
export function connect(listener: ConnectionListener): () => void {
  wanted = listener;
  pause = AGAIN.first;
  void attempt(listener);
  const over = new AbortController();
  onWake(retryNow, over.signal);
  return () => {
    over.abort();
    if (wanted === listener) wanted = undefined;
    clearTimeout(timer);
    socket?.close();
    socket = undefined;
    enter("connecting");
  };
}

/** Tries at once, or asks an open connection for a sign of life. */
export function retryNow(): void {
  if (document.visibilityState !== "visible" || !wanted) return;
  if (socket) return socket.check();
  if (timer === undefined) return;
  pause = AGAIN.first;
  clearTimeout(timer);
  void attempt(wanted);
}

/** Asks the relay for calls as they happen, while somebody looks. */
export function watchCalls(): void {
  socket?.send('{"action":"watch"}');
}

async function attempt(listener: ConnectionListener): Promise<void> {
  timer = undefined;
  const opened = await openAccountSocket({
    onFrame: (frame) => {
      if (frame.type === "hello") {
        pause = AGAIN.first;
        enter("online");
        listener.onOpen();
      }
      listener.onFrame(frame);
    },
    onRoundTrip: (ms) => useConnection.setState({ roundTrip: ms }),
    onEnd: () => {
      socket = undefined;
      void lost(listener);
    },
  }).catch(() => undefined);
  if (wanted !== listener) return opened?.close();
  if (!opened) return lost(listener);
  socket = opened;
}

async function lost(listener: ConnectionListener): Promise<void> {
  if (wanted !== listener) return;
  const { state } = useConnection.getState();
  if (state === "online") enter("reconnecting");
  // A refused upgrade looks like a lost network to a page: only a request tells them apart.
  const isOver = await api("GET /v1/account").then(
    () => false,
    (error: unknown) => isSignedOut(error),
  );
  if (wanted !== listener) return;
  if (isOver) {
    enter("signed out");
    return listener.onSignedOut();
  }
  timer = setTimeout(() => void attempt(listener), pause * (0.75 + Math.random() / 2));
  pause = Math.min(pause * 2, AGAIN.longest);
}

function enter(state: ConnectionState): void {
  if (useConnection.getState().state !== state)
    useConnection.setState({ state, since: Date.now(), roundTrip: undefined });
}
