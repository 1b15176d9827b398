/** The caller API of one device, over its Device object. */
import type { CallList, CallQuery, CallView, EventList, EventQuery } from "@matrx/shared/api.ts";
import type {
  DeviceTools,
  Ending,
  GuideAnswer,
  OpenStream,
  OpenTools,
  RecordingPort,
  RestAnswer,
  StreamedCall,
} from "@matrx/shared/caller/port.ts";
import { relayError } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import { DEVICE_HEADER } from "@matrx/shared/tokens.ts";
import type { Context } from "hono";
import { authenticate } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { Env } from "../env.ts";
import type { Device } from "../objects/device.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import { reachableDevices, reachDevice } from "../reach.ts";
import { CALLER_BODY } from "./body.ts";
import { brokenCall } from "./broken-call.ts";
import type { RelayEnv } from "./route.ts";

/** The device in a request's path, or at the root the device that the request names otherwise. Throws MatrxError. */
export async function devicePort({ env, req }: Context<RelayEnv>): Promise<RecordingPort> {
  const caller = await authenticate(env, req.raw);
  const id = req.param("device") ?? (await namedDevice(env, caller, req.raw));
  const reached = await reachDevice(env, caller, id);
  return new DevicePort(env, reached.caller, id, reached.device);
}

/** Never guesses: with several devices and none named, the error lists the choices. Throws MatrxError. */
async function namedDevice(env: Env, caller: Caller, request: Request): Promise<string> {
  const named = request.headers.get(DEVICE_HEADER) ?? new URL(request.url).searchParams.get("device");
  if (named) return named;
  const devices = await reachableDevices(env, caller);
  const [only] = devices;
  if (only && devices.length === 1) return only.id;
  const choices = devices.map(({ id, name }) => ({ id, name }));
  const [message, hint] =
    devices.length === 0
      ? ["You have no devices", "Add one with `matrx up`"]
      : ["Which device? You have several", `Name one in the header ${DEVICE_HEADER} or with ?device=`];
  throw relayError("INVALID_PARAMETERS", message, { hint, details: { field: "device", choices } });
}

/** RPC types can express neither free JSON nor streams; the object's own types can. */
class DevicePort implements RecordingPort {
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

  async openTools(): Promise<OpenTools> {
    return unwrap((await this.#object.openTools(this.#caller)) as Outcome<OpenTools>);
  }

  call(wanted: StreamedCall): Promise<RestAnswer> {
    return this.#answered(wanted, this.#object.call(this.#caller, wanted) as Promise<Outcome<RestAnswer>>);
  }

  callByGuide(wanted: StreamedCall): Promise<GuideAnswer> {
    const answer = this.#object.callByGuide(this.#caller, wanted) as Promise<Outcome<GuideAnswer>>;
    return this.#answered(wanted, answer);
  }

  async streamCall(wanted: StreamedCall): Promise<OpenStream> {
    return unwrap((await this.#object.streamCall(this.#caller, wanted)) as Outcome<OpenStream>);
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

  async attach(call: CallId): Promise<OpenStream> {
    return unwrap((await this.#object.attach(this.#caller, call)) as Outcome<OpenStream>);
  }

  /** A call that did not get through, or whose fate is unknown, is refused under its name. */
  async #answered<Answer>(
    { call, tool }: StreamedCall,
    answer: Promise<Outcome<Answer>>,
  ): Promise<Answer | Ending> {
    let outcome: Outcome<Answer>;
    try {
      outcome = await answer;
    } catch (cause) {
      const error = await brokenCall(this.#env, this.#object, this.#caller, { call, tool }, cause);
      return { kind: "refused", call, error };
    }
    return unwrap(outcome);
  }
}
