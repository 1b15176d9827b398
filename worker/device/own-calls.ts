/** A Device object's own device, for one caller: no other object is asked on a call's way, and nothing is written to be read here. */
import type { OpenTools, WantedCall } from "@matrx/shared/caller/port.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { CallWatcher, FollowedCall } from "@matrx/shared/mcp/device.ts";
import type { FollowedCalls } from "@matrx/shared/mcp/followed-device.ts";
import type { WantedView } from "@matrx/shared/model-view.ts";
import type { Caller } from "../auth/caller.ts";
import { unwrap } from "../outcome.ts";
import type { DeviceApi } from "./api.ts";
import { WatchedCall } from "./callers/watched-call.ts";

export class OwnCalls implements FollowedCalls {
  readonly device: string;
  readonly #api: DeviceApi;
  readonly #caller: Caller;

  constructor(device: string, api: DeviceApi, caller: Caller) {
    this.device = device;
    this.#api = api;
    this.#caller = caller;
  }

  async openTools(view?: WantedView): Promise<OpenTools> {
    return unwrap(await this.#api.openTools(this.#caller, view));
  }

  async start(wanted: WantedCall, watcher: CallWatcher): Promise<FollowedCall> {
    const watched = new WatchedCall(wanted.call, watcher);
    unwrap(await this.#api.watchCall(this.#caller, wanted, watched));
    return watched;
  }

  async follow(call: CallId, waitMs: number, watcher: CallWatcher): Promise<FollowedCall> {
    const watched = new WatchedCall(call, watcher);
    unwrap(await this.#api.watchEarlier(this.#caller, call, waitMs, watched));
    return watched;
  }

  async cancelCall(call: CallId): Promise<void> {
    unwrap(await this.#api.cancelCall(this.#caller, call));
  }

  async cancelUnshared(call: CallId): Promise<boolean> {
    return unwrap(await this.#api.cancelUnshared(this.#caller, call));
  }
}
