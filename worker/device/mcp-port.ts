/** A Device object's own device, for one caller: no other object is asked on a call's way. */
import type { OpenStream, OpenTools, StreamedCall } from "@matrx/shared/caller/port.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { StreamPort } from "@matrx/shared/mcp/streamed-device.ts";
import type { ToolNaming } from "@matrx/shared/model-names.ts";
import type { Caller } from "../auth/caller.ts";
import { unwrap } from "../outcome.ts";
import type { Requests } from "./api.ts";

export class OwnPort implements StreamPort {
  readonly device: string;
  readonly #requests: Requests;
  readonly #caller: Caller;

  constructor(device: string, requests: Requests, caller: Caller) {
    this.device = device;
    this.#requests = requests;
    this.#caller = caller;
  }

  async openTools(naming?: ToolNaming): Promise<OpenTools> {
    return unwrap(await this.#requests.openTools(this.#caller, naming));
  }

  async streamCall(wanted: StreamedCall): Promise<OpenStream> {
    return unwrap(await this.#requests.streamCall(this.#caller, wanted));
  }

  async attach(call: CallId, waitMs?: number): Promise<OpenStream> {
    return unwrap(await this.#requests.attach(this.#caller, call, waitMs));
  }

  async cancelUnshared(call: CallId): Promise<boolean> {
    return unwrap(await this.#requests.cancelUnshared(this.#caller, call));
  }

  async cancelCall(call: CallId): Promise<void> {
    unwrap(await this.#requests.cancelCall(this.#caller, call));
  }
}
