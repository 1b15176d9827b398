/** A call by WebSocket: its output can be shown live, and Ctrl-C cancels it. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, toCallerSchema } from "@matrx/shared/caller/to-caller.ts";
import { callerError, type MatrxError } from "@matrx/shared/errors.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { SUBPROTOCOL } from "@matrx/shared/tokens.ts";
import { WebSocket } from "ws";
import { lostBecause } from "../../relay/close-reasons.ts";
import type { LiveOutput } from "../output/live-output.ts";
import { noteWaiting } from "../output/waiting-note.ts";
import type { CallToMake, MadeCall } from "./call-by-rest.ts";
import { dialCaller, hangUp, sendIfOpen } from "./caller-socket.ts";
import { parsedJson } from "./json.ts";
import type { RelayClient } from "./relay-client.ts";

const ID = "1";
/** How long to wait for the answer after Ctrl-C, in milliseconds. */
const CANCELLED_WITHIN = TIMES.killAfter + 2000;
/** How often to try if the connection breaks; with its idempotency key it is the same call. */
const TRIES = 3;
const AGAIN_AFTER = 1000;

/** The connection ended before the answer came. */
class ConnectionLost extends Error {}

/** Makes the call and waits for its end. Passes output to `live` as it arrives. Throws MatrxError. */
export async function callBySocket(
  client: RelayClient,
  toMake: CallToMake,
  live?: LiveOutput,
): Promise<MadeCall> {
  const { stop } = toMake;
  const sending = { sent: false };
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(client, toMake, live, sending);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (stop.aborted || tries === TRIES) {
        throw sending.sent ? lost(error.message, toMake) : notSent(error.message, stop);
      }
      live?.gap();
      await sleep(AGAIN_AFTER, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

async function attempt(
  client: RelayClient,
  toMake: CallToMake,
  live: LiveOutput | undefined,
  sending: { sent: boolean },
): Promise<MadeCall> {
  if (toMake.stop.aborted) throw new ConnectionLost("cancelled");
  const fresh = toMake.session === "new";
  let session = fresh ? undefined : toMake.session;
  const ended = Promise.withResolvers<Answer>();
  const socket = dialCaller(client, {
    device: toMake.device,
    session,
    // Only on this subprotocol, the relay names a new session, and says that a person is asked.
    subprotocols: [SUBPROTOCOL.v1],
    onRefused: ended.reject,
  });
  let why: string | undefined;
  socket.on("open", () => {
    if (toMake.stop.aborted) return;
    sending.sent = true;
    socket.send(JSON.stringify(frameOf(toMake, live !== undefined)));
  });
  socket.on("message", (data) => {
    const frame = toCallerSchema.safeParse(parsedJson(data.toString())).data;
    if (frame?.type === "success" || frame?.type === "error") ended.resolve({ ...frame, id: ID });
    else if (frame?.type === "output") live?.show(frame.channel, frame.offset, frame.data);
    else if (frame?.type === "gap") live?.gap();
    else if (frame?.type === "progress") live?.progress(frame);
    else if (frame?.type === "hello" && fresh) session = frame.session;
    else if (frame?.type === "approval" && frame.state === "pending")
      noteWaiting({ id: frame.approval, expires: frame.expires });
  });
  socket.on("error", (error) => {
    why = lostBecause(error);
  });
  socket.on("close", (code, reason) => {
    ended.reject(new ConnectionLost(why ?? (reason.toString() || `closed (${code})`)));
  });
  const cancel = () => {
    if (socket.readyState !== WebSocket.OPEN) return ended.reject(new ConnectionLost("cancelled"));
    sendIfOpen(socket, { id: ID, action: "cancel" });
    setTimeout(() => socket.terminate(), CANCELLED_WITHIN).unref();
  };
  toMake.stop.addEventListener("abort", cancel, { once: true });
  try {
    return { answer: await ended.promise, live, session };
  } finally {
    live?.end();
    toMake.stop.removeEventListener("abort", cancel);
    hangUp(socket);
  }
}

function frameOf({ tool, input, timeoutMs, key }: CallToMake, stream: boolean) {
  return {
    ...{ id: ID, tool, input, stream },
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(key !== undefined && { idempotency_key: key }),
  };
}

function notSent(why: string, stop: AbortSignal): MatrxError {
  if (stop.aborted) {
    const message = "Cancelled before the call was sent: nothing ran";
    return callerError("CANCELLED", message, { hint: "" });
  }
  const message = `Can't reach the relay, so nothing ran: ${why}`;
  return callerError("UNAVAILABLE", message, { hint: "Check the address and your network" });
}

function lost(why: string, { key, stop }: CallToMake): MatrxError {
  const hint = key
    ? `To get its outcome, repeat the call with --idempotency-key ${key}`
    : "It only reads, so just run it again";
  if (stop.aborted) {
    const message = "Cancelled without an answer; the call may still be running";
    return callerError("CANCELLED", message, { hint });
  }
  const message = `Lost the connection to the relay before the answer arrived: ${why}`;
  return callerError(key ? "OUTCOME_UNKNOWN" : "UNAVAILABLE", message, { hint });
}
