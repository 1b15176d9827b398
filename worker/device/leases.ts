/** Grants that this Device object caches for fifteen minutes, so that a call needs no request to the Account. */

import type { ActivityEntry } from "@matrx/shared/activity.ts";
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Credential, Grant, GrantScope } from "@matrx/shared/grant.ts";
import type { AccountId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Excepted } from "@matrx/shared/policy.ts";
import type { GuestSession } from "../auth/caller.ts";
import { type Outcome, unwrap } from "../outcome.ts";
import type { Alert, LongCall } from "../push/news.ts";
import type { PauseState } from "./pause.ts";

/** Who holds a grant, in the account's words. */
export interface Holder {
  name: string;
  credential: Credential;
}

export interface Lease {
  scope: GrantScope;
  /** Absent if the lease is from a relay that did not say. */
  holder?: Holder | undefined;
  /** The scope as JSON, as every call's frame carries it. */
  json: string;
  version: number;
  /** When the grant itself expires, in milliseconds since 1970. */
  expires: number;
  /** When the Account object must be asked again, in milliseconds since 1970. */
  until: number;
}

/** A caller over HTTP, or in this object, under its lease. */
export interface LeasedCaller {
  readonly lease: Lease;
  /** A guest's own session, which may end before the share. */
  readonly guest: GuestSession | undefined;
}

/** A lease as stored in an attachment. */
export type KeptLease = Omit<Lease, "json">;

/** A grant as the Account object leases it. */
export interface LeasedGrant {
  scope: GrantScope;
  holder?: Holder | undefined;
  version: number;
  /** Milliseconds since 1970. */
  expires: number;
}

/** The Account's answer to a device that asks for a grant. */
export interface LeaseAnswer extends LeasedGrant {
  pause: PauseState;
}

/** Where grants are leased. */
interface Lessors {
  getByName(account: string): {
    lease(grant: GrantId, device: DeviceId): Promise<Outcome<LeaseAnswer>>;
  };
}

/** The part of the Account objects that a device needs. */
export interface Accounts extends Lessors {
  getByName(account: string): ReturnType<Lessors["getByName"]> & {
    hasDevice(device: DeviceId): Promise<boolean>;
    keepsToken(grant: GrantId, hash: string): Promise<boolean>;
    noteApproval(approval: ApprovalView): Promise<void>;
    noteActivity(device: DeviceId, entries: ActivityEntry[]): Promise<void>;
    noteAlert(device: DeviceId, alert: Alert): Promise<void>;
    noteLongCalls(device: DeviceId, calls: LongCall[]): Promise<void>;
    exceptTool(person: GrantId, grant: GrantId, excepted: Excepted): Promise<Outcome<Grant>>;
  };
}

const LEASES_MAX = 1000;
/** A longer scope would not fit into a 16 KiB attachment beside the unanswered calls. */
const KEPT_CHARS = 512;

export class Leases {
  readonly #accounts: Lessors;
  readonly #leases = new Map<GrantId, Lease>();
  readonly #revoked = new Set<GrantId>();
  readonly #asking = new Map<GrantId, Promise<Lease>>();
  /** What the Account told of grants while it was being asked for them: its answer may be older. */
  readonly #told = new Map<GrantId, { version: number; lease?: Lease }>();

  /** Called when a newer version of a grant came, in whatever way; `former` is what was used until then, if that is known. */
  onChanged: (lease: Lease, former: Lease | undefined) => void = () => undefined;

  /** Called with what the Account says of its pause, whenever a grant is leased. */
  onPause: (pause: PauseState) => void = () => undefined;

  constructor(accounts: Lessors) {
    this.#accounts = accounts;
  }

  /** A lease that is still valid, if there is one. */
  current(grant: GrantId, now: number): Lease | undefined {
    const lease = this.#leases.get(grant);
    return lease && isLive(lease, now) ? lease : undefined;
  }

  /** What was last leased, even if it must be asked for again. */
  find(grant: GrantId): Lease | undefined {
    return this.#leases.get(grant);
  }

