/** The browsers that an account's people are told in. Each belongs to a session, and ends with it. */
import type { GrantId } from "@matrx/shared/ids.ts";
import type { PushKind, PushSubscriptionView } from "@matrx/shared/push-api.ts";
import type { Target } from "./send.ts";

export interface Subscription extends Target {
  readonly id: string;
  readonly grant: GrantId;
  readonly name: string;
  readonly kinds: readonly PushKind[];
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly succeeded: number | null;
  readonly problem: string | null;
  /** State of the rate at which it is told of something. */
  readonly rate: number;
}

interface SubscriptionRow extends Record<string, SqlStorageValue> {
  id: string;
  grant_id: string;
  endpoint: string;
  p256dh: string;
  auth: string;
  contact: string;
  name: string;
  /** JSON. */
  kinds: string;
  created: number;
  succeeded: number | null;
  problem: string | null;
  rate: number;
}

/** Those whose session goes on, also if its end has not been noticed yet. */
const LIVE = `SELECT push_subscriptions.* FROM push_subscriptions
  JOIN grants ON grants.id = push_subscriptions.grant_id AND grants.expires > ?`;

export class PushSubscriptions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The oldest first. */
  list(now: number): Subscription[] {
    return this.#sql
      .exec<SubscriptionRow>(`${LIVE} ORDER BY push_subscriptions.created, push_subscriptions.id`, now)
      .toArray()
      .map(subscriptionOf);
  }

  find(id: string, now: number): Subscription | undefined {
    const [row] = this.#sql.exec<SubscriptionRow>(`${LIVE} WHERE push_subscriptions.id = ?`, now, id);
    return row && subscriptionOf(row);
  }

  /** Takes the place of what the session, or the same browser in another session, had. */
  add({ id, grant, endpoint, p256dh, auth, contact, name, kinds, created }: Subscription): void {
    const former = "SELECT id FROM push_subscriptions WHERE grant_id = ? OR endpoint = ?";
    for (const row of this.#sql.exec<{ id: string }>(former, grant, endpoint).toArray()) this.remove(row.id);
    this.#sql.exec(
      `INSERT INTO push_subscriptions (id, grant_id, endpoint, p256dh, auth, contact, name, kinds, created)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, grant, endpoint, p256dh, auth, contact, name, JSON.stringify(kinds), created],
    );
  }

  setKinds(id: string, kinds: readonly PushKind[]): void {
    this.#sql.exec("UPDATE push_subscriptions SET kinds = ? WHERE id = ?", JSON.stringify(kinds), id);
  }

  /** Its rate, after one more. */
  setRate(id: string, rate: number): void {
    this.#sql.exec("UPDATE push_subscriptions SET rate = ? WHERE id = ?", rate, id);
  }

  /** Its push service took a message. */
  succeeded(id: string, now: number): void {
    this.#sql.exec("UPDATE push_subscriptions SET succeeded = ?, problem = NULL WHERE id = ?", now, id);
  }

  failed(id: string, problem: string): void {
    this.#sql.exec(
      "UPDATE push_subscriptions SET problem = ?1 WHERE id = ?2 AND problem IS NOT ?1",
      problem,
      id,
    );
  }

  /** With all that it was still to be sent. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM push_messages WHERE subscription = ?", id);
    this.#sql.exec("DELETE FROM push_subscriptions WHERE id = ?", id);
  }

  /** Those of sessions that are over. */
  prune(): void {
    const ended = "SELECT id FROM push_subscriptions WHERE grant_id NOT IN (SELECT id FROM grants)";
    for (const { id } of this.#sql.exec<{ id: string }>(ended).toArray()) this.remove(id);
  }
}

export function viewOf(
  { id, grant, name, kinds, created, succeeded, problem }: Subscription,
  asking: GrantId,
): PushSubscriptionView {
  return {
    ...{ id, name, own: grant === asking, kinds: [...kinds], created: iso(created) },
    ...{ succeeded: succeeded === null ? null : iso(succeeded), problem },
  };
}

function subscriptionOf({ grant_id, kinds, ...row }: SubscriptionRow): Subscription {
  return { ...row, grant: grant_id as GrantId, kinds: JSON.parse(kinds) as PushKind[] };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
