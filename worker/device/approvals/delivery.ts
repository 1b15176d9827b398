/** Sends what may be sent: everything is checked again, since grant, policy and device may have changed meanwhile. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { logWarning } from "../../log.ts";
import type { Calls } from "../calls/calls.ts";
import { requireEnforced, requireStreams } from "../calls/enforcement.ts";
import { approvalExtra, executeFrame, extrasOf } from "../calls/execute-frame.ts";
import { requireAllowed } from "../calls/gate.ts";
import { offlineError } from "../connection.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import type { PendingCall } from "../ledger/call.ts";
import { InputPreview } from "../ledger/input-preview.ts";
import type { Parked } from "../ledger/parked.ts";
import type { Sign } from "../sign-of-life.ts";
import type { WaitingCalls } from "./waiting.ts";

/** How long to wait before the account is asked again, in milliseconds. */
const ASK_AGAIN = 5_000;

export class Delivery {
  readonly #context: DeviceContext;
  readonly #calls: Calls;
  readonly #waiting: WaitingCalls;

  constructor(context: DeviceContext, calls: Calls, waiting: WaitingCalls) {
    this.#context = context;
    this.#calls = calls;
    this.#waiting = waiting;
  }

  /** Sends a call that was allowed, if the device is there; else it goes on waiting. */
  attempt(parked: Parked, now: number): void {
    const { link, signs } = this.#context;
    if (!link.current) return this.#stayAway(parked, now);
    if (signs.isDue(now)) return this.#waitForSign(parked, now);
    this.leased(parked, now, (lease) => this.#send(parked, lease, Date.now()));
  }

  /** The device is asked for a sign of life before the call is sent, so that a yes is not lost on a dead link. */
  #waitForSign(parked: Parked, now: number): void {
    const { signs, timer } = this.#context;
    if (parked.isChecking) return;
    parked.isChecking = true;
    const told = (sign: Sign) => {
      parked.isChecking = false;
      if (sign === "alive") timer.by(Date.now());
    };
    signs.wait(0, told, now);
  }

  /** Runs under the grant's lease, at once if it is still valid; a call whose grant ended is refused. */
  leased(parked: Parked, now: number, run: (lease: Lease) => void): void {
    const { leases, record } = this.#context;
    const lease = leases.current(parked.grant, now);
    if (lease) return run(lease);
    if (parked.isChecking) return;
    parked.isChecking = true;
    leases.ask(record.account, parked.grant, record.id).then(
      (asked) => {
        parked.isChecking = false;
        run(asked);
      },
      (error: unknown) => this.#notLeased(parked, error),
    );
  }

  #notLeased(parked: Parked, error: unknown): void {
    parked.isChecking = false;
    if (error instanceof MatrxError) return this.#refuse(parked, error, Date.now());
    logWarning("the account could not be asked about a call that waits", error);
    this.#context.timer.by(Date.now() + ASK_AGAIN);
  }

  #send(parked: Parked, lease: Lease, now: number): void {
    const pending = this.#waiting.pendingOf(parked);
    if (!pending || parked.stage !== "allowed") return;
    const { store, signs, pause, health } = this.#context;
    // It waits until storage takes writes again: without its row it could be sent twice.
    if (health.isFailing) return health.probe();
    const { tool, wanted, binding, approval: id } = parked;
    try {
      const { attachment } = signs.requireLive(now);
      pause.requireOpen(lease.scope);
      const { toolTimeoutMs } = requireAllowed(tool, lease.scope, store);
      const input = this.#waiting.rows.input(parked.id);
      requireEnforced(tool, input, lease.scope, store.policy, attachment);
      requireStreams(wanted.opens, attachment);
      const timeoutMs = wanted.timeoutMs ?? toolTimeoutMs;
      const extras = attachment.ours
        ? extrasOf(wanted, lease, store.limits(attachment.protocol)) +
          (binding ? approvalExtra({ id, binding }) : "")
        : "";
      const frame = executeFrame(parked.call, tool, timeoutMs, input, extras);
      Object.assign(pending, {
        holder: lease.holder,
        input: new InputPreview(tool, input),
        isTold: false,
      } satisfies Partial<PendingCall>);
      if (this.#waiting.apply(parked, "send", now)) this.#calls.release(pending, { frame, timeoutMs }, now);
    } catch (error) {
      if (!(error instanceof MatrxError)) throw error;
      if (error.code === "DEVICE_OFFLINE" || error.code === "RATE_LIMITED") this.#stayAway(parked, now);
      else this.#refuse(parked, error, now);
    }
  }

  /** A person's yes waits for the device; a call that nobody was asked about does not. */
  #stayAway(parked: Parked, now: number): void {
    if (parked.summary !== undefined) return;
    this.#refuse(
      parked,
      offlineError("The device disconnected before the call was sent: it did not run"),
      now,
    );
  }

  #refuse(parked: Parked, error: MatrxError, now: number): void {
    const pending = this.#waiting.pendingOf(parked);
    if (pending) this.#calls.apply(pending, "refused", now, error.shape());
  }
}
