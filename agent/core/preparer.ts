/** Prepares calls: finds out whether a person must be asked first, and checks what was allowed when the call is to run. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { Logger } from "pino";
import { nameInUse, withToolNames } from "../text/tool-names.ts";
import {
  type Approval,
  Approvals,
  type ApprovalsOptions,
  type ExaminedCall,
  type Preparation,
} from "./approvals.ts";
import type { ApprovedState } from "./approved-state.ts";
import type { PrepareRequest } from "./call-request.ts";
import { cancelledError, runWithDeadline } from "./deadline.ts";
import type { Examiner } from "./examiner.ts";
import { toldError } from "./incident.ts";
import type { MachineApprovals } from "./machine-approvals.ts";

export interface PreparerOptions extends ApprovalsOptions {
  readonly log: Logger;
}

/** How long looking at what a call names may take, in milliseconds. */
const LOOK_MS = 30_000;

export class Preparer {
  readonly #examiner: Examiner;
  readonly #approvals: Approvals;
  readonly #log: Logger;
  /** Calls that are being prepared. */
  readonly #preparing = new Map<string, AbortController>();

  constructor(options: PreparerOptions, examiner: Examiner) {
    this.#examiner = examiner;
    this.#approvals = new Approvals(options);
    this.#log = options.log;
  }

  /** Decisions at this machine. */
  get machine(): MachineApprovals {
    return this.#approvals.machine;
  }

  /**
   * Whether a person must be asked about a call, and what, or why it cannot run; undefined: it was to be prepared again
   * meanwhile, which is answered then. Runs nothing. Never rejects.
   */
  async prepare(request: PrepareRequest): Promise<Preparation | ErrorShape | undefined> {
    const { call } = request;
    this.#preparing.get(call)?.abort(cancelledError("The call is prepared again"));
    const stop = new AbortController();
    this.#preparing.set(call, stop);
    const outcome = await withToolNames(this.#examiner.namesFor(request), () => this.#prepare(request, stop));
    if (this.#preparing.get(call) !== stop) return undefined;
    this.#preparing.delete(call);
    return outcome;
  }

  /** What a person's yes is bound to; undefined if nobody needs to be asked. Throws MatrxError. */
  async approve(
    call: ExaminedCall,
    approval: Approval | undefined,
    stop: AbortController,
  ): Promise<ApprovedState | undefined> {
    if (!this.#approvals.mayAsk(call, approval)) return undefined;
    const timeoutMs = approval ? LOOK_MS : LOOK_MS + this.machine.keptMs;
    return await runWithDeadline(() => this.#approvals.require(call, approval), stop, {
      tool: nameInUse(call.tool.name),
      timeoutMs,
      windDownMs: 0,
    });
  }

  /** Stops preparing a call, and withdraws the question about it at this machine. */
  cancel(call: string, reason: string): void {
    this.#preparing.get(call)?.abort(cancelledError(reason));
    this.machine.withdraw(call);
  }

  async #prepare(request: PrepareRequest, stop: AbortController): Promise<Preparation | ErrorShape> {
    const { call, tool } = request;
    try {
      const examined = this.#examiner.examine(request, stop.signal);
      const limits = { tool: nameInUse(examined.tool.name), timeoutMs: LOOK_MS, windDownMs: 0 };
      return await runWithDeadline(() => this.#approvals.prepare(examined), stop, limits);
    } catch (error) {
      return toldError(error, this.#log, "a call could not be prepared", { call, tool });
    }
  }
}
