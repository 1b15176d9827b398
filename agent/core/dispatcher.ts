/**
 * Takes a request to its outcome: gate, session, input, journal, deadline, tool. Independent of transport: relay link and
 * local server both call it.
 */
import { effectOf, toolNameOf } from "@matrx/shared/effects.ts";
import { type ErrorCode, type ErrorShape, MatrxError, shapeOf } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { randomBase32 } from "@matrx/shared/ids.ts";
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { modelNames } from "@matrx/shared/model-names.ts";
import type { Paused } from "@matrx/shared/paused.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import type { Logger } from "pino";
import { type Activity, ObservedCall } from "./activity.ts";
import {
  type Addressee,
  bodilessOutcome,
  errorOutcome,
  type Outcome,
  readdressed,
  successOutcome,
} from "./answers.ts";
import {
  type Approval,
  Approvals,
  type ApprovalsOptions,
  type ExaminedCall,
  type Preparation,
} from "./approvals.ts";
import { cancelledError, runWithDeadline, type StandStill } from "./deadline.ts";
import { type Admission, type Asker, Gate, type GateOptions, type PathCheck } from "./gate.ts";
import { parseInput, toolNotFoundError } from "./input.ts";
import type { Journal } from "./journal.ts";
import type { Beginning, CallState, JournalEntry } from "./journal-entry.ts";
import { LiveOutput, type OutputPiece } from "./live-output.ts";
import type { MachineApprovals } from "./machine-approvals.ts";
import { isClosedTo } from "./pause.ts";
import type { Session } from "./sessions.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";
import { nameInUse, type ToolNames, withToolNames } from "./tool-names.ts";

export interface CallRequest {
  /** The call's name, under which it runs at most once. */
  readonly call: string;
  readonly tool: string;
  /** The caller's name for the tool; absent: the same as `tool`. Texts use names in the same style. */
  readonly called?: string | undefined;
  readonly input: Record<string, unknown>;
  readonly grant: GrantScope;
  /** The owner's policy for this device at the relay; applies in addition to the device's own. */
  readonly relayPolicy?: Policy | undefined;
  /** The caller's own name for the call. */
  readonly id?: string | undefined;
  /** Absent: a new session just for this call. */
  readonly session?: string | undefined;
  /** Milliseconds from now; absent: the tool's own limit. */
  readonly timeoutMs?: number | undefined;
  /** Hash of tool and input: reusing a call's name or key with a different hash is a `CONFLICT`. */
  readonly fingerprint?: string | undefined;
  /** Idempotency key: at most one call of the grant runs under it, whatever its name. */
  readonly key?: string | undefined;
  /** Which calls with an effect go into the journal: all (the default), or only those with an idempotency key. */
  readonly journal?: "always" | "keyed" | undefined;
  /** The caller wants live output. */
  readonly onOutput?: ((piece: OutputPiece) => void) | undefined;
  /** A person allowed exactly this call. */
  readonly approval?: Approval | undefined;
  /** Resolves once there is room for a large answer of this many bytes; rejects with the signal's reason. */
  readonly room?: ((bytes: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** A call that is to be prepared: checked and looked at, but not run. */
export type PrepareRequest = Pick<
  CallRequest,
  "call" | "tool" | "called" | "input" | "grant" | "relayPolicy" | "session"
>;

/** What the dispatcher needs of sessions. */
export interface SessionSource {
  /** The grant's session with this id; without an id, a new one. Throws MatrxError. */
  open(id: string | undefined, grant: GrantScope): Session;
}

export interface DispatcherOptions extends ApprovalsOptions {
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
  readonly policy: GateOptions["policy"];
  readonly checkPaths: PathCheck;
  readonly pause?: GateOptions["pause"];
  /** Told of every call; absent: nobody can watch. */
  readonly activity?: Activity;
  readonly journal: Journal;
  readonly log: Logger;
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
}

/** How long a stopped tool may wind down, in milliseconds. */
const WIND_DOWN = TIMES.killAfter + 1000;
/** How long looking at what a call names may take, in milliseconds. */
const LOOK_MS = 30_000;

/** Errors that mean nothing ran: from the dispatcher before the tool, or from the tool before it began. */
const NEVER_RAN: ReadonlySet<ErrorCode> = new Set(["INVALID_PARAMETERS", "RATE_LIMITED", "UNAVAILABLE"]);

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #modelNames: ToolNames;
  readonly #gate: Gate;
  readonly #approvals: Approvals;
  readonly #running = new Map<string, Running>();
  /** Calls that are being prepared. */
  readonly #preparing = new Map<string, AbortController>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#gate = new Gate(options);
    this.#approvals = new Approvals(options);
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#modelNames = modelNames(this.#tools.keys());
  }

  /** Runs a call, joins a running one, or answers from the journal. Never rejects. */
  run(request: CallRequest): Promise<Outcome> {
    const { call, key, fingerprint } = request;
    const running = this.#running.get(call) ?? this.#runningUnder(request);
    if (running) return this.#join(request, running);
    const stop = new AbortController();
    const outcome = withToolNames(this.#namesFor(request), () => this.#answer(request, stop)).finally(() =>
      this.#running.delete(call),
    );
    const { id: grant, owner } = request.grant;
    this.#running.set(call, { call, stop, outcome, key, fingerprint, grant, owner });
    return outcome;
  }

  /** Whether a person must be asked about a call, and what, or why it cannot run. Runs nothing. Never rejects. */
  prepare(request: PrepareRequest): Promise<Preparation | ErrorShape> {
    this.#preparing.get(request.call)?.abort(cancelledError("The call is prepared again"));
    const stop = new AbortController();
    this.#preparing.set(request.call, stop);
    return withToolNames(this.#namesFor(request), () => this.#prepare(request, stop)).finally(() => {
      if (this.#preparing.get(request.call) === stop) this.#preparing.delete(request.call);
    });
  }

  async #prepare(request: PrepareRequest, stop: AbortController): Promise<Preparation | ErrorShape> {
    try {
      const name = toolNameOf(request.tool);
      const tool = this.#toolFor(name, request);
      const admission = this.#gate.examine(name, request);
      const input = parseInput(tool, request.input);
      const session = this.#options.sessions.open(request.session, request.grant);
      const call = this.#examined(request, { tool, admission, input, session, stop });
      const limits = { tool: nameInUse(name), timeoutMs: LOOK_MS, windDownMs: 0 };
      return await runWithDeadline(() => this.#approvals.prepare(call), stop, limits);
    } catch (error) {
      return this.#outside(error, request);
    }
  }

  #examined(
    { call, grant, session: id }: PrepareRequest,
    parts: Pick<ExaminedCall, "tool" | "admission" | "input" | "session"> & { stop: AbortController },
  ): ExaminedCall {
    const { stop, ...others } = parts;
    return { ...others, call, grant, isSessionNew: id === undefined, signal: stop.signal };
  }

