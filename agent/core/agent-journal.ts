/**
 * The one journal of an agent, which is also its lock: of the agents of one folder only one connects to the relay, and
 * only one serves local callers. `matrx serve` may run beside `matrx up`, so it has a file of its own. The calls of
 * local callers are known in both files: whichever agent an idempotency key, or a name that a caller chose, is given to
 * next, it runs no call twice.
 */
import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type Journal, openJournal } from "./journal.ts";
import { holdFile, unusableJournalError } from "./journal-db.ts";

export interface AgentJournalOptions {
  /** For an agent that connects to a relay. */
  readonly journalFile: string;
  /** For an agent that only serves local callers; an agent that does both locks it as well. */
  readonly localJournalFile: string;
  /** Held while an agent opens its journal, so that starts follow one another. */
  readonly startLockFile: string;
  readonly connects: boolean;
  readonly serves: boolean;
  readonly log: Logger;
}

export interface AgentJournal {
  readonly journal: Journal;
  close(): void;
}

/** How long another agent may take to start, in milliseconds. */
const START_WITHIN = 10_000;

/** Throws MatrxError if another agent has locked a file that this one needs. */
export function openAgentJournal(options: AgentJournalOptions): AgentJournal {
  const { journalFile, localJournalFile, startLockFile, connects, serves, log } = options;
  // Otherwise two agents that start together would each find the other's journal in use, and pass nothing on.
  using _starting = holdFile(startLockFile, START_WITHIN);
  using opened = new DisposableStack();
  const open = (path: string) => opened.adopt(openJournal(path, log), (journal) => journal.close());
  const journal = open(connects ? journalFile : localJournalFile);
  if (connects && serves) adopt(localJournalFile, () => journal.adoptLocalCalls(open(localJournalFile)));
  else if (connects) withOther(localJournalFile, log, (other) => other.adoptLocalCalls(journal));
  else withOther(journalFile, log, (other) => journal.adoptLocalCalls(other));
  const stays = opened.move();
  return { journal, close: () => stays.dispose() };
}

function adopt(path: string, action: () => void): void {
  try {
    action();
  } catch (cause) {
    throw unusableJournalError(path, cause);
  }
}

/** Does something with the other journal, unless a running agent holds it: that one has known these calls since its start. */
function withOther(path: string, log: Logger, action: (journal: Journal) => void): void {
  if (!existsSync(path)) return;
  try {
    using opened = new DisposableStack();
    action(opened.adopt(openJournal(path, log, { busyMs: 0 }), (journal) => journal.close()));
  } catch (err) {
    log.debug({ err, path }, "the other journal is in use");
  }
}
