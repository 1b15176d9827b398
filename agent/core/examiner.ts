/** Examines a call before it runs: its tool, whether the gate lets it in, its input, its session. */
import { effectOfCall, toolNameOf } from "@matrx/shared/effects.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { modelNames } from "@matrx/shared/model-names.ts";
import type { ToolNames } from "../text/tool-names.ts";
import type { ExaminedCall } from "./approvals.ts";
import type { PrepareRequest } from "./call-request.ts";
import { type Admission, type Asker, Gate, type GateOptions, type StreamNeeds } from "./gate.ts";
import { parseInput, toolNotFoundError } from "./input.ts";
import type { Session } from "./sessions.ts";
import type { Tool } from "./tool.ts";
import type { ToolSource } from "./tool-source.ts";

/** The part of sessions that calls need. */
export interface SessionSource {
  /** The grant's session with this id; without an id, a new one. Throws MatrxError. */
  open(id: string | undefined, grant: GrantScope): Session;
}

export interface ExaminerOptions extends GateOptions {
  readonly tools: ToolSource;
  readonly sessions: SessionSource;
}

export class Examiner {
  readonly #source: ToolSource;
  #known: KnownTools = knownTools([]);
  readonly #gate: Gate;
  readonly #sessions: SessionSource;

  constructor(options: ExaminerOptions) {
    this.#source = options.tools;
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

  /** Whether a call of this tool could run. */
  mayCall(tool: string, asker: Asker): boolean {
    return this.#gate.mayCall(tool, asker);
  }

  /** Why what a call of this tool began, and needs, may not go on; undefined if it may. */
  refusalNow(tool: string, asker: Asker, needs?: StreamNeeds): ErrorShape | undefined {
    return this.#gate.refusalNow(tool, asker, needs);
  }

  toolNamed(name: string): Tool | undefined {
    return this.#tools.byName.get(name);
  }

  /** A caller that uses a tool's model name gets model names for all tools. */
  namesFor({ tool, called = tool }: PrepareRequest): ToolNames {
    const own = toolNameOf(tool);
    if (called === own) return OWN_NAMES;
    const { names } = this.#tools;
    return names.get(own) === called ? names : OWN_NAMES;
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
    const effect = effectOfCall(tool.name, () => request.input);
    return { call, tool, input, effect, grant, session, isSessionNew: id === undefined, admission, signal };
  }

  #toolFor({ tool: wanted, called = wanted }: PrepareRequest): Tool {
    const { byName } = this.#tools;
    const tool = byName.get(toolNameOf(wanted));
    if (!tool) throw toolNotFoundError(called, byName.keys());
    return tool;
  }

  get #tools(): KnownTools {
    const tools = this.#source.current();
    if (this.#known.tools !== tools) this.#known = knownTools(tools);
    return this.#known;
  }
}

interface KnownTools {
  readonly tools: readonly Tool[];
  readonly byName: ReadonlyMap<string, Tool>;
  /** What models call them. */
  readonly names: ToolNames;
}

function knownTools(tools: readonly Tool[]): KnownTools {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return { tools, byName, names: modelNames(byName.keys()) };
}

const OWN_NAMES: ToolNames = new Map();
