/** A device for code inside the relay: in the device's own object, or from another one. Without streams and the device's events. */
import { type Addressee, errorAnswer } from "@matrx/shared/caller/error-answer.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { type CallId, makeCallId, makeSessionId, type SessionId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { CallEnd, CallWatcher, FollowedCall } from "@matrx/shared/mcp/device.ts";
import type { FollowedCalls } from "@matrx/shared/mcp/followed-device.ts";
import { answerOfRefusal } from "../errors.ts";
import type { Attempt, CallListener, CallRequest, Transport } from "../transport.ts";

export class ObjectTransport implements Transport {
  readonly host = "the device";
  readonly session: SessionId;
  readonly #reach: () => FollowedCalls;

  /** `reach`: asked for each attempt, since a stub is of no use once its object was restarted. `session`: one of the caller's that is continued. */
  constructor(reach: () => FollowedCalls, session: SessionId = makeSessionId()) {
    this.#reach = reach;
    this.session = session;
  }

  async attempt(request: CallRequest, listener: CallListener): Promise<Attempt> {
    const { tool, input, timeoutMs, idempotencyKey, cancelOnDisconnect, live } = request;
    if (listener.stop.aborted || listener.leave.aborted)
      return { kind: "lost", why: "cancelled", sent: false };
    const wanted = {
      ...{ call: makeCallId(), tool, input: JSON.stringify(input), session: this.session },
      ...{ timeoutMs, key: idempotencyKey, cancelOnDisconnect, quiet: !live },
    };
    try {
      return await this.#followed(listener, (calls, watcher) => calls.start(wanted, watcher));
    } catch (error) {
      return { kind: "answer", answer: answerOfRefusal(error) };
    }
  }

  readonly follow = (call: string, listener: CallListener): Promise<Attempt> =>
    this.#followed(listener, (calls, watcher) => calls.follow(call as CallId, TIMES.restHold, watcher));

  /** Calls that still run are left by their signals. */
  close(): void {}

  async #followed(
    listener: CallListener,
    begin: (calls: FollowedCalls, watcher: CallWatcher) => Promise<FollowedCall>,
  ): Promise<Attempt> {
    const { stop, leave } = listener;
    const calls = this.#reach();
    let followed: FollowedCall | undefined;
    const cancel = () => {
      if (followed) calls.cancelCall(followed.call).catch(() => undefined);
    };
    const left = () => void followed?.leave();
    stop.addEventListener("abort", cancel);
    leave.addEventListener("abort", left);
    try {
      followed = await begin(calls, watcherOf(listener));
      listener.onName(followed.call);
      if (stop.aborted) cancel();
      if (leave.aborted) left();
      return attemptOf(await followed.end, { call: followed.call, device: calls.device });
    } catch (error) {
      if (error instanceof MatrxError) throw error;
      // The runtime's own: the object was restarted, or is overloaded.
      return { kind: "lost", why: error instanceof Error ? error.message : String(error), sent: true };
    } finally {
      stop.removeEventListener("abort", cancel);
      leave.removeEventListener("abort", left);
      left();
    }
  }
}

function attemptOf(end: CallEnd, to: Addressee): Attempt {
  if (end.kind !== "refused") return end;
  if (end.isBroken) return { kind: "lost", why: end.error.message, sent: true };
  return { kind: "answer", answer: errorAnswer(end.error, to) };
}

function watcherOf({ onEvent }: CallListener): CallWatcher {
  return {
    output: ({ channel, offset, data }) => onEvent({ type: "output", channel, offset, data }),
    progress: (progress) => onEvent({ type: "progress", ...progress }),
    asked: ({ id, state, expires, summary, edited }, call) => {
      onEvent({ type: "approval", call, approval: id, state, expires, summary, edited });
      return false;
    },
  };
}
