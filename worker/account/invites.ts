/** The relay owner's invites, and the accounts that came by them. Only the owner's Account object has any. */
import { MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import {
  type AccountId,
  type GrantId,
  makeAccountId,
  makeInviteId,
  OWNER_ACCOUNT,
} from "@matrx/shared/ids.ts";
import type { InviteView } from "@matrx/shared/invite-api.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import { unauthenticated } from "../auth/keys.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError } from "../refusals.ts";
import type { AccountContext } from "./context.ts";

interface InviteRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  account: string;
  created: number;
  expires: number;
  accepted: number | null;
  closed: number | null;
}

/** Invites that wait and accounts that came, together. */
const INVITES_MAX = 1000;

const ALL = `SELECT invites.*, closed_accounts.at AS closed FROM invites LEFT JOIN closed_accounts USING (account)
  ORDER BY created DESC, id`;

export class Invites {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** Makes an invite to an account that nobody has yet. */
  create(owner: GrantId, name: string): Promise<Outcome<InviteView>> {
    return attempt(() => {
      const by = this.#requireOwner(owner);
      this.#context.countCredential();
      const now = Date.now();
      this.#prune(now);
      if (this.#all().length >= INVITES_MAX) throw tooManyError("invites and accounts", INVITES_MAX);
      const [id, account] = [makeInviteId(), makeAccountId()];
      this.#context.sql.exec(
        "INSERT INTO invites (id, name, account, created, expires) VALUES (?, ?, ?, ?, ?)",
        ...[id, name, account, now, now + LIFETIME.invite * 1000],
      );
      this.#note("created", { name, account }, by);
      return viewOf(this.#require(id));
    });
  }

  /** Those that wait, and the accounts of those that were accepted; newest first. */
  list(owner: GrantId): Promise<Outcome<InviteView[]>> {
    return attempt(() => {
      this.#requireOwner(owner);
      this.#prune(Date.now());
      return this.#all().map(viewOf);
    });
  }

  /** Withdraws an invite that nobody accepted yet. */
  withdraw(owner: GrantId, id: string): Promise<Outcome<void>> {
    return attempt(() => {
      const by = this.#requireOwner(owner);
      const invite = this.#require(id);
      if (invite.accepted !== null) throw acceptedError();
      this.#context.sql.exec("DELETE FROM invites WHERE id = ?", id);
      this.#note("withdrawn", invite, by);
    });
  }

  /** Somebody opened the link, whose code the Worker has verified. Works once. */
  accept(id: string, account: string): Promise<Outcome<void>> {
    return attempt(() => {
      const now = Date.now();
      const { rowsWritten } = this.#context.sql.exec(
        "UPDATE invites SET accepted = ?1 WHERE id = ?2 AND account = ?3 AND accepted IS NULL AND expires > ?1",
        ...[now, id, account],
      );
      if (rowsWritten === 0) throw usedError();
      this.#note("accepted", this.#require(id), undefined);
    });
  }

  /** Throws unless the owner asks about an account that came by an invite. */
  requireMember(owner: GrantId, account: string): Promise<Outcome<void>> {
    return attempt(() => {
      this.#requireOwner(owner);
      if (!this.#all().some((row) => row.account === account && row.accepted !== null))
        throw noSuchAccountError();
    });
  }

  /** The account has been closed. */
  noteClosed(owner: GrantId, account: AccountId): void {
    const { rowsWritten } = this.#context.sql.exec(
      "INSERT OR IGNORE INTO closed_accounts (account, at) VALUES (?, ?)",
      ...[account, Date.now()],
    );
    const invite = this.#all().find((one) => one.account === account);
    const by = this.#context.grants.find(owner, Date.now());
    if (rowsWritten > 0 && invite) this.#note("closed", invite, by);
  }

  #note(
    action: "created" | "withdrawn" | "accepted" | "closed",
    { name, account }: Pick<InviteRow, "name" | "account">,
    by: Grant | undefined,
  ): void {
    this.#context.record.note({ type: "invite", action, name, account }, by);
  }

  /** The owner's session. Throws MatrxError `PERMISSION_DENIED`. */
  #requireOwner(grant: GrantId): Grant {
    const person = this.#context.person(grant);
    if (this.#context.id === OWNER_ACCOUNT) return person;
    throw relayError("PERMISSION_DENIED", "Only the relay's owner may do this", {
      hint: "Ask whoever runs the relay",
    });
  }

  #require(id: string): InviteRow {
    const row = this.#all().find((one) => one.id === id);
    if (!row) throw noSuchInviteError();
    return row;
  }

  #all(): InviteRow[] {
    return this.#context.sql.exec<InviteRow>(ALL).toArray();
  }

  #prune(now: number): void {
    this.#context.sql.exec("DELETE FROM invites WHERE accepted IS NULL AND expires <= ?", now);
  }
}

function viewOf({ id, name, account, created, expires, accepted, closed }: InviteRow): InviteView {
  const iso = (at: number) => new Date(at).toISOString();
  return {
    ...{ id, name, account, created: iso(created), expires: iso(expires) },
    accepted: accepted === null ? null : iso(accepted),
    closed: closed === null ? null : iso(closed),
  };
}

function usedError(): MatrxError {
  return new MatrxError(
    unauthenticated("This invite was used, withdrawn or has expired", "Ask whoever sent it for a new one"),
  );
}

function acceptedError(): MatrxError {
  return relayError("CONFLICT", "This invite was accepted", {
    hint: "DELETE /v1/accounts/ACCOUNT closes the account",
  });
}

function noSuchInviteError(): MatrxError {
  return relayError("NOT_FOUND", "No such invite", { hint: "GET /v1/invites lists them" });
}

function noSuchAccountError(): MatrxError {
  return relayError("NOT_FOUND", "No such account", {
    hint: "GET /v1/invites lists those that came by invites",
  });
}
