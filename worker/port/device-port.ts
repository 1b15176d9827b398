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
  RestCall,
  SentBytes,
  StreamedCall,
} from "@matrx/shared/caller/port.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import type { ToolNaming } from "@matrx/shared/model-names.ts";
import type { Caller } from "../auth/caller.ts";
import { CALLER_BODY } from "../body.ts";
import type { Env } from "../env.ts";
import type { Device } from "../objects/device.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { brokenCall } from "./broken-call.ts";

/** RPC types can express neither free JSON nor streams; the object's own types can. */
export class DevicePort implements RecordingPort {
  readonly hop = "relay";
  readonly body = CALLER_BODY;
  readonly device: string;
  readonly #env: Env;
  readonly #caller: Caller;
  readonly #object: DurableObjectStub<Device>;

  constructor(env: Env, caller: Caller, device: string, object: DurableObjectStub<Device>) {
    this.#env = env;
    this.#caller = caller;
    this.device = device;
    this.#object = object;
  }

  async toolNames(): Promise<string[]> {
    return unwrap(await this.#object.toolNames(this.#caller));
  }

  async tools(): Promise<DeviceTools> {
    return unwrap((await this.#object.tools(this.#caller)) as Outcome<DeviceTools>);
  }

  async openTools(naming?: ToolNaming): Promise<OpenTools> {
    return unwrap((await this.#object.openTools(this.#caller, naming)) as Outcome<OpenTools>);
  }

  call(wanted: StreamedCall): Promise<RestAnswer> {
    return this.#answered(wanted, this.#object.call(this.#caller, wanted) as Promise<Outcome<RestAnswer>>);
  }

  async callForBytes(wanted: RestCall): Promise<BytesAnswer> {
    return unwrap((await this.#object.callForBytes(this.#caller, wanted)) as Outcome<BytesAnswer>);
  }

  async callWithBytes(wanted: RestCall, bytes: ReadableStream<Uint8Array> | undefined): Promise<SentBytes> {
    const sent = this.#object.callWithBytes(this.#caller, wanted, bytes) as Promise<Outcome<SentBytes>>;
    return unwrap(await sent);
  }

  /** A call of a tool that takes bytes and sends bytes at the same time, such as FetchPort. */
  async exchange(wanted: RestCall, bytes: ReadableStream<Uint8Array> | undefined): Promise<BytesAnswer> {
    const exchanged = this.#object.exchange(this.#caller, wanted, bytes) as Promise<Outcome<BytesAnswer>>;
    return unwrap(await exchanged);
  }

  /** Otherwise the runtime leaves out Content-Length. */
  sized(bytes: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
    return bytes.pipeThrough(new FixedLengthStream(length));
  }

  callByGuide(wanted: StreamedCall): Promise<GuideAnswer> {
    const answer = this.#object.callByGuide(this.#caller, wanted) as Promise<Outcome<GuideAnswer>>;
    return this.#answered(wanted, answer);
  }

  async streamCall(wanted: StreamedCall): Promise<OpenStream> {
    return unwrap((await this.#object.streamCall(this.#caller, wanted)) as Outcome<OpenStream>);
  }

  async cancelUnshared(call: CallId): Promise<boolean> {
    return unwrap(await this.#object.cancelUnshared(this.#caller, call));
  }

  async cancelCall(call: CallId): Promise<void> {
    unwrap(await this.#object.cancelCall(this.#caller, call));
  }

  async events(query: EventQuery): Promise<EventList> {
    return unwrap((await this.#object.events(this.#caller, query)) as Outcome<EventList>);
  }

  async listCalls(query: CallQuery): Promise<CallList> {
    return unwrap(await this.#object.listCalls(this.#caller, query));
  }

  async readCall(call: CallId): Promise<CallView> {
    return unwrap((await this.#object.readCall(this.#caller, call)) as Outcome<CallView>);
  }

  async attach(call: CallId, waitMs?: number): Promise<OpenStream> {
    return unwrap((await this.#object.attach(this.#caller, call, waitMs)) as Outcome<OpenStream>);
  }

  /** A call that did not get through, or whose fate is unknown, is refused under its name. */
  async #answered<Answer>(
    { call, tool, input }: StreamedCall,
    answer: Promise<Outcome<Answer>>,
  ): Promise<Answer | Ending> {
    let outcome: Outcome<Answer>;
    try {
      outcome = await answer;
    } catch (cause) {
      const error = await brokenCall(this.#env, this.#object, this.#caller, { call, tool, input }, cause);
      return { kind: "refused", call, error };
    }
    return unwrap(outcome);
  }
}
