/**
 * Messages to browsers, one row each until its push service took it: sent by the account's alarm, again if that failed, and
 * not for ever. A question is kept until it is answered, so that it can be withdrawn.
 */
import { LIMITS, TIMES } from "@matrx/shared/limits.ts";
import { takeOne } from "@matrx/shared/rate-limit.ts";
import { logWarning } from "../log.ts";
import { type Sending, type Sent, sendPush } from "./send.ts";
import type { PushSubscriptions, Subscription } from "./subscriptions.ts";
import type { Vapid } from "./vapid.ts";

/** `question`: its row stays until it is settled or expires. `settled`: takes a question's place. */
type Role = "news" | "question" | "settled";

export interface NewMessage extends Pick<Sending, "about" | "urgency" | "text"> {
  /** When it is of no use any more, in milliseconds since 1970. */
  readonly expires: number;
  /** When it is sent. */
  readonly due: number;
  readonly role: Role;
}

interface MessageRow extends Record<string, SqlStorageValue> {
  id: number;
  subscription: string;
  about: string;
  body: string;
  urgency: Sending["urgency"];
  role: Role;
  expires: number;
  tries: number;
  /** Null: it was sent. */
  due: number | null;
}

/** A message is tried so often; the wait grows fourfold each time, and is longer if the push service says so. In milliseconds. */
const TRIES_MAX = 5;
const WAIT_FIRST = 5_000;
/** Whoever can make a phone ring, may do it so often: an AI that asks without end, a machine that warns. */
const RATE = { burst: LIMITS.pushBurst, everyMs: TIMES.pushEvery };
/** Each round of the alarm sends so many, so many at once: nothing else of the account waits long. */
const ROUND = 12;
const AT_ONCE = 6;

interface MessagesHost {
  readonly sql: SqlStorage;
  readonly subscriptions: PushSubscriptions;
  readonly vapid: Vapid;
  /** Sends by then, in milliseconds since 1970. */
  readonly sendBy: (at: number) => void;
}

export class PushMessages {
  readonly #host: MessagesHost;
  /** Rows that are on their way. */
  readonly #sending = new Set<number>();

  constructor(host: MessagesHost) {
    this.#host = host;
  }

  /** Takes the place of an earlier one about the same. */
  add({ id }: Subscription, { about, text, urgency, role, expires, due }: NewMessage): void {
    this.#host.sql.exec(
      `INSERT INTO push_messages (subscription, about, body, urgency, role, expires, due) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (subscription, about) DO UPDATE SET body = excluded.body, urgency = excluded.urgency,
       role = excluded.role, expires = excluded.expires, due = excluded.due, tries = 0`,
      ...[id, about, text, urgency, role, expires, due],
    );
    this.#host.sendBy(due);
  }

  /** A question is over: whoever was not asked yet is told nothing, the others get another message in its place. */
  settle({ about, text, urgency, role, expires, due }: NewMessage): void {
    const { sql, sendBy } = this.#host;
    const rows = sql.exec<MessageRow>("SELECT * FROM push_messages WHERE about = ?", about).toArray();
    for (const { id, due: was, tries } of rows) {
      const isUntold = was !== null && tries === 0 && !this.#sending.has(id);
      if (isUntold) this.#drop(id);
      else
        sql.exec(
          "UPDATE push_messages SET body = ?, urgency = ?, role = ?, expires = ?, tries = 0, due = ? WHERE id = ?",
          ...[text, urgency, role, expires, due, id],
        );
    }
    if (rows.length > 0) sendBy(due);
  }

  /** Sends what is due. Returns when to look again, in milliseconds since 1970. */
  async ring(now: number): Promise<number | undefined> {
    this.#host.sql.exec("DELETE FROM push_messages WHERE expires <= ?", now);
    const due = this.#host.sql
      .exec<{ id: number }>(
        "SELECT id FROM push_messages WHERE due <= ? ORDER BY due, id LIMIT ?",
        now,
        ROUND,
      )
      .toArray();
    const sendNext = async (): Promise<void> => {
      for (let next = due.shift(); next; next = due.shift()) await this.#send(next.id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
    return this.#next();
  }

  /** What is no longer due is not sent: while others were, its question may have been answered. */
  async #send(id: number): Promise<void> {
    const { sql, subscriptions, vapid } = this.#host;
    const now = Date.now();
    const query = "SELECT * FROM push_messages WHERE id = ? AND due IS NOT NULL AND expires > ?";
    const [row] = sql.exec<MessageRow>(query, id, now);
    if (!row) return;
    const { about, body: text, urgency, expires } = row;
    const target = subscriptions.find(row.subscription, now);
    if (!target || !this.#take(row, target, now)) return this.#drop(id);
    this.#sending.add(id);
    try {
      const sending = { text, about, urgency, keptFor: expires - now };
      this.#note(row, target, await sendPush(target, sending, vapid, now));
    } catch (error) {
      logWarning("a push message could not be made", error);
      this.#drop(id);
    } finally {
      this.#sending.delete(id);
    }
  }

  /** Counts a message once. What is only withdrawn does not count. Returns false if it is one too many. */
  #take({ role, tries }: MessageRow, { id, rate }: Subscription, now: number): boolean {
    if (role === "settled" || tries > 0) return true;
    const next = takeOne(rate, RATE, now);
    if (next !== undefined) this.#host.subscriptions.setRate(id, next);
    return next !== undefined;
  }

  /** What became of it; a row that was changed meanwhile is due anew. */
  #note(row: MessageRow, target: Subscription, sent: Sent): void {
    const { subscriptions } = this.#host;
    const now = Date.now();
    if (sent.type === "gone") return subscriptions.remove(target.id);
    if (sent.type === "sent") {
      subscriptions.succeeded(target.id, now);
      return this.#end(row, row.role === "question");
    }
    subscriptions.failed(target.id, sent.problem);
    const again = sent.type === "later" ? now + waitOf(row.tries, sent.afterMs) : undefined;
    const isLast = again === undefined || row.tries + 1 >= TRIES_MAX || again >= row.expires;
    if (isLast) return this.#end(row, false);
    this.#host.sql.exec(
      "UPDATE push_messages SET tries = tries + 1, due = ? WHERE id = ? AND body = ?",
      ...[again, row.id, row.body],
    );
  }

  #end({ id, body }: MessageRow, stays: boolean): void {
    const end = stays ? "UPDATE push_messages SET due = NULL" : "DELETE FROM push_messages";
    this.#host.sql.exec(`${end} WHERE id = ? AND body = ?`, id, body);
  }

  #drop(id: number): void {
    this.#host.sql.exec("DELETE FROM push_messages WHERE id = ?", id);
  }

  #next(): number | undefined {
    const query = "SELECT MIN(IFNULL(due, expires)) AS next FROM push_messages";
    return this.#host.sql.exec<{ next: number | null }>(query).one().next ?? undefined;
  }
}

function waitOf(tries: number, afterMs: number | undefined): number {
  return Math.max(afterMs ?? 0, WAIT_FIRST * 4 ** tries);
}
