/**
 * Asks a person about calls that the grant or a policy wants asked about. Every question is bound to what the call would do
 * then; the call runs only if it would still do the same.
 */
import type { Effect } from "@matrx/shared/effects.ts";
import { agentError, MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { AskedAbout } from "@matrx/shared/policy.ts";
import type { Question } from "@matrx/shared/question.ts";
import { nameInUse } from "../text/tool-names.ts";
import {
  ApprovedState,
  changedSinceApprovedError,
  type InsideLook,
  type PathLook,
  type PathState,
} from "./approved-state.ts";
import { type BindingParts, bindingOf, canonicalJson, differences, digestOf } from "./binding.ts";
import type { Admission } from "./gate.ts";
import { isLocalGrant } from "./journal-entry.ts";
import { MachineApprovals } from "./machine-approvals.ts";
import { questionOf } from "./question.ts";
import type { Session } from "./sessions.ts";
import type { Tool } from "./tool.ts";

/** A call that the gate admits, with its parsed input. */
export interface ExaminedCall {
  readonly call: string;
  readonly tool: Tool;
  readonly input: Record<string, unknown>;
  /** What this call does. */
  readonly effect: Effect;
  readonly grant: GrantScope;
  readonly session: Session;
  /** Whether the session ends with the call. */
  readonly isSessionNew: boolean;
  readonly admission: Admission;
  readonly signal: AbortSignal;
}

/** A person's yes, as the relay tells it. */
export interface Approval {
  readonly id: string;
  readonly binding: string;
}

/** Whether to ask, and what. `at`: only somebody at the machine may decide. */
export type Preparation =
  | { readonly ask: false }
  | { readonly ask: true; readonly at?: "machine"; readonly binding: string; readonly question: Question };

export interface ApprovalsOptions {
  readonly device: string;
  /** The relay's address, if there is one: its own pages are no place to be sent to. */
  readonly relay?: string | undefined;
  readonly lookAtPaths: PathLook;
  readonly lookInside: InsideLook;
  readonly machine?: MachineApprovals | undefined;
}

/** Prepared calls that are remembered, to say later what has changed. */
const REMEMBERED = 256;

/** What a call names, and who must be asked about it. */
interface Named {
  readonly asks: boolean;
  readonly atMachine: boolean;
  readonly paths: readonly PathState[];
  /** Tools whose work it also does. */
  readonly also: readonly string[];
}

/** All that a decision on the call is about. */
interface Bound extends Named {
  readonly parts: BindingParts;
  readonly binding: string;
  readonly question: () => Question;
}

export class Approvals {
  readonly machine: MachineApprovals;
  readonly #options: ApprovalsOptions;
  readonly #remembered = new Map<string, BindingParts>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.machine = options.machine ?? new MachineApprovals();
  }

  /** Whether a call needs a closer look, because a rule may ask about it, or somebody was asked. */
  mayAsk(call: ExaminedCall, approval: Approval | undefined): boolean {
    return approval !== undefined || call.admission.asking(askedAs(call)).length > 0;
  }

  /** Whether a person must be asked about a call, and what. A question for somebody at the machine waits there from now on. Throws MatrxError. */
  async prepare(call: ExaminedCall): Promise<Preparation> {
    if (!this.mayAsk(call, undefined)) return { ask: false };
    const named = await this.#look(call);
    if (!named.asks) return { ask: false };
    const { binding, atMachine, parts, ...bound } = await this.#bind(call, named);
    const question = bound.question();
    this.#remember(call.call, parts);
    if (!atMachine) return { ask: true, binding, question };
    this.machine.ask({ call: call.call, binding, question, grant: call.grant });
    return { ask: true, at: "machine", binding, question };
  }

  /**
   * The state that the call's run must find, if a person had to allow it and did; undefined if nobody is asked. A local
   * caller waits for somebody at the machine here. Throws MatrxError `APPROVAL_DENIED`, `APPROVAL_EXPIRED`, `CONFLICT`, or
   * `UNAVAILABLE` if nobody was asked yet, because the relay did not know the rule.
   */
  async require(call: ExaminedCall, approval: Approval | undefined): Promise<ApprovedState | undefined> {
    const named = await this.#look(call);
    if (!named.asks && !approval) return undefined;
    const waitsHere = named.atMachine && isLocalGrant(call.grant.id);
    if (!approval && !waitsHere) throw notAskedError(call);
    if (!approval) return await this.#confirmHere(call, await this.#bind(call, named));
    const bound = await this.#bindAgain(call, named);
    this.#checkApproval(call, approval, bound);
    return stateOf(call, bound);
  }

  /** As `#bind`, for a call that could be prepared before: if it cannot any more, something has changed. */
  async #bindAgain(call: ExaminedCall, named: Named): Promise<Bound> {
    try {
      return await this.#bind(call, named);
    } catch (error) {
      if (call.signal.aborted || !(error instanceof MatrxError)) throw error;
      throw changedSinceApprovedError([error.message]);
    }
  }

  #checkApproval({ call, tool }: ExaminedCall, approval: Approval, bound: Bound): void {
    if (approval.binding !== bound.binding) {
      const before = this.#remembered.get(call);
      const isKnown = before && bindingOf(before) === approval.binding;
      throw changedSinceApprovedError(isKnown ? differences(before, bound.parts) : []);
    }
    if (bound.atMachine && !this.machine.allows(call, bound.binding)) throw onlyHereError(tool.name);
  }

  async #confirmHere(call: ExaminedCall, bound: Bound): Promise<ApprovedState> {
    const { binding } = bound;
    this.machine.ask({ call: call.call, binding, question: bound.question(), grant: call.grant });
    const { allow, note } = await this.machine.decisionOn(call.call, call.signal);
    if (!allow) throw deniedError(note);
    const now = await this.#bindAgain(call, await this.#look(call));
    if (now.binding !== binding) throw changedSinceApprovedError(differences(bound.parts, now.parts));
    return stateOf(call, now);
  }

  /** Checks the call as if it ran, and looks at everything that it names. Throws MatrxError. */
  async #look(call: ExaminedCall): Promise<Named> {
    const { tool, input, admission, grant, session, signal } = call;
    const { rights } = admission;
    const needs = tool.prepare?.(input, { rights, grant }) ?? {};
    await admission.check(needs, session);
    const paths = await this.#options.lookAtPaths(needs.paths ?? [], { session, rights }, signal);
    const tells = admission.asking(askedAs(call)).some(({ rule }) => rule.match !== undefined);
    const inside = tells ? await this.#options.lookInside(paths, { session, rights }, signal) : [];
    const subjects = inside && [...subjectsOf(input, needs.subjects, paths), ...inside];
    const isAllowed = tool.continues !== undefined && needs.isApproved === true;
    // What else it does is told only by the paths and the command that it names.
    const alsoAbout = paths.length > 0 || needs.subjects ? subjects : undefined;
    const also = needs.tools?.map((other) => ({ tool: other.tool, subjects: alsoAbout })) ?? [];
    const asking = isAllowed ? [] : admission.asking({ ...askedAs(call), also }, subjects);
    return {
      asks: asking.length > 0,
      atMachine: asking.some(({ rule }) => rule.at === "machine"),
      paths,
      also: also.map((other) => other.tool),
    };
  }

  async #bind(call: ExaminedCall, named: Named): Promise<Bound> {
    const { tool, input, admission, session, grant, signal } = call;
    const { rights } = admission;
    const { paths, also } = named;
    const preview = await tool.preview?.(input, { session, grant, rights, signal });
    signal.throwIfAborted();
    const parts: BindingParts = {
      ...{ device: this.#options.device, grant: grant.id, session: call.isSessionNew ? null : session.id },
      ...{ cwd: session.cwd, tool: tool.name, input, paths, facts: preview?.bound ?? {} },
      limits: digestOf(admission.limits),
    };
    const asked = { tool: tool.name, effect: call.effect, also, paths, preview, relay: this.#options.relay };
    return {
      ...named,
      ...{ parts, binding: bindingOf(parts) },
      question: () => questionOf({ ...asked, input: canonicalJson(input) }),
    };
  }

  #remember(call: string, parts: BindingParts): void {
    this.#remembered.delete(call);
    this.#remembered.set(call, parts);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

/** A step of another call is asked about as that one. */
function askedAs({ tool, effect }: ExaminedCall): AskedAbout {
  return tool.continues === undefined ? { tool: tool.name, effect } : { tool: tool.continues };
}

function stateOf({ session }: ExaminedCall, { paths }: Named): ApprovedState {
  return new ApprovedState(session.cwd, paths);
}

/** Of a tool that does not tell them, every text of the input may be one. */
function subjectsOf(
  input: Record<string, unknown>,
  told: readonly string[] | undefined,
  paths: readonly PathState[],
): string[] {
  const texts = told ?? (paths.length > 0 ? [] : textsIn(input));
  return [...paths.flatMap(({ path, named }) => [path, named]), ...texts];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function notAskedError({ tool, grant }: ExaminedCall): MatrxError {
  const name = nameInUse(tool.name);
  if (isLocalGrant(grant.id)) {
    return agentError(
      "APPROVAL_DENIED",
      `${name}: the policy wants a person asked first, and nobody can be asked here`,
      {
        hint: 'Make the call through the relay; or let the policy ask at this machine ("at": "machine" in its rule), where matrx approvals --here answers',
      },
    );
  }
  return agentError("UNAVAILABLE", `${name} must be allowed by a person first, and nobody was asked yet`, {
    hint: "Send it again: then the owner is asked. If that does not help, update the relay",
  });
}

function onlyHereError(tool: string): MatrxError {
  return agentError(
    "APPROVAL_DENIED",
    `${nameInUse(tool)} must be allowed at the machine itself, and was not`,
    {
      hint: "Run on the device: matrx approvals --here",
    },
  );
}

function deniedError(note: string | undefined): MatrxError {
  return agentError("APPROVAL_DENIED", `Somebody at the machine denied this call${note ? `: ${note}` : ""}`, {
    hint: "Do not try it again in another way; ask what would be welcome",
    details: note ? { note } : undefined,
  });
}
