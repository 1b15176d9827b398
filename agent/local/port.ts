/** Implements the caller API for this machine, for one request of its owner. */
import type { EventList, EventQuery } from "@matrx/shared/api.ts";
import type { BodyRules } from "@matrx/shared/caller/body.ts";
import { CallEvents } from "@matrx/shared/caller/call-events.ts";
import { noSuchCallError } from "@matrx/shared/caller/calls.ts";
import { EarlyResponse } from "@matrx/shared/caller/early-response.ts";
import { EventStreams } from "@matrx/shared/caller/event-streams.ts";
import type {
  CallerPort,
  DeviceTools,
  Ending,
  GuideAnswer,
  OpenStream,
  OpenTools,
  RestAnswer,
  WantedCall,
} from "@matrx/shared/caller/port.ts";
import { ResponseBodies } from "@matrx/shared/caller/response-bodies.ts";
import type { Progress } from "@matrx/shared/content.ts";
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { CallId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { WantedView } from "@matrx/shared/model-view.ts";
import type { Outcome } from "../core/answers.ts";
import { ByteBudget } from "../core/byte-budget.ts";
import type { OutputPiece } from "../core/live-output.ts";
import type { EventHub } from "../events/hub.ts";
import { describeMachine } from "../platform/machine.ts";
import { eventList } from "./events.ts";
import { endsWithCaller, LOCAL_OWNER, type LocalCalls, type StartedCall } from "./local-calls.ts";

/** Limit on large REST answers that are being made or not yet read, in bytes. */
const UNREAD_BYTES = 24 * 1024 * 1024;

const BODY: BodyRules = {
  bytes: LIMITS.restBodyBytes,
  ms: TIMES.restBodyWithin,
  // Any page can send forms and plain text without a preflight.
  mustBeJson: () => true,
  brokeOff: () => undefined,
};

const GRANT = LOCAL_OWNER.id;
const encoder = new TextEncoder();

/** What requests share. */
export class LocalHost {
  readonly calls: LocalCalls;
  readonly hub: EventHub;
  readonly bodies = new ResponseBodies();
  readonly streams = new EventStreams(this.bodies);
  readonly unread = new ByteBudget(UNREAD_BYTES);

  constructor(calls: LocalCalls, hub: EventHub) {
    this.calls = calls;
    this.hub = hub;
  }
}

export class LocalPort implements CallerPort {
  readonly hop = "agent";
  readonly body = BODY;
  readonly device: string;
  readonly #host: LocalHost;
  readonly #gone: AbortSignal;

  /** `gone` is aborted when the caller leaves before its answer. */
  constructor(host: LocalHost, gone: AbortSignal) {
    this.#host = host;
    this.#gone = gone;
    this.device = host.calls.device;
  }

  async toolNames(): Promise<string[]> {
    return this.#host.calls.toolNames();
  }

  async tools(): Promise<DeviceTools> {
    return this.#host.calls.tools();
  }

  async openTools(view?: WantedView): Promise<OpenTools> {
    const { hostname: name, os, os_version } = describeMachine();
    const { folders, ...open } = await this.#host.calls.openTools(view);
    return { machine: { name, os, os_version, folders }, ...open };
  }

  async call(wanted: WantedCall): Promise<RestAnswer> {
    const started = this.#start(wanted);
    if ("kind" in started) return started;
    return this.#handOn(endingOf(started.call, await started.outcome), started.room);
  }

  async callByGuide(wanted: WantedCall): Promise<GuideAnswer> {
    const started = this.#start(wanted);
    if ("kind" in started) return started;
    const { call, outcome, room } = started;
    return new Promise((resolve) => {
      const early = new EarlyResponse(this.device, {
        answer: (ending) => resolve(this.#handOn(ending, room)),
        begin: (_call, keepAlive) => {
          const body = this.#host.bodies.open(GRANT, keepAlive, () => room.leave());
          resolve({ kind: "begun", call, body: body.stream });
          return body;
        },
      });
      early.start(
        { call },
        effectOfCall(toolNameOf(wanted.tool), () => JSON.parse(wanted.input)),
      );
      void outcome.then((ended) => early.end(endingOf(call, ended)));
    });
  }

  async streamCall(wanted: WantedCall): Promise<OpenStream> {
    const { streams, calls, unread } = this.#host;
    const room = new AnswerRoom(unread);
    const stream = streams.open(GRANT, () => room.leave());
    const events = new CallEvents(stream, this.device);
    const onOutput = (_call: string, piece: OutputPiece) =>
      events.output(encoder.encode(JSON.stringify({ type: "output", ...piece })));
    const onProgress = (progress: Progress) => events.progress(progress);
    try {
      const { call, deadline, outcome } = calls.start(callOf(wanted), {
        ...{ session: wanted.session, chosen: chosenName(wanted), onOutput, onProgress, room: room.take },
      });
      events.begin({ call, deadline, session: wanted.session });
      stream.onLeft = () => this.#callerLeft(wanted, call);
      void outcome.then(({ header, body }) => events.result(header, body));
      return { call, body: stream.body };
    } catch (error) {
      stream.cut();
      throw error;
    }
  }

  async cancelCall(call: CallId): Promise<void> {
    if (!this.#host.calls.cancel(call)) throw noSuchCallError();
  }

  async events(query: EventQuery): Promise<EventList> {
    return eventList(this.device, this.#host.hub, query);
  }

  get hub(): EventHub {
    return this.#host.hub;
  }

  /** Starts a call; one that cannot begin is refused under its name. */
  #start(wanted: WantedCall): (StartedCall & { room: AnswerRoom }) | Extract<Ending, { kind: "refused" }> {
    const { calls, unread } = this.#host;
    const room = new AnswerRoom(unread);
    const options = { session: wanted.session, chosen: chosenName(wanted), room: room.take };
    let started: StartedCall;
    try {
      started = calls.start(callOf(wanted), options);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      return { kind: "refused", call: wanted.call, error: error.shape() };
    }
    const left = () => {
      room.leave();
      this.#callerLeft(wanted, started.call);
    };
    // It may have left while its body was read.
    if (this.#gone.aborted) left();
    else this.#gone.addEventListener("abort", left);
    return { ...started, room };
  }

  #callerLeft(wanted: WantedCall, call: CallId): void {
    const { tool, input } = callOf(wanted);
    if (endsWithCaller({ tool, input, cancel_on_disconnect: wanted.cancelOnDisconnect }))
      this.#host.calls.cancel(call);
  }

  /** A large answer is passed on as it is read, and has its room so long; a small one needs none, whatever was asked for. */
  #handOn(ending: Ending<Uint8Array>, room: AnswerRoom): Ending {
    if (ending.kind !== "answer" || ending.body.length <= LIMITS.largeAnswerBytes) {
      room.leave();
      return ending;
    }
    const body = this.#host.bodies.open(GRANT, undefined, () => room.leave());
    body.push(ending.body);
    body.end();
    return { ...ending, body: body.stream };
  }
}

function callOf({ tool, input, timeoutMs, key }: WantedCall) {
  return {
    tool,
    input: JSON.parse(input) as Record<string, unknown>,
    timeout_ms: timeoutMs,
    idempotency_key: key,
  };
}

function chosenName({ chosen, call }: WantedCall): CallId | undefined {
  return chosen ? call : undefined;
}

/** Copies the bytes: streams transfer them away, and others may be waiting for the same outcome. */
function endingOf(call: CallId, { header, body }: Outcome): Ending<Uint8Array> {
  return { kind: "answer", call, status: header.status, code: header.code, body: new Uint8Array(body) };
}

/** Room for one large answer, from making it until it has been read. */
class AnswerRoom {
  readonly #budget: ByteBudget;
  #giveBack: (() => void) | undefined;
  #isLeft = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Rejects with the signal's reason. */
  readonly take = async (bytes: number, signal: AbortSignal): Promise<void> => {
    this.#giveBack?.();
    this.#giveBack = await this.#budget.take(bytes, signal);
    if (this.#isLeft) this.#giveBack();
  };

  /** Releases the room: the answer was read, or never will be. */
  leave(): void {
    this.#isLeft = true;
    this.#giveBack?.();
  }
}