  /** Asks the Account object; concurrent requests share one answer. Throws MatrxError if it refuses. */
  ask(account: AccountId, grant: GrantId, device: DeviceId): Promise<Lease> {
    let asking = this.#asking.get(grant);
    if (!asking) {
      asking = this.#ask(account, grant, device).finally(() => {
        this.#asking.delete(grant);
        this.#told.delete(grant);
      });
      this.#asking.set(grant, asking);
    }
    return asking;
  }

  /** Restores a lease from an attachment after hibernation. */
  restore(lease: Lease): void {
    this.#leases.set(lease.scope.id, lease);
  }

  /** A grant changed. Stale news is ignored. */
  change(leased: LeasedGrant, now: number): void {
    const { id } = leased.scope;
    const lease = leaseFrom(leased, now);
    const former = this.#leases.get(id);
    if (former && former.version >= lease.version) return;
    this.#note(id, { version: lease.version, lease });
    if (former) this.#leases.set(id, lease);
    this.onChanged(lease, former);
  }

  /** A grant is no longer for this device. Returns false if it is again since, by a newer version. */
  withdraw(grant: GrantId, version: number): boolean {
    const current = this.#leases.get(grant);
    if (current && current.version >= version) return false;
    this.#note(grant, { version });
    this.#leases.delete(grant);
    return true;
  }

  #note(grant: GrantId, told: { version: number; lease?: Lease }): void {
    const before = this.#told.get(grant)?.version ?? 0;
    if (this.#asking.has(grant) && told.version > before) this.#told.set(grant, told);
  }

  /** A grant was revoked. An answer still in flight must not bring it back. */
  revoke(grant: GrantId): void {
    this.#leases.delete(grant);
    this.#revoked.add(grant);
  }

  /** Throws MatrxError `UNAUTHENTICATED` for a grant that was revoked since this object woke. */
  requireNotRevoked(grant: GrantId): void {
    if (this.#revoked.has(grant)) throw new MatrxError(revokedGrant());
  }

  async #ask(account: AccountId, grant: GrantId, device: DeviceId): Promise<Lease> {
    const outcome = await this.#accounts.getByName(account).lease(grant, device);
    this.requireNotRevoked(grant);
    const { pause, ...leased } = unwrap(outcome);
    this.onPause(pause);
    const lease = this.#newest(grant, leaseFrom(leased, Date.now()));
    const former = this.#leases.get(grant);
    if (this.#leases.size >= LEASES_MAX) this.#leases.clear();
    this.#leases.set(grant, lease);
    if (former && former.version < lease.version) this.onChanged(lease, former);
    return lease;
  }

  /** Throws MatrxError `PERMISSION_DENIED` if the grant was withdrawn from this device after this lease was given. */
  #newest(grant: GrantId, answered: Lease): Lease {
    const told = this.#told.get(grant);
    if (!told || told.version <= answered.version) return answered;
    return told.lease ?? unwrap<Lease>({ ok: false, error: withdrawnGrant() });
  }
}

function leaseFrom({ scope, holder, version, expires }: LeasedGrant, now: number): Lease {
  return { scope, holder, json: JSON.stringify(scope), version, expires, until: now + TIMES.lease };
}

/** The form stored in an attachment. A lease too large for it is requested again after hibernation. */
export function keptLease({ scope, holder, json, version, expires, until }: Lease): KeptLease {
  if (json.length <= KEPT_CHARS) return { scope, holder, version, expires, until };
  return { scope: { id: scope.id, owner: false, effects: [] }, holder, version, expires, until: 0 };
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

/** The grant exists, but is no longer for this device. */
export function withdrawnGrant() {
  return {
    code: "PERMISSION_DENIED" as const,
    message: "This token may no longer use this device",
    hint: "GET /v1/devices lists the devices it may use",
    hop: "relay" as const,
  };
}

export function revokedGrant() {
  return {
    code: "UNAUTHENTICATED" as const,
    message: "The token was revoked",
    hint: "Sign in again, or create a new token",
    hop: "relay" as const,
  };
}
