/** Asks the device whether a person must be asked about a call, and what; the relay asks by itself for devices that can't. */
import type { ToolPrepared } from "@matrx/shared/device-frames.ts";
import { type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import type { Question } from "@matrx/shared/question.ts";
import type { Calls } from "../calls/calls.ts";
import { isDeviceCode } from "../calls/device-answer.ts";
import { prepareFrame } from "../calls/execute-frame.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import type { Parked } from "../ledger/parked.ts";
import { silent } from "../sign-of-life.ts";
import { ENFORCES_ALL } from "../store.ts";
import { rulesFor } from "./asking.ts";
import { plainBinding, plainQuestion } from "./plain-question.ts";
import { nobodyThere, notPrepared, unusablePreparation } from "./refusals.ts";
import type { WaitingCalls } from "./waiting.ts";

/** What a decision is about. */
export interface Prepared {
  /** Absent: the device would not even ask. */
  readonly binding: string | undefined;
  readonly question: Question;
  readonly at?: "machine" | undefined;
}

type Outcome = { readonly passes: true } | Prepared | { readonly error: ErrorShape };

/** Somebody who edits the input waits for what the device makes of it. */
interface Editing {
  readonly by: number;
  readonly done: (outcome: Outcome) => void;
}

export class Preparation {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #waiting: WaitingCalls;
  readonly #edits = new Map<string, Editing>();

  constructor(context: DeviceContext, calls: Calls, waiting: WaitingCalls) {
    this.#context = context;
    this.#calls = calls;
    this.#waiting = waiting;
  }

  /** Asks about a call that was just parked, or again after a reconnect. */
  start(parked: Parked, lease: Lease, input: string, now: number): void {
    parked.preparedBy = now + TIMES.prepareWithin;
    this.#ask(parked, lease, input, now, (outcome) => this.#apply(parked, outcome, Date.now()));
  }

  /** A device that started anew has forgotten the question that only somebody there can decide: it must ask again. */
  remind(parked: Parked, lease: Lease, input: string, now: number): void {
    this.#ask(parked, lease, input, now, () => undefined);
  }

  /** What the device makes of a person's own input. Rejects with MatrxError if it refuses it. */
  edit(parked: Parked, lease: Lease, input: string, now: number): Promise<Prepared> {
    return new Promise((resolve, reject) => {
      const done = (outcome: Outcome) => {
        // It may be told twice: by the device, and of the link.
        if (this.#edits.get(parked.call) === editing) this.#edits.delete(parked.call);
        if ("error" in outcome) reject(new MatrxError(outcome.error));
        else if ("passes" in outcome) resolve({ ...this.#plain(parked, lease, input), binding: undefined });
        else resolve(outcome);
      };
      const editing = { by: now + TIMES.prepareWithin, done };
      this.#edits.set(parked.call, editing);
      this.#ask(parked, lease, input, now, done);
    });
  }

  isEditing({ call }: Parked): boolean {
    return this.#edits.has(call);
  }

  /** The device's answer. One that nobody waits for is ignored. */
  prepared(frame: ToolPrepared, now: number): void {
    const parked = this.#waiting.get(frame.tool_call_id);
    if (!parked) return;
    const outcome = outcomeOf(frame);
    const editing = this.#edits.get(parked.call);
    if (editing) editing.done(outcome);
    else this.#apply(parked, outcome, now);
  }

  /** The link is gone: what was being prepared did not run, and edits are for later. */
  linkDown(error: ErrorShape, now: number): void {
    for (const { done } of [...this.#edits.values()]) done({ error });
    for (const parked of this.#waiting.all())
      if (parked.stage === "preparing") this.#apply(parked, { error }, now);
  }

  /** Refuses what the device should have answered by now. */
  sweep(now: number): void {
    const error = notPrepared();
    for (const { by, done } of [...this.#edits.values()]) if (by <= now) done({ error });
    for (const parked of this.#waiting.all()) if (isLate(parked, now)) this.#apply(parked, { error }, now);
  }

  #ask(parked: Parked, lease: Lease, input: string, now: number, done: (outcome: Outcome) => void): void {
    const { link, store, signs, timer } = this.#context;
    const { ours = false, protocol = 0 } = link.current?.attachment ?? {};
    if (!ours || protocol < ENFORCES_ALL) return done(this.#plainOutcome(parked, lease, input));
    try {
      const limits = store.limits(protocol);
      link.sendTo(signs.requireLive(now), prepareFrame(parked, { lease, input, limits }));
      timer.by(now + TIMES.prepareWithin);
      if (signs.isDue(now))
        signs.wait(0, (sign) => sign === "silent" && done({ error: silent().shape() }), now);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      done({ error: error.shape() });
    }
  }

  #plainOutcome(parked: Parked, lease: Lease, input: string): Outcome {
    const { store } = this.#context;
    const rules = rulesFor({ tool: parked.tool }, lease.scope, store);
    if (rules.some(({ rule }) => rule.at === "machine")) return { error: nobodyThere() };
    return this.#plain(parked, lease, input);
  }

  #plain({ tool, effect, wanted }: Parked, lease: Lease, input: string): Prepared {
    const { device, store } = this.#context;
    const { session } = wanted;
    const call = { device, tool, effect, input, grant: lease.scope, session, policy: store.policy };
    return { binding: plainBinding(call), question: plainQuestion(call) };
  }

  #apply(parked: Parked, outcome: Outcome, now: number): void {
    const pending = this.#waiting.pendingOf(parked);
    if (pending && parked.stage === "pending") return this.#renew(parked, outcome);
    if (!pending || parked.stage !== "preparing") return;
    if ("error" in outcome) return this.#calls.apply(pending, "refused", now, outcome.error);
    parked.expires = now + TIMES.approval;
    if ("passes" in outcome) return void this.#waiting.apply(parked, "passes", now);
    const { binding, at, question } = outcome;
    parked.binding = binding;
    const earlier = at || !binding ? undefined : this.#waiting.rows.allowance(parked.grant, binding, now);
    if (earlier !== undefined) {
      parked.approval = earlier;
      return void this.#waiting.apply(parked, "passes", now);
    }
    parked.at = at;
    parked.summary = question.summary;
    this.#waiting.apply(parked, "asks", now, { question });
  }

  /** What somebody at the machine is asked again may have changed meanwhile. */
  #renew(parked: Parked, outcome: Outcome): void {
    if (parked.at !== "machine" || !("question" in outcome) || outcome.at !== "machine") return;
    const { binding, question } = outcome;
    Object.assign(parked, { binding, summary: question.summary } satisfies Partial<Parked>);
    this.#waiting.rows.ask(parked, question);
  }
}

function isLate({ stage, preparedBy = Number.POSITIVE_INFINITY }: Parked, now: number): boolean {
  return stage === "preparing" && preparedBy <= now;
}

function outcomeOf({ ask, at, binding, question, error }: ToolPrepared): Outcome {
  if (error) {
    const code = isDeviceCode(error.code) ? error.code : "TOOL_EXECUTION_FAILED";
    return { error: { ...error, code, hop: "agent" } };
  }
  if (!ask) return { passes: true };
  // Written out, hidden characters take more room, and a row has a limit.
  const isUsable = binding && question && !isLongerThan(JSON.stringify(question), LIMITS.preparedFrameBytes);
  return isUsable ? { binding, question, at } : { error: unusablePreparation() };
}
