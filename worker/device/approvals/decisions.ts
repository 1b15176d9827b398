/** A person decides, on any screen, or somebody at the machine itself. The first answer counts. */
import type { ApprovalDetail, Decision } from "@matrx/shared/approval.ts";
import { commandSubjects } from "@matrx/shared/commands/command-subjects.ts";
import type { ApprovalDecided } from "@matrx/shared/device-frames.ts";
import { type Effect, effectOfCall } from "@matrx/shared/effects.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { isLongerThan } from "@matrx/shared/json-input.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { Question } from "@matrx/shared/question.ts";
import { unwrap } from "../../outcome.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import type { ApprovalRow } from "../ledger/approval-rows.ts";
import type { Parked } from "../ledger/parked.ts";
import { rulesFor } from "./asking.ts";
import type { Preparation } from "./preparation.ts";
import {
  alreadyOver,
  askedByPolicy,
  beingDecided,
  denied,
  noSuchApproval,
  nowActs,
  onlyAtMachine,
  tooLargeToAsk,
} from "./refusals.ts";
import { approvalDetail } from "./views.ts";
import type { WaitingCalls } from "./waiting.ts";

/** Who decides; the Account has checked that it is a person. */
export interface Person {
  readonly grant: GrantId;
  /** The name of the session, such as `Firefox on Linux`. */
  readonly name: string;
}

const MACHINE = "Somebody at the machine";

export class Decisions {
  readonly #context: DeviceContext;
  readonly #waiting: WaitingCalls;
  readonly #preparation: Preparation;

  constructor(context: DeviceContext, waiting: WaitingCalls, preparation: Preparation) {
    this.#context = context;
    this.#waiting = waiting;
    this.#preparation = preparation;
  }

  /** Throws MatrxError `NOT_FOUND`. */
  view(id: string): ApprovalDetail {
    return approvalDetail(this.#row(id), this.#context.device);
  }

  /** Throws MatrxError: `NOT_FOUND`, `CONFLICT`, `PERMISSION_DENIED`, or what the device says of an edited input. */
  async decide(id: string, decision: Decision, person: Person): Promise<void> {
    const parked = this.#undecided(id);
    if (decision.decision === "deny") this.#deny(parked, person.name, decision.note);
    else if (decision.input) await this.#allowEdited(parked, JSON.stringify(decision.input), person);
    else await this.#allow(parked, decision, person);
  }

  /** From now on the grant is not asked about calls that do what this one does; the Account tells all devices. Rejects with MatrxError. */
  async except(id: string, { grant: person }: Person): Promise<void> {
    const { env, record, leases } = this.#context;
    const { grant_id, tool, effect } = this.#row(id);
    const grant = grant_id as GrantId;
    const { also = [] } = this.#waiting.rows.question(id) ?? {};
    unwrap(
      await env.ACCOUNT.getByName(record.account).exceptTool(person, grant, {
        tool,
        effect: effect as Effect,
        also,
      }),
    );
    await leases.ask(record.account, grant, record.id);
  }

  /** The device says what somebody decided there; only on what cannot be decided elsewhere. */
  atMachine({ tool_call_id, binding, allow, note }: ApprovalDecided, now: number): void {
    const parked = this.#waiting.get(tool_call_id);
    if (parked?.stage !== "pending" || parked.at !== "machine" || parked.binding !== binding) return;
    if (!allow) return this.#deny(parked, MACHINE, note);
    this.#waiting.apply(parked, "allow", now, { decided: { by: MACHINE, at: now, reach: "once" } });
  }

  #deny(parked: Parked, by: string, note: string | undefined): void {
    const at = Date.now();
    this.#waiting.apply(parked, "deny", at, { decided: { by, at, note }, error: denied(note) });
  }

  async #allow(parked: Parked, { for: reach = "once" }: Decision, { name }: Person): Promise<void> {
    if (reach === "always") await this.#requireExceptable(parked);
    const now = Date.now();
    this.#undecided(parked.id);
    this.#waiting.apply(parked, "allow", now, { decided: { by: name, at: now, reach } });
    if (reach === "hour") this.#waiting.rows.allow(parked, now);
  }

  /** The device prepares the person's own input; until then nobody else can decide. */
  async #allowEdited(parked: Parked, input: string, { name }: Person): Promise<void> {
    if (isLongerThan(input, LIMITS.approvalInputBytes)) throw tooLargeToAsk();
    // What only reads may be sent twice.
    if (parked.effect === "read" && effectOfCall(parked.tool, () => JSON.parse(input)) !== "read")
      throw nowActs(parked.tool);
    const lease = await this.#lease(parked);
    this.#undecided(parked.id);
    const { binding, question } = await this.#preparation.edit(parked, lease, input, Date.now());
    const now = Date.now();
    this.#undecided(parked.id);
    Object.assign(parked, { binding, edited: true, summary: question.summary } satisfies Partial<Parked>);
    this.#waiting.rows.edit(parked, input, question);
    this.#waiting.apply(parked, "allow", now, { decided: { by: name, at: now, reach: "once" } });
  }

  /** Throws MatrxError: `NOT_FOUND`, `CONFLICT` naming who decided, `PERMISSION_DENIED`, `UNAVAILABLE`. */
  #undecided(id: string): Parked {
    const row = this.#row(id);
    const parked = this.#waiting.get(row.call);
    if (row.at === "machine" && parked?.stage === "pending") throw onlyAtMachine();
    if (parked?.stage !== "pending") throw alreadyOver(row);
    if (parked.expires <= Date.now()) throw alreadyOver({ ...row, stage: "expired" });
    if (this.#preparation.isEditing(parked)) throw beingDecided();
    this.#waiting.rows.requireWritable();
    return parked;
  }

  #row(id: string): ApprovalRow {
    const row = this.#waiting.rows.find(id);
    // Nobody has been asked yet, or ever.
    if (!row || row.summary === null) throw noSuchApproval();
    return row;
  }

  async #requireExceptable(parked: Parked): Promise<void> {
    const { scope } = await this.#lease(parked);
    const question = this.#waiting.rows.question(parked.id);
    const call = { tool: parked.tool, effect: parked.effect, also: question?.also ?? [] };
    const rules = rulesFor(call, scope, this.#context.store, subjectsOf(parked.tool, question));
    if (rules.some(({ by }) => by === "policy")) throw askedByPolicy(parked.tool);
  }

  async #lease({ grant }: Parked): Promise<Lease> {
    const { leases, record } = this.#context;
    return leases.current(grant, Date.now()) ?? (await leases.ask(record.account, grant, record.id));
  }
}

/** What a rule's `match` is compared with; undefined if the device did not say. */
function subjectsOf(tool: string, question: Question | undefined): string[] | undefined {
  const { paths, command, url, app } = question ?? {};
  if (!paths && !command && url === undefined && app === undefined) return undefined;
  const named = [url, app].filter((one) => one !== undefined);
  const commands = command ? commandSubjects(tool, command.text) : [];
  return [...(paths ?? []).map(({ path }) => path), ...commands, ...named];
}
