/** Tells the account of calls that took long and ended, so that it can notify people: as the record tells of them, in its batches. */
import type { AuditDraft } from "@matrx/shared/audit.ts";
import type { BuiltInTool } from "@matrx/shared/effects.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import { logWarning } from "../../log.ts";
import type { LongCall } from "../../push/news.ts";
import type { Accounts } from "../leases.ts";
import type { RecordStore } from "../store.ts";

/** They last for as long as somebody watches, types or waits. */
const WATCHED: ReadonlySet<string> = new Set<BuiltInTool>([
  "TerminalAttach",
  "ConnectPort",
  "FetchPort",
  "BashOutput",
]);

interface LongCallsHost {
  readonly store: Pick<RecordStore, "record">;
  readonly accounts: Accounts;
}

export class LongCalls {
  readonly #host: LongCallsHost;

  constructor(host: LongCallsHost) {
    this.#host = host;
  }

  /** What the record was told. Nothing waits for this, and what gets lost is not told again. */
  note(drafts: readonly AuditDraft[]): void {
    const { store, accounts } = this.#host;
    const calls = drafts.flatMap(longCallOf);
    if (!store.record || calls.length === 0) return;
    accounts
      .getByName(store.record.account)
      .noteLongCalls(store.record.id, calls)
      .catch((error: unknown) => logWarning("the account was not told of long calls", error));
  }
}

/** None of those that somebody cancelled. */
function longCallOf(draft: AuditDraft): LongCall[] {
  if (draft.type !== "call" || (draft.ms ?? 0) < TIMES.longCall) return [];
  const { call, tool, status } = draft;
  if (tool === undefined || WATCHED.has(tool)) return [];
  return status === "success" || status === "error" || status === "unknown" ? [{ call, tool, status }] : [];
}
