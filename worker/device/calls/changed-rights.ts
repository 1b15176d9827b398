/** What happens to calls in flight when the rights that admitted them change: their grant, the policy, the device itself. */
import { EVERY_GRANT } from "@matrx/shared/device-frames.ts";
import type { ErrorShape } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { narrowsCommands, type Policy, policyNarrowsCommands, refusalOf } from "@matrx/shared/policy.ts";
import type { DeviceContext } from "../context.ts";
import type { Lease } from "../leases.ts";
import type { PendingCall } from "../ledger/call.ts";
import { ENFORCES_ALL } from "../store.ts";
import type { Calls } from "./calls.ts";
import { grantChangedError } from "./refusals.ts";

export class ChangedRights {
  readonly #context: DeviceContext;
  readonly #calls: Calls;

  constructor(context: DeviceContext, calls: Calls) {
    this.#context = context;
    this.#calls = calls;
  }

  /** Ends the calls of a grant that was revoked, or withdrawn from this device. */
  revoke(grant: GrantId, why: ErrorShape): void {
    for (const pending of this.#of(grant)) this.#calls.apply(pending, "revoked", Date.now(), why);
    this.#context.streams.endGrant(grant, why);
  }

  /** Calls that the changed grant no longer allows by name are stopped; others that are sent again carry it as it is now. */
  grantChanged(lease: Lease, former: Lease | undefined, now: number): void {
    const { ours, protocol = 0 } = this.#context.link.current?.attachment ?? {};
    const { pendingCalls } = this.#calls;
    for (const pending of this.#of(lease.scope.id)) {
      const refusal = this.#refusalOf(pending, lease);
      if (refusal) this.#calls.apply(pending, "revoked", now, refusal);
      // It is checked again before it is sent, and then carries the grant as it is.
      else if (pending.phase === "parked") continue;
      else if (former && ours && protocol >= ENFORCES_ALL)
        pendingCalls.regrant(pending, former.json, lease.json);
      else {
        this.#calls.apply(pending, "policy_changed", now, grantChangedError());
        pendingCalls.dropFrame(pending);
      }
    }
    if (this.#endsCommands(lease.scope, former?.scope)) this.tellEnded(lease.scope.id, "commands");
  }

  /** Whether commands that still run might do what the changed grant no longer allows: they keep the limits of their beginning. */
  #endsCommands(scope: GrantScope, former: GrantScope | undefined): boolean {
    const { policy } = this.#context.store;
    const mayRun = (grant: GrantScope) =>
      refusalOf({ tool: "Bash", grant, policy, confinesCommands: true }, "relay") === undefined;
    if (!former) return !mayRun(scope);
    return mayRun(former) && (!mayRun(scope) || narrowsCommands(former, scope));
  }

  /**
   * The old policy admitted calls that are still unsent: they are refused, and no sent call is sent again. Those that the new
   * one refuses by name are stopped, and so is what commands left running, if it takes anything from them.
   */
  policyChanged(now: number, former: Policy): void {
    const { streams, store } = this.#context;
    streams.rightsChanged();
    if (JSON.stringify(former.allowed_ports) !== JSON.stringify(store.policy.allowed_ports))
      streams.portsChanged();
    const { pendingCalls } = this.#calls;
    for (const pending of pendingCalls.all()) {
      this.#calls.apply(pending, "policy_changed", now);
      const lease = this.#context.leases.find(pending.grant);
      const refusal = lease && this.#refusalOf(pending, lease);
      if (refusal && pending.phase !== "ended") this.#calls.apply(pending, "revoked", now, refusal);
    }
    pendingCalls.forgetFrames();
    if (policyNarrowsCommands(former, store.policy)) this.tellEnded(EVERY_GRANT, "commands");
  }

  /** The device was removed: every call gets this answer. */
  deviceRemoved(error: ErrorShape): void {
    for (const pending of this.#calls.pendingCalls.all())
      this.#calls.apply(pending, "removed", Date.now(), error);
  }

  /** Tells the agent that a grant was revoked, or narrowed, now or when it is back. Throws MatrxError `UNAVAILABLE` if that cannot be stored. */
  tellEnded(grant: GrantId, only?: "commands"): void {
    const { link, store } = this.#context;
    const told =
      link.current?.attachment.ours && link.send({ type: "session_end", grant, ...(only && { only }) });
    if (!told && store.record?.identity.kind === "agent") store.noteEnded(grant);
  }

  /** The agent is back: tells it which grants were revoked meanwhile. */
  tellAllEnded(): void {
    const { link, store } = this.#context;
    for (const grant of store.takeEnded()) link.send({ type: "session_end", grant });
  }

  /** After hibernation nobody knows the tool of a call without a row. */
  #refusalOf({ tool, effect }: PendingCall, { scope }: Lease): ErrorShape | undefined {
    const { store } = this.#context;
    if (!tool) return scope.effects.includes(effect) && !scope.tools ? undefined : grantChangedError();
    const confinesCommands = store.record?.identity.kind !== "bare";
    return refusalOf({ tool, grant: scope, policy: store.policy, confinesCommands }, "relay");
  }

  #of(grant: GrantId): PendingCall[] {
    return this.#calls.pendingCalls.all().filter((pending) => pending.grant === grant);
  }
}
