/** What the account itself tells its record: kept until the record has it, in the order in which it happened. */
import type { AuditBy, AuditDraft } from "@matrx/shared/audit.ts";
import { credentialOf, type Grant, isPersonSession } from "@matrx/shared/grant.ts";
import { logWarning } from "../log.ts";

/** What happened; where and when is added here. */
export type Happening = AuditDraft extends infer Draft
  ? Draft extends AuditDraft
    ? Omit<Draft, "id" | "at" | "by">
    : never
  : never;

interface RecordHost {
  readonly sql: SqlStorage;
  append(drafts: AuditDraft[]): Promise<unknown>;
  /** Sends again by then, in milliseconds since 1970. */
  againBy(at: number): void;
}

const BATCH = 100;
const AGAIN = 60_000;

export class AccountRecord {
  readonly #host: RecordHost;
  #sending: Promise<void> | undefined;

  constructor(host: RecordHost) {
    this.#host = host;
  }

  /** Notes what somebody did; it is written together with what else the account writes now. */
  note(happening: Happening, by: Grant | undefined): void {
    const now = Date.now();
    const at = new Date(now).toISOString();
    const draft = { ...happening, id: crypto.randomUUID(), at, ...(by && { by: actorOf(by) }) };
    this.#host.sql.exec("INSERT INTO audit_outbox (draft) VALUES (?)", JSON.stringify(draft));
    // Set before the first attempt: if this object dies before the acknowledgement, the alarm sends again.
    this.#host.againBy(now + AGAIN);
    this.#send().catch((error: unknown) => logWarning("the record was not reached yet", error));
  }

  /** Sends what waits. Rejects if the record cannot be reached; then the alarm tries again. */
  ring(): Promise<void> {
    return this.#send();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const rows = this.#host.sql
        .exec<{ id: number; draft: string }>("SELECT id, draft FROM audit_outbox ORDER BY id LIMIT ?", BATCH)
        .toArray();
      const last = rows.at(-1);
      if (!last) return;
      await this.#host.append(rows.map(({ draft }) => JSON.parse(draft) as AuditDraft));
      this.#host.sql.exec("DELETE FROM audit_outbox WHERE id <= ?", last.id);
    }
  }
}

/** A grant that was made, changed or revoked; for a session, that somebody signed in or out. */
export function grantHappening(grant: Grant, action: "created" | "changed" | "revoked"): Happening {
  const { id, name } = grant;
  if (isPersonSession(grant) && action !== "changed")
    return { type: "session", action: action === "created" ? "signed_in" : "signed_out", grant: id, name };
  const told = { type: "grant", action, grant: id, name, credential: credentialOf(grant) } as const;
  return action === "revoked" ? told : { ...told, may: mayOf(grant) };
}

function mayOf({ id: _, account: __, kind: ___, name: ____, key: _____, version: ______, ...may }: Grant) {
  return { ...may };
}

function actorOf(grant: Grant): AuditBy {
  return { grant: grant.id, name: grant.name, credential: credentialOf(grant) };
}
