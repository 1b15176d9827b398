/** The same call made again while a person is asked about it: one question, one run, one outcome. */
import type { WantedCall } from "@matrx/shared/caller/port.ts";
import { canonicalJson } from "@matrx/shared/canonical-json.ts";
import { TIMES } from "@matrx/shared/limits.ts";
import type { Parked } from "../ledger/parked.ts";
import type { Recipient } from "../ledger/recipient.ts";
import type { WaitingCalls } from "./waiting.ts";

/** The waiting call that a caller means by this one. Whoever gives a key or a name says itself which call it means. */
export function repeatedCall(
  wanted: WantedCall,
  tool: string,
  { lease, opens }: Recipient,
  waiting: WaitingCalls,
  now: number,
): Parked | undefined {
  const { key, chosen, session, input } = wanted;
  if (key !== undefined || chosen || opens) return undefined;
  return waiting.all().find((parked) => {
    const { keyed, opens: opened, session: inSession } = parked.wanted;
    if (parked.grant !== lease.scope.id || parked.tool !== tool || inSession !== session) return false;
    if (keyed || opened || parked.edited || !isGivenUp(parked, wanted, waiting, now)) return false;
    return isSame(waiting.rows.input(parked.id), input);
  });
}

/**
 * Whether its caller waits no more, and can't ask for it by name. A model repeats a call also if it can, or gave up without
 * a word; but what it sends at the same moment is meant twice.
 */
function isGivenUp(parked: Parked, { repeats }: WantedCall, waiting: WaitingCalls, now: number): boolean {
  const pending = waiting.pendingOf(parked);
  if (!pending) return false;
  const isAwaited = pending.recipients.length > 0;
  if (repeats) return !isAwaited || now - parked.created >= TIMES.repeatAfter;
  return !isAwaited && parked.wanted.isNameless === true;
}

function isSame(one: string, other: string): boolean {
  return one === other || canonicalJson(JSON.parse(one)) === canonicalJson(JSON.parse(other));
}
