/** Examines a call before it runs: its tool, whether the gate lets it in, its input, its session. */
import { toolNameOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { modelNames } from "@matrx/shared/model-names.ts";
import type { ExaminedCall } from "./approvals.ts";
import type { PrepareRequest } from "./call-request.ts";
import { type Admission, type Asker, Gate, type GateOptions } from "./gate.ts";
import { parseInput, toolNotFoundError } from "./input.ts";
import type { Session } from "./sessions.ts";
import type { Tool } from "./tool.ts";
import type { ToolNames } from "./tool-names.ts";

/** The part of sessions that calls need. */
export interface SessionSource {
  /** The grant's session with this id; without an id, a new one. Throws MatrxError. */
  open(id: string | undefined, grant: GrantScope): Session;
}

export interface ExaminerOptions extends GateOptions {
  readonly tools: readonly Tool[];
  readonly sessions: SessionSource;
}

export class Examiner {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #modelNames: ToolNames;
  readonly #gate: Gate;
  readonly #sessions: SessionSource;

  constructor(options: ExaminerOptions) {
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#modelNames = modelNames(this.#tools.keys());
    this.#gate = new Gate(options);
    this.#sessions = options.sessions;
  }

  /** Admits a call that is to run, and counts it. Throws MatrxError. */
  admit(request: PrepareRequest, signal: AbortSignal): ExaminedCall {
    return this.#examined(request, signal, (tool) => this.#gate.admit(tool, request));
  }

  /** Decides as `admit` about a call that is not to run yet. Throws MatrxError. */
  examine(request: PrepareRequest, signal: AbortSignal): ExaminedCall {
    return this.#examined(request, signal, (tool) => this.#gate.examine(tool, request));
  }

  /** Whether a call of this tool could run, whatever its input. */
  mayCall(tool: string, asker: Asker): boolean {
    return this.#gate.mayCall(tool, asker);
  }

  toolNamed(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** A caller that uses a tool's model name gets model names for all tools. */
  namesFor({ tool, called = tool }: PrepareRequest): ToolNames {
    const own = toolNameOf(tool);
    return called !== own && this.#modelNames.get(own) === called ? this.#modelNames : OWN_NAMES;
  }

  #examined(
    request: PrepareRequest,
    signal: AbortSignal,
    admissionTo: (tool: string) => Admission,
  ): ExaminedCall {
    const { call, grant, session: id } = request;
    const tool = this.#toolFor(request);
    const admission = admissionTo(tool.name);
    const input = parseInput(tool, request.input);
    const session = this.#sessions.open(id, grant);
    return { call, tool, input, grant, session, isSessionNew: id === undefined, admission, signal };
  }

  #toolFor({ tool: wanted, called = wanted }: PrepareRequest): Tool {
    const tool = this.#tools.get(toolNameOf(wanted));
    if (!tool) throw toolNotFoundError(called, this.#tools.keys());
    return tool;
  }
}

const OWN_NAMES: ToolNames = new Map();
