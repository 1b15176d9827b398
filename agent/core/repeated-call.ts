/** Answers a call that was made before, from its entry in the journal. */
import { type Addressee, bodilessOutcome, errorOutcome, type Outcome, readdressed } from "./answers.ts";
import type { CallRequest } from "./call-request.ts";
import type { Journal } from "./journal.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** The call that already has this one's name or idempotency key. */
export function knownCall(journal: Journal, { call, grant, key }: CallRequest): JournalEntry | undefined {
  return journal.find(call) ?? (key === undefined ? undefined : journal.findByKey(grant.id, key));
}

export function recalled(request: CallRequest, to: Addressee, known: JournalEntry): Outcome {
  if (isAnother(request, known)) return conflictOutcome(to);
  const { state, header, body } = known;
  if (state !== "finished" || !header) return unknownOutcome(to);
  return body ? readdressed({ header, body }, to) : bodilessOutcome(to, header);
}

/** Whether a known call is a different one. Rows of older agents have no grant, and no input hash for the relay's calls. */
function isAnother({ grant, fingerprint }: CallRequest, known: JournalEntry): boolean {
  const input = fingerprint ?? null;
  if (known.grant === undefined) return known.input !== null && known.input !== input;
  return known.grant !== grant.id || known.input !== input;
}

function unknownOutcome(to: Addressee): Outcome {
  const message = "The agent stopped while this call was running; it may or may not have taken effect";
  const hint = "Check what it changed before you decide; it is never run again automatically";
  return errorOutcome(to, { code: "OUTCOME_UNKNOWN", message, hint, hop: "agent" }, { ms: 0, effect: true });
}

export function conflictOutcome(to: Addressee): Outcome {
  const message = "A call with this name or idempotency key was made before, with another tool or input";
  const hint = "Use a new key for each new call";
  const facts = { ms: 0, effect: true, ran: false } as const;
  return errorOutcome(to, { code: "CONFLICT", message, hint, hop: "agent" }, facts);
}
