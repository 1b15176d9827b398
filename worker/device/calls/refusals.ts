/** What callers are told when the relay answers for the device. */
import type { ErrorShape } from "@matrx/shared/errors.ts";
import { offlineError } from "../connection.ts";
import type { CallEvent } from "../ledger/call-state.ts";

type Words = Partial<Record<CallEvent, ErrorShape>>;

function cancelled(message: string): ErrorShape {
  return { code: "CANCELLED", message, hop: "relay" };
}

function late(message: string, hint: string): ErrorShape {
  return { code: "TIMEOUT", message, hint, hop: "relay" };
}

function neverRan(): ErrorShape {
  const shape = offlineError("The device disconnected before the call reached it").shape();
  return { ...shape, hint: "It did not run: send it again" };
}

const CANCELLED_IN_TIME = cancelled("Cancelled before it was sent: it did not run");
const DROPPED_OUT = offlineError("The device disconnected before it answered").shape();
const NEVER_RAN = neverRan();

const UNKNOWN: Partial<Record<CallEvent, string>> = {
  overdue: "The device did not answer in time",
  unread: "The answer was not read in time",
  gone: "The device disconnected while the call was running",
  lost: "The device stopped while the call was running",
  journal_lost: "The device lost its record of the call",
};

const REFUSALS: Words = {
  cancelled: CANCELLED_IN_TIME,
  abandoned: CANCELLED_IN_TIME,
  unstoppable: cancelled("Cancelled; the device may still finish what it started"),
  overdue: late("The device did not answer in time", "Try again, or allow more time with timeout_ms"),
  unread: late("The answer was not read in time", "Read the answers that came before it"),
  gone: DROPPED_OUT,
  link_up: DROPPED_OUT,
  never_came: NEVER_RAN,
  expired: NEVER_RAN,
  refused: { code: "APPROVAL_DENIED", message: "This call was not allowed: it did not run", hop: "relay" },
  policy_changed: {
    code: "UNAVAILABLE",
    message: "The device's policy changed before the call was sent: it did not run",
    hint: "Send it again",
    hop: "relay",
  },
};

/** For calls that can't be judged, or sent, under the grant as it is now. */
export function grantChangedError(): ErrorShape {
  return {
    code: "UNAVAILABLE",
    message: "The token's grant changed while the call was on its way",
    hint: "Send it again",
    hop: "relay",
  };
}

/** Why a call that did not run, or changed nothing, gets no answer from the device. */
export function refusalAfter(event: CallEvent): ErrorShape {
  const refusal = REFUSALS[event];
  if (!refusal) throw new Error(`no refusal after ${event}`);
  return refusal;
}

/** Why nobody knows the outcome. */
export function unknownAfter(event: CallEvent): string {
  return UNKNOWN[event] ?? "The call's outcome is not known";
}
