/**
 * Takes a request to its outcome: gate, session, input, approval, journal, deadline, tool. Independent of transport: relay
 * link and local server both call it.
 */
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import { agentError, type ErrorCode, type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { isClosedTo, type Paused } from "@matrx/shared/paused.ts";
import { nameInUse, withToolNames } from "../text/tool-names.ts";
import { type Activity, ObservedCall } from "./activity.ts";
import { type Addressee, errorOutcome, type Outcome, readdressed, successOutcome } from "./answers.ts";
import type { ExaminedCall, Preparation } from "./approvals.ts";
import type { CallRequest, PrepareRequest } from "./call-request.ts";
import { cancelledError, runWithDeadline, type StandStill } from "./deadline.ts";
import { Examiner, type ExaminerOptions } from "./examiner.ts";
import type { Asker, StreamNeeds } from "./gate.ts";
import { toldError } from "./incident.ts";
import type { Journal } from "./journal.ts";
import type { Beginning, CallState, JournalEntry } from "./journal-entry.ts";
import { LiveOutput } from "./live-output.ts";
import { LiveProgress } from "./live-progress.ts";
import type { MachineApprovals } from "./machine-approvals.ts";
import { Preparer, type PreparerOptions } from "./preparer.ts";
import { conflictOutcome, knownCall, recalled } from "./repeated-call.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

export interface DispatcherOptions extends ExaminerOptions, PreparerOptions {
  /** Told of every call; absent: nobody can watch. */
  readonly activity?: Activity;
  readonly journal: Journal;
  /** How long a stopped tool may wind down, in milliseconds. */
  readonly windDownMs?: number;
}

/** A call begun by an earlier run of this program. */
export interface ResumedCall {
  readonly grant: string | undefined;
  readonly outcome: Promise<Outcome>;
}

interface Running {
  readonly call: string;
  readonly stop: AbortController;
  readonly outcome: Promise<Outcome>;
  readonly grant: string | undefined;
  readonly owner: boolean;
  readonly key: string | undefined;
  readonly fingerprint: string | undefined;
  /** Absent: an earlier run of this program began it. */
  readonly asked?: AskedCall;
}

interface AskedCall extends Asker {
  readonly tool: string;
  /** Undefined until its tool has begun. */
  needs?: StreamNeeds;
}

/** How long a stopped tool may wind down, in milliseconds. */
const WIND_DOWN = TIMES.killAfter + 1000;

/** Errors that mean nothing ran: from the dispatcher before the tool, or from the tool before it began. */
const NEVER_RAN: ReadonlySet<ErrorCode> = new Set(["INVALID_PARAMETERS", "RATE_LIMITED", "UNAVAILABLE"]);

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #examiner: Examiner;
  readonly #preparer: Preparer;
  readonly #running = new Map<string, Running>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#examiner = new Examiner(options);
    this.#preparer = new Preparer(options, this.#examiner);
  }

  /** Runs a call, joins a running one, or answers from the journal. Never rejects. */
  run(request: CallRequest): Promise<Outcome> {
    const { call, key, fingerprint } = request;
    const running = this.#running.get(call) ?? this.#runningUnder(request);
    if (running) return this.#join(request, running);
    const stop = new AbortController();
    const { grant: scope, relayPolicy } = request;
    const asked: AskedCall = { tool: toolNameOf(request.tool), grant: scope, relayPolicy };
    const outcome = withToolNames(this.#examiner.namesFor(request), () =>
      this.#answer(request, stop, asked),
    ).finally(() => this.#running.delete(call));
    const { id: grant, owner } = scope;
    this.#running.set(call, { call, stop, outcome, key, fingerprint, grant, owner, asked });
    return outcome;
  }

  /**
   * Whether a person must be asked about a call, and what, or why it cannot run; undefined: it is prepared again. Runs
   * nothing. Never rejects.
   */
  prepare(request: PrepareRequest): Promise<Preparation | ErrorShape | undefined> {
    return this.#preparer.prepare(request);
  }

  /** Decisions at this machine. */
  get machineApprovals(): MachineApprovals {
    return this.#preparer.machine;
  }

  /**
   * Resumes calls that an earlier run of this program began but did not finish; those whose tool left nothing behind become
   * `unknown`. Must be called once, before the first call.
   */
  recover(): ResumedCall[] {
    const { journal } = this.#options;
    const resumed: ResumedCall[] = [];
    for (const entry of journal.started()) {
      const outcome = this.#resume(entry);
      if (outcome === undefined) journal.giveUp(entry.call);
      else resumed.push({ grant: entry.grant, outcome });
    }
    return resumed;
  }

  /** Stops a call, which then answers `CANCELLED`. Returns whether it was running. */
  cancel(call: string, reason = "The call was cancelled"): boolean {
    const running = this.#running.get(call);
    running?.stop.abort(cancelledError(reason));
    this.#preparer.cancel(call, reason);
    return running !== undefined;
  }

  /** Stops every call, and resolves when all have answered. */
  async stopAll(reason: string): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort(cancelledError(reason));
    await Promise.all([...this.#running.values()].map(({ outcome }) => outcome));
  }

  /** Stops the calls of those whom a pause concerns, and resolves with their names when all have answered. */
  async stopFor(paused: Paused, reason: string): Promise<ReadonlySet<string>> {
    const concerned = [...this.#running.values()].filter((running) => isClosedTo(paused, running));
    for (const { stop } of concerned) stop.abort(cancelledError(reason));
    await Promise.all(concerned.map(({ outcome }) => outcome));
    return new Set(concerned.map(({ call }) => call));
  }

  /** A grant has ended: stops its calls, also those that only wait for a decision at this machine. */
  endGrant(grant: string, reason: string): void {
    for (const running of this.#running.values())
      if (running.grant === grant) running.stop.abort(cancelledError(reason));
    this.machineApprovals.endGrant(grant);
  }

  /** The device's policy has changed: stops the calls that it does not allow any more. */
  stopRefused(): void {
    for (const { stop, asked } of this.#running.values()) {
      const refusal = asked && this.refusalNow(asked.tool, asked, asked.needs);
      if (refusal) stop.abort(new MatrxError(refusal));
    }
  }

  /** The same for calls whose tool has not begun: they were admitted under wider limits. */
  stopUnbegun(): void {
    for (const { stop, asked } of this.#running.values())
      if (asked && !asked.needs) stop.abort(policyChangedError());
  }

  /** The call that an idempotency key stands for; undefined if the key is free. */
  callUnder(grant: GrantScope, key: string): string | undefined {
    const running = this.#runningUnder({ grant, key });
    return running?.call ?? this.#options.journal.findByKey(grant.id, key)?.call;
  }

  /** Whether a call of this tool could run. */
  mayCall(tool: string, asker: Asker): boolean {
    return this.#examiner.mayCall(tool, asker);
  }

  /** Why what a call of this tool began, and needs, may not go on; undefined if it may. */
  refusalNow(tool: string, asker: Asker, needs?: StreamNeeds): ErrorShape | undefined {
    return this.#examiner.refusalNow(tool, asker, needs);
  }

  isRunning(call: string): boolean {
    return this.#running.has(call);
  }

  /** The grant of a call that is running or in the journal. */
  grantOf(call: string): string | undefined {
    return (this.#running.get(call) ?? this.#options.journal.find(call))?.grant;
  }

  /** What is known of a call. */
  stateOf(call: string): CallState {
    if (this.#running.has(call)) return "started";
    const state = this.#options.journal.find(call)?.state ?? "never";
    return state === "started" ? "unknown" : state;
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  async #answer(request: CallRequest, stop: AbortController, asked: AskedCall): Promise<Outcome> {
    const began = performance.now();
    const name = toolNameOf(request.tool);
    const effect = effectOfCall(name, () => request.input) !== "read";
    const isWritten = effect && (request.journal !== "keyed" || request.key !== undefined);
    const journal = isWritten ? this.#options.journal : undefined;
    const to = this.#addressee(request);
    const facts = () => ({ ms: Math.round((performance.now() - began) * 100) / 100, effect });
    const { activity } = this.#options;
    const observed = activity && new ObservedCall(activity, request);
    let written = false;
    let outcome: Outcome;
    let text: string;
    try {
      const known = journal && knownCall(journal, request);
      if (known) return recalled(request, to, known);
      const examined = this.#examiner.admit(request, stop.signal);
      const { tool, admission, input, session } = examined;
      // Before the journal: a call that nobody allowed leaves nothing there.
      const approved = await this.#preparer.approve(examined, request.approval, stop);
      await journal?.begin(request.call, name, this.#beginningOf(request, tool));
      written = journal !== undefined;
      const run = async (context: ToolContext) => {
        const needs = tool.prepare?.(input, context) ?? {};
        await admission.check(needs, session);
        stop.signal.throwIfAborted();
        asked.needs = needs;
        observed?.started();
        return await tool.handle(input, approved ? { ...context, approved } : context);
      };
      const result = await this.#runTool(examined, run, request, stop);
      outcome = successOutcome(to, result, facts());
      text = result.output;
      const { stream: serve } = result;
      if (serve)
        request.onStream?.({ serve, interactive: tool.interactive ?? false, needs: asked.needs ?? {} });
    } catch (error) {
      const shape = this.#told(error, request);
      const ran = asked.needs !== undefined && !NEVER_RAN.has(shape.code);
      outcome = errorOutcome(to, shape, { ...facts(), ...(effect && !ran && { ran }) });
      text = shape.message;
    }
    if (written) this.#keep(request.call, outcome);
    observed?.ended(outcome.header, text);
    return outcome;
  }

  #resume({ call, tool: name, id, started, deadline, ...known }: JournalEntry): Promise<Outcome> | undefined {
    const { log, device, windDownMs = WIND_DOWN } = this.#options;
    const stop = new AbortController();
    const tool = this.#examiner.toolNamed(name);
    const result = tool?.resume?.({ call, signal: stop.signal, log });
    if (!tool || !result) return undefined;
    const timeoutMs = Math.max(0, (deadline ?? started + tool.timeoutMs) - Date.now());
    const to = { call, id, tool: name, device };
    const facts = () => ({ ms: Math.max(0, Date.now() - started), effect: true });
    const outcome = runWithDeadline(() => result, stop, { tool: name, timeoutMs, windDownMs })
      .then((ended) => successOutcome(to, ended, facts()))
      .catch((error: unknown) => errorOutcome(to, this.#told(error, to), facts()))
      .then((ended) => {
        this.#keep(call, ended);
        return ended;
      })
      .finally(() => this.#running.delete(call));
    const { grant, key, input } = known;
    // Whose it is, its job knows, which a pause stops as well.
    const owner = true;
    this.#running.set(call, { call, stop, outcome, grant, owner, key, fingerprint: input ?? undefined });
    return outcome;
  }

  #beginningOf({ fingerprint, id, grant, key, timeoutMs }: CallRequest, tool: Tool): Beginning {
    const deadline = Date.now() + (timeoutMs ?? tool.timeoutMs);
    return { input: fingerprint, id, grant: grant.id, key, deadline };
  }

  async #runTool(
    { call, tool, grant, session, admission: { rights }, signal }: ExaminedCall,
    run: (context: ToolContext) => Promise<ToolResult>,
    request: CallRequest,
    stop: AbortController,
  ): Promise<ToolResult> {
    const { onOutput, onProgress } = request;
    const live = onOutput && new LiveOutput(onOutput);
    const far = onProgress && new LiveProgress(onProgress);
    const log = this.#options.log;
    const output = live ? live.write.bind(live) : silent;
    const progress = far ? far.report.bind(far) : silent;
    const context = { call, session, grant, rights, signal, output, progress, log };
    const handle = (standStill: StandStill) => {
      const room = async (bytes: number) => {
        if (bytes > LIMITS.largeAnswerBytes) await standStill(async () => request.room?.(bytes, signal));
      };
      return run({ ...context, room, opensStream: request.onStream !== undefined });
    };
    try {
      return await runWithDeadline(handle, stop, {
        tool: nameInUse(tool.name),
        timeoutMs: request.timeoutMs ?? tool.timeoutMs,
        windDownMs: this.#options.windDownMs ?? WIND_DOWN,
      });
    } finally {
      live?.close();
      far?.close();
    }
  }

  #addressee({ call, id, tool }: CallRequest): Addressee {
    return { call, id, tool: toolNameOf(tool), device: this.#options.device };
  }

  /** A running call with the same idempotency key. */
  #runningUnder({ grant, key }: Pick<CallRequest, "grant" | "key">): Running | undefined {
    if (key === undefined) return undefined;
    for (const running of this.#running.values())
      if (running.key === key && running.grant === grant.id) return running;
    return undefined;
  }

  #join(request: CallRequest, running: Running): Promise<Outcome> {
    const to = this.#addressee(request);
    if (running.grant !== request.grant.id || request.fingerprint !== running.fingerprint)
      return Promise.resolve(conflictOutcome(to));
    return running.outcome.then((outcome) => readdressed(outcome, to));
  }

  #keep(call: string, outcome: Outcome): void {
    try {
      this.#options.journal.finish(call, outcome);
    } catch (err) {
      this.#options.log.error({ err, call }, "a call's outcome could not be written to the journal");
    }
  }

  #told(error: unknown, { call, tool }: Pick<Addressee, "call" | "tool">): ErrorShape {
    return toldError(error, this.#options.log, "a tool failed", { call, tool });
  }
}

function policyChangedError(): MatrxError {
  return agentError("CONFLICT", "The device's policy changed before the call ran", {
    hint: "Make the call again",
  });
}

function silent(): void {}