  /** What a person's yes is bound to; undefined if nobody needs to be asked. Throws MatrxError. */
  async #approve(call: ExaminedCall, approval: Approval | undefined, stop: AbortController) {
    if (!this.#approvals.mayAsk(call, approval)) return undefined;
    const timeoutMs = approval ? LOOK_MS : LOOK_MS + this.#approvals.machine.keptMs;
    const limits = { tool: nameInUse(call.tool.name), timeoutMs, windDownMs: 0 };
    return await runWithDeadline(() => this.#approvals.require(call, approval), stop, limits);
  }

  /** Decisions at this machine. */
  get machineApprovals(): MachineApprovals {
    return this.#approvals.machine;
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
    this.#preparing.get(call)?.abort(cancelledError(reason));
    this.#approvals.machine.withdraw(call);
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

  /** The call that an idempotency key stands for; undefined if the key is free. */
  callUnder(grant: GrantScope, key: string): string | undefined {
    const running = this.#runningUnder({ grant, key });
    return running?.call ?? this.#options.journal.findByKey(grant.id, key)?.call;
  }

  /** Whether a call of this tool could run, whatever its input. */
  mayCall(tool: string, asker: Asker): boolean {
    return this.#gate.mayCall(tool, asker);
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

  /** A caller that uses a tool's model name gets model names for all tools. */
  #namesFor({ tool, called = tool }: PrepareRequest): ToolNames {
    const own = toolNameOf(tool);
    return called !== own && this.#modelNames.get(own) === called ? this.#modelNames : OWN_NAMES;
  }

  async #answer(request: CallRequest, stop: AbortController): Promise<Outcome> {
    const began = performance.now();
    const name = toolNameOf(request.tool);
    const effect = effectOf(name) !== "read";
    const isWritten = effect && (request.journal !== "keyed" || request.key !== undefined);
    const journal = isWritten ? this.#options.journal : undefined;
    const to = this.#addressee(request);
    const facts = () => ({ ms: Math.round((performance.now() - began) * 100) / 100, effect });
    const { activity } = this.#options;
    const observed = activity && new ObservedCall(activity, request);
    let written = false;
    let begun = false;
    let outcome: Outcome;
    let text: string;
    try {
      const known = journal && knownCall(journal, request);
      if (known) return this.#recall(request, to, known);
      const { tool, admission } = this.#admit(name, request);
      const input = parseInput(tool, request.input);
      const session = this.#options.sessions.open(request.session, request.grant);
      const examined = this.#examined(request, { tool, admission, input, session, stop });
      // Before the journal: a call that nobody allowed leaves nothing there.
      const approved = await this.#approve(examined, request.approval, stop);
      await journal?.begin(request.call, name, this.#beginningOf(request, tool));
      written = journal !== undefined;
      const run = async (context: ToolContext) => {
        const needs = tool.prepare?.(input, context);
        if (needs) await admission.check(needs, session);
        stop.signal.throwIfAborted();
        begun = true;
        observed?.started();
        return await tool.handle(input, approved ? { ...context, approved } : context);
      };
      const result = await this.#runTool(tool, run, session, admission, request, stop);
      outcome = successOutcome(to, result, facts());
      text = result.output;
    } catch (error) {
      const shape = this.#outside(error, request);
      const ran = begun && !NEVER_RAN.has(shape.code);
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
    const tool = this.#tools.get(name);
    const result = tool?.resume?.({ call, signal: stop.signal, log });
    if (!tool || !result) return undefined;
    const timeoutMs = Math.max(0, (deadline ?? started + tool.timeoutMs) - Date.now());
    const to = { call, id, tool: name, device };
    const facts = () => ({ ms: Math.max(0, Date.now() - started), effect: true });
    const outcome = runWithDeadline(() => result, stop, { tool: name, timeoutMs, windDownMs })
      .then((ended) => successOutcome(to, ended, facts()))
      .catch((error: unknown) => errorOutcome(to, this.#outside(error, to), facts()))
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

  /** Finds the tool and asks the gate. Throws MatrxError. */
  #admit(name: string, request: CallRequest): { tool: Tool; admission: Admission } {
    return { tool: this.#toolFor(name, request), admission: this.#gate.admit(name, request) };
  }

  #toolFor(name: string, { called, tool: wanted }: PrepareRequest): Tool {
    const tool = this.#tools.get(name);
    if (!tool) throw toolNotFoundError(called ?? wanted, this.#tools.keys());
    return tool;
  }

  async #runTool(
    tool: Tool,
    run: (context: ToolContext) => Promise<ToolResult>,
    session: Session,
    { rights }: Admission,
    request: CallRequest,
    stop: AbortController,
  ): Promise<ToolResult> {
    const { call, grant, onOutput } = request;
    const { signal } = stop;
    const live = onOutput && new LiveOutput(onOutput);
    const log = this.#options.log;
    const output = live ? live.write.bind(live) : silent;
    const context = { call, session, grant, rights, signal, output, log };
    const handle = (standStill: StandStill) => {
      const room = async (bytes: number) => {
        if (bytes > LIMITS.largeAnswerBytes) await standStill(async () => request.room?.(bytes, signal));
      };
      return run({ ...context, room });
    };
    try {
      return await runWithDeadline(handle, stop, {
        tool: nameInUse(tool.name),
        timeoutMs: request.timeoutMs ?? tool.timeoutMs,
        windDownMs: this.#options.windDownMs ?? WIND_DOWN,
      });
    } finally {
      live?.close();
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
      return Promise.resolve(conflict(to));
    return running.outcome.then((outcome) => readdressed(outcome, to));
  }

  #recall(request: CallRequest, to: Addressee, known: JournalEntry): Outcome {
    if (isAnother(request, known)) return conflict(to);
    const { state, header, body } = known;
    if (state !== "finished" || !header) return unknownOutcome(to);
    return body ? readdressed({ header, body }, to) : bodilessOutcome(to, header);
  }

  #keep(call: string, outcome: Outcome): void {
    try {
      this.#options.journal.finish(call, outcome);
    } catch (err) {
      this.#options.log.error({ err, call }, "a call's outcome could not be written to the journal");
    }
  }

  #outside(error: unknown, { call, tool }: Pick<Addressee, "call" | "tool">) {
    const incident = randomBase32(8);
    if (!(error instanceof MatrxError)) {
      this.#options.log.error({ err: error, incident, call, tool }, "a tool failed");
    }
    return shapeOf(error, "agent", incident);
  }
}

function knownCall(journal: Journal, { call, grant, key }: CallRequest): JournalEntry | undefined {
  return journal.find(call) ?? (key === undefined ? undefined : journal.findByKey(grant.id, key));
}

/** Whether a known call is a different one. Rows of older agents have no grant, and no input hash for the relay's calls. */
function isAnother({ grant, fingerprint }: CallRequest, known: JournalEntry): boolean {
  const input = fingerprint ?? null;
  if (known.grant === undefined) return known.input !== null && known.input !== input;
  return known.grant !== grant.id || known.input !== input;
}

function silent(): void {}

const OWN_NAMES: ToolNames = new Map();

function unknownOutcome(to: Addressee): Outcome {
  const message = "The agent stopped while this call was running; it may or may not have taken effect";
  const hint = "Check what it changed before you decide; it is never run again automatically";
  return errorOutcome(to, { code: "OUTCOME_UNKNOWN", message, hint, hop: "agent" }, { ms: 0, effect: true });
}

function conflict(to: Addressee): Outcome {
  const message = "A call with this name or idempotency key was made before, with another tool or input";
  const hint = "Use a new key for each new call";
  const facts = { ms: 0, effect: true, ran: false } as const;
  return errorOutcome(to, { code: "CONFLICT", message, hint, hop: "agent" }, facts);
}
