/**
 * An agent's one journal, which is also its lock: of the agents in a folder, only one connects to the relay and only one
 * serves local callers. `matrx serve` may run beside `matrx up`, so it has its own file. Both files know the idempotency
 * keys of local callers, so whichever agent gets a key next, no call runs twice.
 */
import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type Journal, openJournal } from "./journal.ts";
import { unusableJournalError } from "./journal-db.ts";

export interface AgentJournalOptions {
  /** For an agent that connects to a relay. */
  readonly journalFile: string;
  /** For an agent that only serves local callers; an agent that does both locks it as well. */
  readonly localJournalFile: string;
  readonly connects: boolean;
  readonly serves: boolean;
  readonly log: Logger;
}

export interface AgentJournal {
  readonly journal: Journal;
  close(): void;
}

/** Throws MatrxError if another agent has locked a file that this one needs. */
export function openAgentJournal(options: AgentJournalOptions): AgentJournal {
  const { journalFile, localJournalFile, connects, serves, log } = options;
  using opened = new DisposableStack();
  const open = (path: string) => opened.adopt(openJournal(path, log), (journal) => journal.close());
  const journal = open(connects ? journalFile : localJournalFile);
  if (connects && serves) adopt(localJournalFile, () => journal.adoptLocalKeys(open(localJournalFile)));
  else if (connects) withOther(localJournalFile, log, (other) => other.adoptLocalKeys(journal));
  else withOther(journalFile, log, (other) => journal.adoptLocalKeys(other));
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

/** Runs an action on the other journal, unless an agent has it locked: that agent copied these keys when it started. */
function withOther(path: string, log: Logger, action: (journal: Journal) => void): void {
  if (!existsSync(path)) return;
  try {
    using opened = new DisposableStack();
    action(opened.adopt(openJournal(path, log), (journal) => journal.close()));
  } catch (err) {
    log.debug({ err, path }, "the other journal is in use");
  }
}
