/**
 * From a request to its outcome: gate, session, input, journal, deadline, tool. Knows no transport; relay link and
 * local server both call it.
 */
import { effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import { MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { type Policy, refusalOf } from "@matrx/shared/policy.ts";
import type { Logger } from "pino";
import { type Addressee, errorOutcome, type Outcome, readdressed, successOutcome } from "./answers.ts";
import { CallRates } from "./call-rates.ts";
import { cancelled, runWithDeadline } from "./deadline.ts";
import { parseInput, toolNotFound } from "./input.ts";
import type { CallState, Journal, JournalEntry } from "./journal.ts";
import { LiveOutput, type OutputPiece } from "./live-output.ts";
import type { Session } from "./sessions.ts";
import type { Tool, ToolResult } from "./tool.ts";

export interface CallRequest {
  /** The call's name: one call runs at most once under it. */
  readonly call: string;
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly grant: GrantScope;
  /** What the owner set for this device at the relay; holds besides the device's own policy. */
  readonly relayPolicy?: Policy | undefined;
  /** The caller's own name for the call. */
  readonly id?: string | undefined;
  /** Absent: a fresh session for this call alone. */
  readonly session?: string | undefined;
  /** Milliseconds from now; absent: the tool's own. */
  readonly timeoutMs?: number | undefined;
  /** Hash of tool and input: the same call with another one is a `CONFLICT`. */
  readonly fingerprint?: string | undefined;
  /** The caller wants live output. */
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined;
}

/** Sessions as the dispatcher needs them. */
export interface SessionSource {
  /** The session of this id for this grant; without an id a fresh one. Throws MatrxError. */
  open(id: string | undefined, grant: GrantScope): Session;
}

export interface DispatcherOptions {
  readonly device: string;
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
  readonly policy: { current(): Policy };
  /** Absent: this dispatcher counts for itself. */
  readonly rates?: CallRates;
  /** Absent: calls are not written down (each has a new name then). */
  readonly journal?: Journal | undefined;
  readonly log: Logger;
  /** A stopped tool gets this long to wind down, in milliseconds. */
  readonly windDownMs?: number;
}

interface Running {
  readonly stop: AbortController;
  readonly outcome: Promise<Outcome>;
  readonly fingerprint: string | undefined;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #rates: CallRates;
  readonly #running = new Map<string, Running>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#rates = options.rates ?? new CallRates();
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  }

  /** Runs a call, or joins it, or answers it from the journal. Never rejects. */
  run(request: CallRequest): Promise<Outcome> {
    const running = this.#running.get(request.call);
    if (running) return this.#join(request, running);
    const stop = new AbortController();
    const outcome = this.#answer(request, stop).finally(() => this.#running.delete(request.call));
    this.#running.set(request.call, { stop, outcome, fingerprint: request.fingerprint });
    return outcome;
  }

  /** Stops a call; it answers `CANCELLED`. Tells whether it was running. */
  cancel(call: string, reason = "The call was cancelled"): boolean {
    const running = this.#running.get(call);
    running?.stop.abort(cancelled(reason));
    return running !== undefined;
  }

  /** Stops every call, and resolves when all have answered. */
  async stopAll(reason: string): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort(cancelled(reason));
    await Promise.all([...this.#running.values()].map(({ outcome }) => outcome));
  }

  isRunning(call: string): boolean {
    return this.#running.has(call);
  }

  /** What is known of a call. */
  stateOf(call: string): CallState {
    if (this.#running.has(call)) return "started";
    const state = this.#options.journal?.find(call)?.state ?? "never";
    return state === "started" ? "unknown" : state;
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  async #answer(request: CallRequest, stop: AbortController): Promise<Outcome> {
    const began = performance.now();
    const name = toolNameOf(request.tool);
    const effect = effectOf(name) !== "read";
    const journal = effect ? this.#options.journal : undefined;
    const to = this.#addressee(request);
    const facts = () => ({ ms: Math.round((performance.now() - began) * 100) / 100, effect });
    let begun = false;
    let outcome: Outcome;
    try {
      const known = journal?.find(request.call);
      if (known) return this.#recall(request, to, known);
      const { tool, policy } = this.#admit(name, request);
      const input = parseInput(tool, request.input);
      const session = this.#options.sessions.open(request.session, request.grant);
      await journal?.begin(request.call, name, request.fingerprint);
      begun = journal !== undefined;
      const result = await this.#runTool(tool, input, session, policy, request, stop);
      outcome = successOutcome(to, result, facts());
    } catch (error) {
      outcome = errorOutcome(to, this.#outside(error, request), facts());
    }
    if (begun) this.#keep(request.call, outcome);
    return outcome;
  }

  /** Finds the tool and asks the gate. Throws MatrxError. */
  #admit(name: string, { grant, relayPolicy = {} }: CallRequest): { tool: Tool; policy: Policy } {
    const tool = this.#tools.get(name);
    if (!tool) throw toolNotFound(name, this.#tools.keys());
    const policy = this.#options.policy.current();
    const refusal =
      refusalOf({ tool: name, grant, policy }, "agent") ??
      refusalOf({ tool: name, grant, policy: relayPolicy }, "agent");
    if (refusal) throw new MatrxError(refusal);
    this.#rates.count(grant.id, policy, performance.now());
    return { tool, policy };
  }

  async #runTool(
    tool: Tool,
    input: Record<string, unknown>,
    session: Session,
    policy: Policy,
    request: CallRequest,
    stop: AbortController,
  ): Promise<ToolResult> {
    const { call, grant, relayPolicy, onOutput } = request;
    const live = onOutput && new LiveOutput(onOutput);
    const log = this.#options.log;
    const output = live ? live.write.bind(live) : silent;
    const context = { call, session, grant, policy, relayPolicy, signal: stop.signal, output, log };
    try {
      return await runWithDeadline(() => tool.handle(input, context), stop, {
        tool: tool.name,
        timeoutMs: request.timeoutMs ?? tool.timeoutMs,
        windDownMs: this.#options.windDownMs ?? TIMES.killAfter + 1000,
      });
    } finally {
      live?.close();
    }
  }

  #addressee({ call, id, tool }: CallRequest): Addressee {
    return { call, id, tool: toolNameOf(tool), device: this.#options.device };
  }

  #join(request: CallRequest, running: Running): Promise<Outcome> {
    const to = this.#addressee(request);
    if (request.fingerprint !== running.fingerprint) return Promise.resolve(conflict(to));
    return running.outcome.then((outcome) => readdressed(outcome, request.id));
  }

  #recall(request: CallRequest, to: Addressee, known: JournalEntry): Outcome {
    if ((request.fingerprint ?? null) !== known.input) return conflict(to);
    if (known.state !== "finished" || !known.header) return unknownOutcome(to, NEVER_HEARD);
    if (!known.body) return unknownOutcome(to, NOT_KEPT);
    return readdressed({ header: known.header, body: known.body }, request.id);
  }

  #keep(call: string, outcome: Outcome): void {
    try {
      this.#options.journal?.finish(call, outcome);
    } catch (err) {
      this.#options.log.error({ err, call }, "the outcome of a call could not be written to the journal");
    }
  }

  #outside(error: unknown, request: CallRequest) {
    const incident = randomBase32(8);
    if (!(error instanceof MatrxError)) {
      this.#options.log.error(
        { err: error, incident, call: request.call, tool: request.tool },
        "a tool failed",
      );
    }
    return shapeOf(error, "agent", incident);
  }
}

function silent(): void {}

const NEVER_HEARD = "The agent stopped while this call was running; it may or may not have taken effect";
const NOT_KEPT = "This call ended earlier, and its outcome is no longer kept here";

function unknownOutcome(to: Addressee, message: string): Outcome {
  const hint = "Check what it changed before you decide; it is never run again automatically";
  return errorOutcome(to, { code: "OUTCOME_UNKNOWN", message, hint, hop: "agent" }, { ms: 0, effect: true });
}

function conflict(to: Addressee): Outcome {
  const message = "A call with this name or idempotency key was made before, with another tool or input";
  const hint = "Use a new key for each new call";
  return errorOutcome(to, { code: "CONFLICT", message, hint, hop: "agent" }, { ms: 0, effect: true });
}
