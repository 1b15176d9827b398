/** The record of one account: who did what on which machine. Each entry is chained to the one before by its hash. */
import { DurableObject } from "cloudflare:workers";
import type { AuditDraft, AuditHead, AuditQuery } from "@matrx/shared/audit.ts";
import { Entries } from "../audit/entries.ts";
import { type Page, pageOf } from "../audit/lines.ts";
import { AlarmTable } from "../storage/alarms.ts";
import { migrate } from "../storage/migrate.ts";
import { AUDIT } from "../storage/migrations.ts";

/** The record is looked through for old entries at most this often, in milliseconds. */
const PRUNE_EVERY = 24 * 60 * 60_000;

export class Audit extends DurableObject {
  readonly #entries: Entries;
  readonly #alarms: AlarmTable<"prune">;

  constructor(state: DurableObjectState, env: unknown) {
    super(state, env as never);
    migrate(state.storage, AUDIT);
    this.#entries = new Entries(state.storage.sql, state.id.name ?? "");
    this.#alarms = new AlarmTable(state.storage, { prune: (now) => this.#prune(now) });
  }

  /** Adds entries in this order; those that it has already, by their id, are left out. Returns the record's end. */
  async append(drafts: AuditDraft[]): Promise<AuditHead> {
    const now = Date.now();
    const head = await this.#entries.append(drafts, now);
    this.#alarms.by("prune", now + PRUNE_EVERY);
    return head;
  }

  /** The record's end. */
  head(): AuditHead {
    return this.#entries.head;
  }

  /** Some entries, as JSON. */
  page(query: AuditQuery): Page {
    return pageOf(this.ctx.storage.sql, query);
  }

  override alarm(): Promise<void> {
    return this.#alarms.ring(Date.now());
  }

  /** Not more often than daily, and an account that does nothing sleeps until its oldest entry is too old. */
  async #prune(now: number): Promise<number | undefined> {
    const next = await this.#entries.prune(now);
    return next === undefined ? undefined : Math.max(next, now + PRUNE_EVERY);
  }
}
