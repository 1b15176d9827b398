/** The caller API of one device, over its Device object. */
import type { CallList, CallQuery, CallView, EventList, EventQuery } from "@matrx/shared/api.ts";
import type {
  BytesAnswer,
  DeviceTools,
  Ending,
  GuideAnswer,
  OpenStream,
  OpenTools,
  RecordingPort,
  RestAnswer,
  SentBytes,
  WantedCall,
} from "@matrx/shared/caller/port.ts";
import { toolNameOf } from "@matrx/shared/effects.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { WantedView } from "@matrx/shared/model-view.ts";
import { RUNS_COMMANDS } from "@matrx/shared/policy.ts";
import type { Caller } from "../auth/caller.ts";
import { CALLER_BODY } from "../body.ts";
import type { DeviceApi } from "../device/api.ts";
import type { Device } from "../device/device.ts";
import type { Env } from "../env.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { brokenCall } from "./broken-call.ts";

export class DevicePort implements RecordingPort {
  readonly hop = "relay";
  readonly body = CALLER_BODY;
  readonly device: string;
  readonly #env: Env;
  readonly #caller: Caller;
  readonly #object: DurableObjectStub<Device>;
  /** RPC types can express neither free JSON nor streams; the object's own types can. */
  readonly #api: DeviceApi;

  constructor(env: Env, caller: Caller, device: string, object: DurableObjectStub<Device>) {
    this.#env = env;
    this.#caller = caller;
    this.device = device;
    this.#object = object;
    this.#api = object as unknown as DeviceApi;
  }

  async toolNames(): Promise<string[]> {
    return unwrap(await this.#api.toolNames(this.#caller));
  }

  async tools(): Promise<DeviceTools> {
    return unwrap((await this.#api.tools(this.#caller)) as Outcome<DeviceTools>);
  }

  async openTools(view?: WantedView): Promise<OpenTools> {
    return unwrap((await this.#api.openTools(this.#caller, view)) as Outcome<OpenTools>);
  }

  call(wanted: WantedCall): Promise<RestAnswer> {
    return this.#answered(named(wanted), this.#api.call(this.#caller, wanted));
  }

  callForBytes(wanted: WantedCall, needs?: string): Promise<BytesAnswer> {
    return unwrapped(this.#api.callForBytes(this.#caller, wanted, needs));
  }

  callWithBytes(wanted: WantedCall, bytes: ReadableStream<Uint8Array> | undefined): Promise<SentBytes> {
    return unwrapped(this.#api.callWithBytes(this.#caller, wanted, bytes));
  }

  /** A call of a tool that takes bytes and sends bytes at the same time, such as FetchPort. */
  exchange(wanted: WantedCall, bytes: ReadableStream<Uint8Array> | undefined): Promise<BytesAnswer> {
    return unwrapped(this.#api.exchange(this.#caller, wanted, bytes));
  }

  /** Otherwise the runtime leaves out Content-Length. */
  sized(bytes: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
    return bytes.pipeThrough(new FixedLengthStream(length));
  }

  callByGuide(wanted: WantedCall): Promise<GuideAnswer> {
    return this.#answered(named(wanted), this.#api.callByGuide(this.#caller, wanted));
  }

  streamCall(wanted: WantedCall): Promise<OpenStream> {
    return unwrapped(this.#api.streamCall(this.#caller, wanted));
  }

  async cancelUnshared(call: CallId): Promise<boolean> {
    return unwrap(await this.#api.cancelUnshared(this.#caller, call));
  }

  async cancelCall(call: CallId): Promise<void> {
    unwrap(await this.#api.cancelCall(this.#caller, call));
  }

  async events(query: EventQuery): Promise<EventList> {
    return unwrap((await this.#api.events(this.#caller, query)) as Outcome<EventList>);
  }

  async listCalls(query: CallQuery): Promise<CallList> {
    return unwrap(await this.#api.listCalls(this.#caller, query));
  }

  async readCall(call: CallId): Promise<CallView> {
    return unwrap((await this.#api.readCall(this.#caller, call)) as Outcome<CallView>);
  }

  async attach(call: CallId, waitMs?: number): Promise<OpenStream> {
    return unwrap((await this.#api.attach(this.#caller, call, waitMs)) as Outcome<OpenStream>);
  }

  /** A call that did not get through, or whose fate is unknown, is refused under its name. */
  async #answered<Answer>(call: Named, answer: Promise<Outcome<Answer>>): Promise<Answer | Ending> {
    let outcome: Outcome<Answer>;
    try {
      outcome = await answer;
    } catch (cause) {
      const error = await brokenCall(this.#env, this.#object, this.#caller, call, cause);
      return { kind: "refused", call: call.call, error };
    }
    return unwrap(outcome);
  }
}

type Named = Pick<WantedCall, "call" | "tool" | "input">;

/**
 * What is kept of a call until its answer: its input may have megabytes, and async functions keep their arguments. That of
 * a command tells its effect.
 */
function named({ call, tool, input }: WantedCall): Named {
  return { call, tool, input: RUNS_COMMANDS.has(toolNameOf(tool)) ? input : "{}" };
}

async function unwrapped<Value>(outcome: Promise<Outcome<Value>>): Promise<Value> {
  return unwrap(await outcome);
}
