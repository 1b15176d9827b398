/** Calls that wait for their answers: inputs of megabytes were passed on, and nothing that waits keeps them in memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HonoRequest } from "hono";
import { expect, it, vi } from "vitest";
import { EventStreams } from "../../shared/caller/event-streams.ts";
import { guideRoutes } from "../../shared/caller/guide.ts";
import type { WantedCall } from "../../shared/caller/port.ts";
import { ResponseBodies } from "../../shared/caller/response-bodies.ts";
import { toolRoutes } from "../../shared/caller/tools.ts";
import type { AccountId, CallId, GrantId } from "../../shared/ids.ts";
import type { Caller } from "../../worker/auth/caller.ts";
import { DeviceApi, type Surfaces } from "../../worker/device/api.ts";
import { BytesCalls } from "../../worker/device/callers/bytes.ts";
import { Followers } from "../../worker/device/callers/followers.ts";
import { RestCalls } from "../../worker/device/callers/rest.ts";
import { CallerSession } from "../../worker/device/callers/session.ts";
import type { DeviceContext } from "../../worker/device/context.ts";
import type { Lease } from "../../worker/device/leases.ts";
import type { Recipient } from "../../worker/device/ledger/recipient.ts";
import { DevicePort } from "../../worker/port/device-port.ts";

vi.mock("cloudflare:workers", () => ({ DurableObject: class {} }));
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** A reference that was followed holds its object until the end of the turn. */
async function garbageCollected(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  collectGarbage();
}

const encoder = new TextEncoder();
const lease = { scope: { id: "grant_1", owner: true }, json: "{}" } as unknown as Lease;
const caller = { account: "account_1" as AccountId, grant: "grant_1" as GrantId } as Caller;
const CALL = "0199d3a4-7c1e-7b52-9f3e-2d6a8c410e75" as CallId;

class Api extends DeviceApi {
  protected readonly context: DeviceContext;
  protected readonly surfaces: Surfaces;

  constructor(context: DeviceContext, surfaces: Surfaces) {
    super(undefined as never, undefined as never);
    this.context = context;
    this.surfaces = surfaces;
  }
}

/** A Device object whose device has been sent every call, and answers when it is told to. */
class Home {
  /** What carried the input, on each side of the Worker's request to the object. */
  readonly inputs: WeakRef<object>[] = [];
  readonly api: Api;
  readonly port: DevicePort;
  readonly #waiting: Recipient[] = [];

  constructor() {
    const streams = { open: (_: unknown, opens: object) => opens, refuse() {}, fromCaller() {} };
    const bodies = new ResponseBodies();
    const context = {
      ...{ device: "home", name: "home", bodies, timer: { by() {} }, streams },
      ...{ store: { record: { account: caller.account, id: "home" } }, leases: { current: () => lease } },
      ...{ callStarted() {}, pause: { requireOpen() {} } },
    } as unknown as DeviceContext;
    const admission = this.admission as never;
    const calls = { abandon() {} } as never;
    const rest = new RestCalls(context, admission, calls);
    const bytes = new BytesCalls(context, rest);
    const followers = new Followers(context, admission, calls, new EventStreams(bodies));
    this.api = new Api(context, { rest, bytes, followers, admission } as never);
    const { api, inputs } = this;
    // As RPC, each takes a copy.
    const sent = <Wanted extends object>(wanted: Wanted): Wanted => {
      inputs.push(new WeakRef(wanted));
      return structuredClone(wanted);
    };
    const stub = {
      call: (_: unknown, wanted: WantedCall) => api.call(caller, sent(wanted)),
      callByGuide: (_: unknown, wanted: WantedCall) => api.callByGuide(caller, sent(wanted)),
      streamCall: (_: unknown, wanted: WantedCall) => api.streamCall(caller, sent(wanted)),
      callForBytes: (_: unknown, wanted: WantedCall) => api.callForBytes(caller, sent(wanted)),
      callWithBytes: (_: unknown, wanted: WantedCall) => api.callWithBytes(caller, sent(wanted), undefined),
    };
    this.port = new DevicePort({} as never, caller, "home", stub as never);
  }

  get admission() {
    return {
      message() {},
      admit: (wanted: WantedCall, now: number, recipient: Recipient): CallId => {
        this.inputs.push(new WeakRef(wanted));
        recipient.accepted(CALL, now + 60_000, "read");
        this.#waiting.push(recipient);
        return CALL;
      },
    };
  }

  answer(): void {
    for (const recipient of this.#waiting)
      recipient.result({ call: CALL, status: "error", ms: 1 }, encoder.encode('{"output":"read"}'), 0);
  }
}

function posted(body: object, headers: Record<string, string> = {}): HonoRequest {
  const raw = new Request("http://relay/", { method: "POST", headers, body: JSON.stringify(body) });
  return { raw, param: () => "Read" } as unknown as HonoRequest;
}

const EVENTS = { Accept: "text/event-stream" };
const input = () => ({ file_path: "/notes.txt" });
const callTool = toolRoutes({}).find(({ id }) => id === "callTool")?.answer;
const invoke = guideRoutes.find(({ id }) => id === "invokeTool")?.answer;
const wanted = () => ({ tool: "Download", input: JSON.stringify(input()), call: CALL });

const WAYS: Record<string, (port: DevicePort) => unknown> = {
  "by REST": (port) => callTool?.(port, posted(input())),
  "by REST, for events": (port) => callTool?.(port, posted(input(), EVENTS)),
  "by the guide's route": (port) => invoke?.(port, posted({ tool: "Read", input: input() })),
  "by the guide's route, for events": (port) =>
    invoke?.(port, posted({ tool: "Read", input: input() }, EVENTS)),
  "for bytes": (port) => port.callForBytes(wanted()),
  "with bytes": (port) => port.callWithBytes(wanted(), undefined),
};

it.each(Object.entries(WAYS))("keeps nothing of what was sent %s", async (_, call) => {
  const home = new Home();
  const answer = call(home.port) as Promise<unknown>;
  await expect.poll(() => home.inputs.length).toBe(2);
  await garbageCollected();
  expect(home.inputs.map((input) => input.deref())).toEqual([undefined, undefined]);
  home.answer();
  expect(await answer).toBeDefined();
});

it("keeps nothing of what was sent over a WebSocket", async () => {
  const home = new Home();
  const attachment = { lease: {}, unanswered: [], events: null };
  const host = { admission: home.admission, callStarted() {}, streams: {} };
  const session = new CallerSession({} as WebSocket, attachment as never, host as never);
  const begin = () => {
    const call = { tool: "Write", input: input() };
    home.inputs.push(new WeakRef(call.input));
    session.start("1", call, Date.now());
  };
  begin();
  await garbageCollected();
  expect(session.protocol.unanswered.size).toBe(1);
  expect(home.inputs.map((input) => input.deref())).toEqual([undefined, undefined]);
});
