/** Which accounts share devices with this one. What they share, and until when, they alone know. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { isPersonSession } from "@matrx/shared/grant.ts";
import type { AccountId, DeviceId, GrantId } from "@matrx/shared/ids.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError } from "../refusals.ts";
import type { AccountContext } from "./context.ts";

/** A share that this account accepted. */
export interface AcceptedShare {
  grant: GrantId;
  account: AccountId;
  /** Milliseconds since 1970. */
  accepted: number;
}

interface ReceivedRow extends Record<string, SqlStorageValue> {
  grant_id: string;
  account: string;
  created: number;
}

const RECEIVED_MAX = 100;

export class ReceivedShares {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Keeps what another account has given to this one. */
  receive(person: GrantId, { grant, account, name }: Omit<AcceptedShare, "accepted"> & { name: string }) {
    return attempt(() => {
      this.#context.person(person);
      const isKnown = this.#rows().some((row) => row.grant_id === grant);
      if (!isKnown && this.#rows().length >= RECEIVED_MAX)
        throw tooManyError("received shares", RECEIVED_MAX);
      this.#context.sql.exec(
        "INSERT OR IGNORE INTO received_shares (grant_id, account, name, created) VALUES (?, ?, ?, ?)",
        ...[grant, account, name, Date.now()],
      );
    });
  }

  list(person: GrantId): Promise<Outcome<AcceptedShare[]>> {
    return attempt(() => {
      this.#context.person(person);
      return this.all();
    });
  }

  /** All of them, for the Worker, once the account was closed. */
  all(): AcceptedShare[] {
    return this.#rows().map(({ grant_id, account, created }) => ({
      ...{ grant: grant_id as GrantId, account: account as AccountId, accepted: created },
    }));
  }

  /** The account that gave a share. */
  giverOf(person: GrantId, grant: GrantId): Promise<Outcome<AccountId>> {
    return attempt(() => {
      this.#context.person(person);
      const row = this.#rows().find(({ grant_id }) => grant_id === grant);
      if (!row) throw noSuchShareError();
      return row.account as AccountId;
    });
  }

  /** Their giver ended them, or they were given back. */
  forget(grants: readonly GrantId[]): void {
    for (const grant of grants)
      this.#context.sql.exec("DELETE FROM received_shares WHERE grant_id = ?", grant);
  }

  /** The accounts that share devices with the person of a grant; with tokens nobody does. */
  givers(grant: GrantId): AccountId[] {
    if (!isPersonSession(this.#context.grant(grant))) return [];
    return [...new Set(this.#rows().map(({ account }) => account as AccountId))];
  }

  /**
   * A person's session is about to use a device of an account that shares devices with this one; undefined if it can't
   * be. The device is told when the session ends.
   */
  visit(
    grant: GrantId,
    device: DeviceId,
    giver: AccountId | null,
  ): Promise<Outcome<{ until: number } | undefined>> {
    return attempt(() => {
      const session = this.#context.grant(grant);
      if (!isPersonSession(session)) return undefined;
      if (!this.#rows().some(({ account }) => account === giver)) return undefined;
      this.#context.holders.leased(grant, device, session.version);
      return { until: session.expires };
    });
  }

  #rows(): ReceivedRow[] {
    return this.#context.sql
      .exec<ReceivedRow>("SELECT grant_id, account, created FROM received_shares ORDER BY created DESC")
      .toArray();
  }
}

export function noSuchShareError(): MatrxError {
  return relayError("NOT_FOUND", "No such share", { hint: "GET /v1/shares lists them" });
}
