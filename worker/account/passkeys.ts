/** The passkeys of an account: made and managed by a signed-in person, and how that person signs in. */
import { type MatrxError, relayError } from "@matrx/shared/errors.ts";
import type { Grant } from "@matrx/shared/grant.ts";
import type { GrantId } from "@matrx/shared/ids.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import type { CreatedCredential, PasskeyView, UsedCredential } from "@matrx/shared/passkey-api.ts";
import { LIFETIME } from "@matrx/shared/tokens.ts";
import type { PasskeyCeremony, PasskeyDescriptor } from "../auth/passkey-challenge.ts";
import { checkCreated, checkUsed, type PasskeyKey } from "../auth/passkey-check.ts";
import { unacceptablePasskeyError, unusablePasskeyError } from "../auth/sign-in-errors.ts";
import { accountDirectory } from "../objects/directory.ts";
import { attempt, type Outcome } from "../outcome.ts";
import { tooManyError } from "../refusals.ts";
import type { AccountContext, NewSession } from "./context.ts";

interface PasskeyRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  host: string;
  public_key: ArrayBuffer;
  counter: number;
  /** JSON. */
  transports: string;
  backed_up: number;
  created: number;
  used: number | null;
}

export class Passkeys {
  readonly #context: AccountContext;

  constructor(context: AccountContext) {
    this.#context = context;
  }

  /** What the account is called, and the passkeys that there are, before a person makes another one. */
  begin(person: GrantId): Promise<Outcome<{ name: string | null; existing: PasskeyDescriptor[] }>> {
    return attempt(() => {
      this.#context.person(person);
      this.#requireRoom();
      const existing = this.#rows().map(({ id, transports }) => ({ id, transports: JSON.parse(transports) }));
      return { name: this.#context.profile.name, existing };
    });
  }

  /** Adds what a page made. */
  add(
    person: GrantId,
    credential: CreatedCredential,
    { name, ceremony }: { name: string; ceremony: PasskeyCeremony },
  ): Promise<Outcome<PasskeyView>> {
    return attempt(async () => {
      const { codes, env, id: account } = this.#context;
      this.#context.person(person);
      this.#context.countCredential();
      const key = await checkCreated(credential, ceremony);
      if (!key) throw unacceptablePasskeyError();
      await accountDirectory(env.DIRECTORY).addAccount(account);
      // Meanwhile the session may have ended, or another passkey been added.
      const by = this.#context.person(person);
      this.#requireRoom();
      if (!codes.use(ceremony.challenge, ceremony.expires)) throw unacceptablePasskeyError();
      const { transports } = credential.response;
      const added = this.#insert(key, { name, host: ceremony.host, transports });
      this.#context.record.note({ type: "passkey", action: "added", name }, by);
      return added;
    });
  }

  list(person: GrantId): Promise<Outcome<PasskeyView[]>> {
    return attempt(() => {
      this.#context.person(person);
      return this.#rows().map(viewOf);
    });
  }

  rename(person: GrantId, id: string, name: string): Promise<Outcome<PasskeyView>> {
    return attempt(() => {
      const by = this.#context.person(person);
      const [row] = this.#context.sql.exec<PasskeyRow>(
        "UPDATE passkeys SET name = ? WHERE id = ? RETURNING *",
        ...[name, id],
      );
      if (!row) throw noSuchPasskeyError();
      this.#context.record.note({ type: "passkey", action: "renamed", name }, by);
      return viewOf(row);
    });
  }

  /** Removes one. Sessions that it signed in go on. */
  remove(person: GrantId, id: string): Promise<Outcome<void>> {
    return attempt(() => {
      const by = this.#context.person(person);
      const [row] = this.#context.sql.exec<PasskeyRow>("DELETE FROM passkeys WHERE id = ? RETURNING *", id);
      if (!row) throw noSuchPasskeyError();
      this.#context.record.note({ type: "passkey", action: "removed", name: row.name }, by);
    });
  }

  /** Signs in whoever used a passkey of this account. Whatever is wrong gives the same error, and writes nothing. */
  signIn(
    credential: UsedCredential,
    ceremony: PasskeyCeremony,
    session: NewSession,
  ): Promise<Outcome<Grant>> {
    return attempt(async () => {
      const [row] = this.#context.sql.exec<PasskeyRow>("SELECT * FROM passkeys WHERE id = ?", credential.id);
      const key = row && (await checkUsed(credential, ceremony, keyOf(row)));
      if (!key || !this.#noteUse(key, row, ceremony)) throw unusablePasskeyError();
      return this.#context.signIn("web", { ...session, how: "passkey" }, LIFETIME.web);
    });
  }

  /** Returns false if the challenge was used before, or if the passkey was used or removed while it was checked. */
  #noteUse({ id, counter, synced }: PasskeyKey, before: PasskeyRow, ceremony: PasskeyCeremony): boolean {
    const { sql, codes } = this.#context;
    const found = sql.exec("SELECT 1 FROM passkeys WHERE id = ? AND counter = ?", id, before.counter);
    if (found.toArray().length === 0 || !codes.use(ceremony.challenge, ceremony.expires)) return false;
    sql.exec(
      "UPDATE passkeys SET counter = ?, backed_up = ?, used = ? WHERE id = ?",
      ...[counter, Number(synced), Date.now(), id],
    );
    return true;
  }

  #insert(
    { id, publicKey, counter, synced }: PasskeyKey,
    { name, host, transports }: { name: string; host: string; transports: readonly string[] },
  ): PasskeyView {
    const [row] = this.#context.sql.exec<PasskeyRow>(
      `INSERT OR IGNORE INTO passkeys (id, name, host, public_key, counter, transports, backed_up, created)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      ...[id, name, host, publicKey, counter, JSON.stringify(transports), Number(synced), Date.now()],
    );
    if (row) return viewOf(row);
    throw relayError("CONFLICT", "This passkey was already added", { hint: "GET /v1/passkeys lists it" });
  }

  #rows(): PasskeyRow[] {
    return this.#context.sql.exec<PasskeyRow>("SELECT * FROM passkeys ORDER BY created DESC, id").toArray();
  }

  #requireRoom(): void {
    if (this.#rows().length >= LIMITS.passkeysPerAccount)
      throw tooManyError("passkeys", LIMITS.passkeysPerAccount);
  }
}

function keyOf({ id, public_key, counter, backed_up }: PasskeyRow): PasskeyKey {
  return { id, publicKey: new Uint8Array(public_key), counter, synced: backed_up !== 0 };
}

function viewOf({ id, name, host, backed_up, created, used }: PasskeyRow): PasskeyView {
  return {
    id,
    name,
    host,
    synced: backed_up !== 0,
    created: new Date(created).toISOString(),
    used: used === null ? null : new Date(used).toISOString(),
  };
}

function noSuchPasskeyError(): MatrxError {
  return relayError("NOT_FOUND", "No such passkey", { hint: "GET /v1/passkeys lists them" });
}
