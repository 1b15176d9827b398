/** Grants that this Device object caches for fifteen minutes, so that a call needs no request to the Account. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import type { Grant, GrantScope } from "@matrx/shared/grant.ts";
import type { AccountId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { type Outcome, unwrap } from "../outcome.ts";

export interface Lease {
  scope: GrantScope;
  /** The scope as JSON, as every call's frame carries it. */
  json: string;
  version: number;
  /** When the grant itself expires, in milliseconds since 1970. */
  expires: number;
  /** When the Account object must be asked again, in milliseconds since 1970. */
  until: number;
}

/** A lease as stored in an attachment. */
export type KeptLease = Omit<Lease, "json">;

/** A grant as the Account object leases it. */
export interface LeasedGrant {
  scope: GrantScope;
  version: number;
  /** Milliseconds since 1970. */
  expires: number;
}

/** The part of the Account objects that a device needs. */
export interface Accounts {
  getByName(account: string): {
    lease(grant: GrantId, device: DeviceId): Promise<Outcome<LeasedGrant>>;
    hasDevice(device: DeviceId): Promise<boolean>;
    noteApproval(approval: ApprovalView): Promise<void>;
    exceptTool(person: GrantId, grant: GrantId, tool: string): Promise<Outcome<Grant>>;
  };
}

const LEASES_MAX = 1000;
/** A longer scope would not fit into a 16 KiB attachment beside the unanswered calls. */
const KEPT_CHARS = 512;

export class Leases {
  readonly #accounts: Accounts;
  readonly #leases = new Map<GrantId, Lease>();
  readonly #revoked = new Set<GrantId>();
  readonly #asking = new Map<GrantId, Promise<Lease>>();

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** A lease that is still valid, if there is one. */
  current(grant: GrantId, now: number): Lease | undefined {
    const lease = this.#leases.get(grant);
    return lease && isLive(lease, now) ? lease : undefined;
  }

  /** Asks the Account object; concurrent requests share one answer. Throws MatrxError if it refuses. */
  ask(account: AccountId, grant: GrantId, device: DeviceId): Promise<Lease> {
    let asking = this.#asking.get(grant);
    if (!asking) {
      asking = this.#ask(account, grant, device).finally(() => this.#asking.delete(grant));
      this.#asking.set(grant, asking);
    }
    return asking;
  }

  /** Restores a lease from an attachment after hibernation. */
  restore(lease: Lease): void {
    this.#leases.set(lease.scope.id as GrantId, lease);
  }

  /** A grant was revoked. An answer still in flight must not bring it back. */
  revoke(grant: GrantId): void {
    this.#leases.delete(grant);
    this.#revoked.add(grant);
  }

  async #ask(account: AccountId, grant: GrantId, device: DeviceId): Promise<Lease> {
    const outcome = await this.#accounts.getByName(account).lease(grant, device);
    if (this.#revoked.has(grant)) throw unwrap({ ok: false, error: revokedGrant() });
    const { scope, version, expires } = unwrap(outcome);
    const lease = { scope, json: JSON.stringify(scope), version, expires, until: Date.now() + TIMES.lease };
    if (this.#leases.size >= LEASES_MAX) this.#leases.clear();
    this.#leases.set(grant, lease);
    return lease;
  }
}

/** The form stored in an attachment. A lease too large for it is requested again after hibernation. */
export function keptLease({ scope, json, version, expires, until }: Lease): KeptLease {
  if (json.length <= KEPT_CHARS) return { scope, version, expires, until };
  return { scope: { id: scope.id, owner: false, effects: [] }, version, expires, until: 0 };
}

/** Reads a lease from an attachment. */
export function leaseOf(kept: KeptLease): Lease {
  return { ...kept, json: JSON.stringify(kept.scope) };
}

/** Whether both the lease and the grant are still valid. */
export function isLive(lease: Lease, now: number): boolean {
  return lease.until > now && lease.expires > now;
}

/** Whether to renew the lease now, off the path of calls. */
export function wantsRenewal(lease: Lease, now: number): boolean {
  return lease.until - now < TIMES.leaseRenew;
}

export function revokedGrant() {
  return {
    code: "UNAUTHENTICATED" as const,
    message: "The token was revoked",
    hint: "Sign in again, or create a new token",
    hop: "relay" as const,
  };
}
