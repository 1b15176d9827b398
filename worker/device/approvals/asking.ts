/** Which calls may have to be asked about: one cheap check on the way of every call. */
import { type Effect, effectOf } from "@matrx/shared/effects.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { type Asking, askingRules, type Policy } from "@matrx/shared/policy.ts";
import type { Manifest } from "@matrx/shared/tool.ts";
import type { Passed } from "../ledger/call.ts";

/** The rules of a device: those of its policy at the relay, and those it announced. */
interface Rules {
  readonly policy: Policy;
  readonly manifest: Manifest | undefined;
}

/** A call by its tool, by what it does, and by the tools whose work it also does; absent: what calls of the tool may do. */
interface ByTool {
  readonly tool: string;
  readonly effect?: Effect;
  readonly also?: readonly string[];
}

/** The rules that ask about a call. Without `subjects`, those that may ask, whatever the call touches. */
export function rulesFor(
  { tool, effect, also }: ByTool,
  grant: GrantScope,
  { policy, manifest }: Rules,
  subjects?: readonly string[],
): Asking[] {
  const policies = [policy, { ask: manifest?.ask }];
  return askingRules(
    { tool, effect, grant, policies, also: also?.map((other) => ({ tool: other, subjects })) },
    subjects,
  );
}

/** Remembers, for each lease, which tools a rule may fit; the rules of grant and device change rarely. */
export class AskedTools {
  readonly #rules: Rules;
  #asked = new WeakMap<GrantScope, Map<string, boolean>>();
  #policy: Policy | undefined;
  #manifest: Manifest | undefined;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Whether a rule may fit a call of this tool that does this. */
  mayAsk({ tool, effect }: Pick<Passed, "tool" | "effect">, grant: GrantScope): boolean {
    const { policy, manifest } = this.#rules;
    if (!policy.ask && !manifest?.ask && (grant.owner || !grant.ask)) return false;
    if (policy !== this.#policy || manifest !== this.#manifest) this.#reset(policy, manifest);
    const name = effect === effectOf(tool) ? tool : `${tool}/${effect}`;
    return this.#asked.get(grant)?.get(name) ?? this.#learn(name, { tool, effect }, grant);
  }

  #reset(policy: Policy, manifest: Manifest | undefined): void {
    this.#asked = new WeakMap();
    this.#policy = policy;
    this.#manifest = manifest;
  }

  #learn(name: string, call: ByTool, grant: GrantScope): boolean {
    const tools = this.#asked.get(grant) ?? new Map<string, boolean>();
    // A bare device takes any name.
    if (tools.size >= TOOLS_MAX) tools.clear();
    const asks = rulesFor(call, grant, this.#rules).length > 0;
    tools.set(name, asks);
    this.#asked.set(grant, tools);
    return asks;
  }
}

const TOOLS_MAX = 1000;
