/** A device of the relay, each of whose calls is followed to its end, or until the client has waited long enough. */
import type { OpenTools, WantedCall } from "../caller/port.ts";
import { type CallId, makeCallId } from "../ids.ts";
import { TIMES } from "../limits.ts";
import type { WantedView } from "../model-view.ts";
import {
  type CallEnd,
  type CallWatcher,
  CLIENT_GONE,
  type FollowedCall,
  type McpCall,
  type McpDevice,
} from "./device.ts";

/** One device for one caller: in the device's own object, or over the way there. */
export interface FollowedCalls {
  readonly device: string;
  openTools(view?: WantedView): Promise<OpenTools>;
  /** Makes a call. Rejects with MatrxError if nothing was sent. */
  start(wanted: WantedCall, watcher: CallWatcher): Promise<FollowedCall>;
  /** Follows an earlier call for this many milliseconds at most. Rejects with MatrxError `NOT_FOUND`. */
  follow(call: CallId, waitMs: number, watcher: CallWatcher): Promise<FollowedCall>;
  /** Asks a call to stop. */
  cancelCall(call: CallId): Promise<void>;
  /** Asks a call to stop that one reader no longer wants. Resolves with false if others wait for it: it goes on. */
  cancelUnshared(call: CallId): Promise<boolean>;
}

export class FollowedDevice implements McpDevice {
  readonly device: string;
  readonly approvalsUrl: string;
  readonly #calls: FollowedCalls;
  readonly #origin: string;

  /** `origin` is the relay's address. */
  constructor(calls: FollowedCalls, origin: string) {
    this.device = calls.device;
    this.approvalsUrl = `${origin}/`;
    this.#calls = calls;
    this.#origin = origin;
  }

  openTools(view?: WantedView): Promise<OpenTools> {
    return this.#calls.openTools({ ...view, naming: "own" });
  }

  async call(
    { tool, input, session, live, isNamedEarly }: McpCall,
    watcher: CallWatcher,
    signal: AbortSignal,
  ) {
    const call = makeCallId();
    const followed = await this.#calls.start(
      {
        ...{ call, tool, session, input: JSON.stringify(input) },
        ...{ quiet: !live, repeats: true, isNameless: !isNamedEarly, waitMs: TIMES.mcpWait },
      },
      watcher,
    );
    return await this.#end(call, followed, signal);
  }

  async wait(call: CallId, watcher: CallWatcher, signal: AbortSignal): Promise<CallEnd> {
    return await this.#end(call, await this.#calls.follow(call, TIMES.mcpWait, watcher), signal);
  }

  cancel(call: CallId): Promise<void> {
    return this.#calls.cancelCall(call);
  }

  recordUrl(call: string): string {
    return `${this.#origin}/v1/devices/${this.device}/calls/${call}`;
  }

  async #end(call: CallId, followed: FollowedCall, signal: AbortSignal): Promise<CallEnd> {
    // A call that has just ended answers all the same.
    const stop = () => {
      this.#stop(call, followed, signal).catch(() => undefined);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    try {
      return await followed.end;
    } finally {
      signal.removeEventListener("abort", stop);
      await followed.leave();
    }
  }

  /** The client is gone, or cancelled its request: then the call stops, unless another request waits for it. */
  async #stop(call: CallId, followed: FollowedCall, { reason }: AbortSignal): Promise<void> {
    const stops = reason !== CLIENT_GONE && (await this.#calls.cancelUnshared(call));
    if (!stops) await followed.leave();
  }
}
