/** What this account shares with others: each share is a grant of its own, held by a guest's account. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { AccountId, GrantId } from "@matrx/shared/ids.ts";
import type { GivenShare, NewShare, ReceivedShare } from "@matrx/shared/share-api.ts";
import { attempt, type Outcome } from "../outcome.ts";
import type { AccountContext } from "./context.ts";
import type { DeviceEntry } from "./devices.ts";
import { noSuchShareError } from "./received-shares.ts";
import { grantHappening } from "./record.ts";

/** The account that accepts a share. */
export interface Guest {
  account: AccountId;
  name: string | null;
}

export class GivenShares {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes a share that nobody holds yet. */
  create(person: GrantId, wish: NewShare): Promise<Outcome<GivenShare>> {
    return attempt(() => {
      const by = this.#context.person(person);
      this.#context.countCredential();
      const now = Date.now();
      this.#context.prune(now);
      const grant = this.#context.tokens.share(wish, now);
      this.#context.alarms.by("expiry", grant.expires);
      this.#context.record.note(grantHappening(grant, "created"), by);
      return this.#viewOf(grant);
    });
  }

  list(person: GrantId): Promise<Outcome<GivenShare[]>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#context.grants.shares(Date.now()).map((grant) => this.#viewOf(grant));
    });
  }

  /** A person of another account opened the link, whose code the Worker has verified. Once; again by the same account. */
  accept(id: GrantId, guest: Guest): Promise<Outcome<{ name: string; by: string }>> {
    return attempt(() => {
      if (guest.account === this.#context.id) throw ownShareError();
      const grant = this.#context.grants.find(id, Date.now());
      if (grant?.kind !== "share") throw usedError();
      if (grant.guest && grant.guest.account !== guest.account) throw usedError();
      const held = { ...grant, guest };
      this.#context.grants.update(held);
      if (!grant.guest) this.#context.record.note(grantHappening(held, "changed"), undefined);
      return { name: grant.name, by: this.#name };
    });
  }

  /** The share by which a guest reaches a device, the newest if there are several. */
  shareFor(guest: AccountId, device: string): { grant: GrantId; by: string } | undefined {
    const grant = this.#context.grants
      .sharedWith(guest, Date.now())
      .find((one) => this.#context.tokens.isFor(one, device));
    return grant && { grant: grant.id, by: this.#name };
  }

  /** What a guest has of this account. */
  sharedWith(guest: AccountId): {
    by: string;
    devices: DeviceEntry[];
    shares: Omit<ReceivedShare, "accepted">[];
  } {
    const grants = this.#context.grants.sharedWith(guest, Date.now());
    const devicesOf = (grant: Grant) =>
      this.#context.devices.list().filter(({ id }) => this.#context.tokens.isFor(grant, id));
    const devices = new Map(grants.flatMap(devicesOf).map((entry) => [entry.id, entry]));
    const shares = grants.map((grant) => {
      const { id, name, summary = "", expires } = this.#context.tokens.view(grant);
      const given = devicesOf(grant).map((entry) => ({ id: entry.id, name: entry.name }));
      return { id, name, shared_by: this.#name, summary, devices: given, expires };
    });
    return { by: this.#name, devices: [...devices.values()], shares };
  }

  /** The guest gives a share back. One that is over is none. */
  leave(id: GrantId, guest: AccountId): Promise<Outcome<void>> {
    return attempt(async () => {
      const held = this.#context.grants.sharedWith(guest, Date.now()).some((grant) => grant.id === id);
      if (!held) throw noSuchShareError();
      await this.#context.revoke(id);
    });
  }

  get #name(): string {
    return this.#context.profile.name ?? this.#context.id;
  }

  #viewOf(grant: Grant): GivenShare {
    const { shared_with = null, ...view } = this.#context.tokens.view(grant);
    return { ...view, shared_with };
  }
}

function usedError(): MatrxError {
  return relayError("NOT_FOUND", "This link was used, withdrawn or has expired", {
    hint: "Ask whoever sent it for a new one",
  });
}

function ownShareError(): MatrxError {
  return relayError("CONFLICT", "These devices are yours already", {
    hint: "The link is for a person with another account on this relay",
  });
}
