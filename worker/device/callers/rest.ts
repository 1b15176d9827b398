/** REST calls at the Device object: answered while the caller waits, or later under the call's URL. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import { pendingCall } from "@matrx/shared/caller/call-response.ts";
import { noSuchCallError } from "@matrx/shared/caller/calls.ts";
import { EarlyResponse } from "@matrx/shared/caller/early-response.ts";
import type { Ending, GuideAnswer, RestAnswer, WantedCall } from "@matrx/shared/caller/port.ts";
import type { ExecuteOpens } from "@matrx/shared/device-frames.ts";
import type { Effect } from "@matrx/shared/effects.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { CallId, GrantId } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { ResultHeader } from "@matrx/shared/result-frame.ts";
import type { GuestSession } from "../../auth/caller.ts";
import { readsTooSlowly, withId } from "../calls/caller-answers.ts";
import type { Calls } from "../calls/calls.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease, LeasedCaller } from "../leases.ts";
import type { Recipient } from "../ledger/recipient.ts";
import type { Admission } from "./admission.ts";
import { toldName } from "./told-name.ts";

export class RestCalls {
  readonly #context: DeviceContext;
  readonly #admission: Admission;
  readonly #calls: Calls;
  /** Guests' requests that wait, by the guest's own session. */
  readonly #visits = new Map<GrantId, Set<PendingResponse>>();

  constructor(context: DeviceContext, admission: Admission, calls: Calls) {
    this.#context = context;
    this.#admission = admission;
    this.#calls = calls;
  }

  /** Sends a call and waits up to 60 seconds for its answer; a call that the gate stops is answered as refused. */
  call(wanted: WantedCall, by: LeasedCaller, now: number, opens?: ExecuteOpens): Promise<RestAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<RestAnswer>();
    const until = now + (wanted.waitMs ?? TIMES.restHold);
    this.#send(wanted, by.guest, now, this.#responseFor(wanted, by.lease, { opens, until }, resolve), reject);
    if (wanted.waitMs !== undefined) this.#context.timer.by(until);
    return promise;
  }

  /** What waits for an answer, here and in `#earlyResponse`, must not keep the call's input, which may have megabytes. */
  #responseFor(
    { call, key, chosen }: WantedCall,
    lease: Lease,
    { opens, until }: Pick<Waiting, "opens" | "until">,
    answer: (answer: RestAnswer) => void,
  ): PendingResponse {
    const grant = lease.scope.id as GrantId;
    const isNamed = opens !== undefined || chosen === true || key !== undefined;
    return new PendingResponse(call, lease, {
      opens,
      end: (ending) => answer(this.#handOn(this.#fitting(ending, grant), grant)),
      until,
      over: (named, approval) => answer(this.#sentAway(isNamed, named, approval)),
    });
  }

  /** The same for the guide's route: it waits for the end of the call, and starts the response before that. */
  callByGuide(wanted: WantedCall, { lease, guest }: LeasedCaller, now: number): Promise<GuideAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<GuideAnswer>();
    const { early, response } = this.#earlyResponse(wanted.call, lease, resolve);
    this.#send(wanted, guest, now, response, reject);
    if (response.effect) early.start(response, response.effect);
    return promise;
  }

  #earlyResponse(
    name: CallId,
    lease: Lease,
    answer: (answer: GuideAnswer) => void,
  ): { early: EarlyResponse; response: PendingResponse } {
    const { bodies, device } = this.#context;
    const grant = lease.scope.id as GrantId;
    const early = new EarlyResponse(device, {
      answer: (ending) => answer(this.#handOn(ending, grant)),
      begin: (call, keepAlive, effect) => {
        const body = bodies.open(grant, keepAlive);
        body.onLeft = () => this.#calls.abandon(call, (one) => one === response, effect === "read");
        answer({ kind: "begun", call, body: body.stream });
        return body;
      },
    });
    const end = (ending: Ending<Uint8Array>) => early.end(this.#fitting(ending, grant));
    const response = new PendingResponse(name, lease, { end });
    return { early, response };
  }

  /** A question stays if its caller learns, or has, the call's name. Whoever sends bytes or waits for them has no use for it. */
  #sentAway(isNamed: boolean, call: CallId, approval: CallApproval | undefined): RestAnswer {
    const isTold = () => this.#calls.left(call, true, Date.now());
    if (approval?.state === "pending" && !isNamed) {
      const body = toldName(pendingCall(call, this.#context.device, approval), isTold);
      return { kind: "pending", call, approval, body };
    }
    isTold();
    return { kind: "pending", call, approval };
  }

  /** A guest's own session has ended: its requests are refused, and their calls go on. */
  endVisit(session: GrantId, why: ErrorShape): void {
    for (const response of [...(this.#visits.get(session) ?? [])]) response.refuse(why, response.call);
  }

  #visited(session: GrantId, response: PendingResponse): void {
    const visits = this.#visits.get(session) ?? new Set();
    this.#visits.set(session, visits.add(response));
    response.onEnd = () => {
      visits.delete(response);
      if (visits.size === 0) this.#visits.delete(session);
    };
  }

  #send(
    wanted: WantedCall,
    guest: GuestSession | undefined,
    now: number,
    response: PendingResponse,
    reject: (error: unknown) => void,
  ): void {
    if (guest) this.#visited(guest.grant, response);
    try {
      this.#admission.message(response.lease, now);
      this.#admission.admit(wanted, now, response);
    } catch (error) {
      if (error instanceof MatrxError) response.refuse(error.shape(), wanted.call);
      else reject(error);
    }
  }

  /** Refuses a large answer while too much is unread, since a bare device does not wait for credit. */
  #fitting(ending: Ending<Uint8Array>, grant: GrantId): Ending<Uint8Array> {
    if (ending.kind !== "answer" || ending.body.length <= LIMITS.largeAnswerBytes) return ending;
    if (this.#context.bodies.hasRoomFor(ending.body.length, grant)) return ending;
    return { kind: "refused", call: ending.call, error: readsTooSlowly(ending.call, this.#context.device) };
  }

  #handOn(ending: Ending<Uint8Array>, grant: GrantId): Ending {
    if (ending.kind !== "answer" || ending.body.length <= LIMITS.largeAnswerBytes) return ending;
    const body = this.#context.bodies.open(grant);
    body.push(ending.body);
    body.end();
    return { ...ending, body: body.stream };
  }
}

interface Waiting {
  /** The stream that the call opens. */
  opens?: ExecuteOpens | undefined;
  end: (ending: Ending<Uint8Array>) => void;
  /** When to call `over`, in milliseconds since 1970. Absent: wait until the call ends. */
  until?: number | undefined;
  over?: (call: CallId, approval: CallApproval | undefined) => void;
}

/** A REST request waiting for its answer. */
class PendingResponse implements Recipient {
  call: CallId;
  readonly lease: Lease;
  /** Undefined until the call is admitted. */
  effect: Effect | undefined;
  onEnd: (() => void) | undefined;
  /** Only once it is sent away; until then, headers that may come tell it nothing. */
  readonly knowsName = false;
  readonly #waiting: Waiting;
  #follows = false;
  #isOver = false;

  constructor(call: CallId, lease: Lease, waiting: Waiting) {
    this.call = call;
    this.lease = lease;
    this.#waiting = waiting;
  }

  get opens(): ExecuteOpens | undefined {
    return this.#waiting.opens;
  }

  get waitsUntil(): number | undefined {
    return this.#waiting.until;
  }

  accepted(call: CallId, _deadline: number, effect: Effect): void {
    this.call = call;
    this.effect = effect;
  }

  parked(): void {}

  /** Told with the 202, if the decision takes longer than the request. */
  asked(): void {}

  follow(): void {
    this.#follows = true;
  }

  result({ status, code }: ResultHeader, body: Uint8Array): void {
    const own = this.#follows ? withId(body, undefined) : body.slice();
    this.#end({ kind: "answer", call: this.call, status, code, body: own });
  }

  waitLonger(ms: number): void {
    if (this.#waiting.until !== undefined) this.#waiting.until += ms;
  }

  output(): boolean {
    return true;
  }

  progress(): void {}

  refuse(error: ErrorShape, call: CallId): void {
    this.#end({ kind: "refused", call, error });
  }

  sendAway(call: CallId, approval: CallApproval | undefined): void {
    if (this.#isOver) return;
    this.#over();
    this.#waiting.over?.(call, approval);
  }

  #end(ending: Ending<Uint8Array>): void {
    if (this.#isOver) return;
    this.#over();
    this.#waiting.end(ending);
  }

  #over(): void {
    this.#isOver = true;
    this.onEnd?.();
  }
}

/** Only the grant that made a call, or the owner, may see it. Throws MatrxError `NOT_FOUND`. */
export function requireMaker(maker: string | undefined, { scope }: Lease): void {
  if (maker === undefined || (maker !== scope.id && !scope.owner)) throw noSuchCallError();
}
