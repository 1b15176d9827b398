/**
 * The state machine of a call at the relay, as a pure function: the next phase for an event, and what to do. It alone
 * ensures that a call is answered once, and that an effect is sent at most once unless the device never got it.
 */
import type { Effect } from "@matrx/shared/effects.ts";

export type Phase =
  /** The gate admitted it; nothing is written or sent yet. */
  | "new"
  /** A person must allow it first, or the device says whether (`approvals/`): nothing is sent until then. */
  | "parked"
  /** Its frame is not sent yet: the device is first asked for a sign of life. */
  | "accepted"
  /** Its frame was sent. */
  | "delivered"
  /** The link has changed since it was sent: only the device knows what became of it. */
  | "in_doubt"
  /** Its answer waits on the device for readers: the call's clocks are paused. */
  | "answer_waits"
  /** It had its one answer, or nobody waits for one. */
  | "ended";

export interface CallState {
  readonly phase: Phase;
  readonly effect: Effect;
  /** The ledger has a row: the outcome is kept, whoever waits. */
  readonly recorded: boolean;
  /** The frame, if it can be sent (again). */
  readonly frame?: string | undefined;
  /** A person allowed it, and what its frame is made of is kept until it is known what became of it. */
  readonly isKept?: boolean | undefined;
}

export type CallEvent =
  | "admitted"
  /** Admitted, but a person may have to be asked first. */
  | "parked"
  /** It may be sent now. */
  | "released"
  /** It will not be sent: denied, expired, or refused by the device that prepared it. */
  | "refused"
  /** A caller asks to stop it. */
  | "cancelled"
  /** The device could not be told to stop. */
  | "unstoppable"
  /** The last recipient left; the call continues if its outcome is kept. */
  | "left"
  /** The last recipient left and wants it stopped. */
  | "abandoned"
  /** A REST caller was sent away with the call's name: the outcome must be kept. */
  | "sent_away"
  /** The device gave a sign of life, or need not be asked for one. */
  | "alive"
  /** The frame was not sent, and never will be. */
  | "undeliverable"
  | "answered"
  /** The device has a large answer and waits for room. */
  | "credit_asked"
  | "credit_given"
  /** The answer waited too long for its readers. */
  | "unread"
  | "link_down"
  | "link_up"
  /** The device is back without its journal. */
  | "journal_lost"
  /** The device stayed away. */
  | "gone"
  /** The device says that the call never arrived. */
  | "never_came"
  /** The same, and its deadline has passed. */
  | "expired"
  /** The device says that it cannot tell what became of the call. */
  | "lost"
  | "overdue"
  | "policy_changed"
  /** Its grant was revoked, or no longer allows it. */
  | "revoked"
  /** The device was removed from its account. */
  | "removed";

/** What to do, in this order; an outcome is written after the callers have it. */
export interface Step {
  /** Absent: the phase does not change. */
  readonly to?: Exclude<Phase, "new">;
  readonly row?: "open" | "expired" | "unknown" | "outcome";
  readonly device?: "send" | "stop";
  /** The one answer: the device's, a refusal, or that the outcome is unknown. */
  readonly callers?: "answer" | "refusal" | "unknown";
}

// Constants, so that the usual path allocates nothing.
const STAY: Step = {};
const ACCEPT: Step = { to: "accepted" };
const ACCEPT_EFFECT: Step = { to: "accepted", row: "open" };
const PARK: Step = { to: "parked", row: "open" };
const WAIT_AGAIN: Step = { to: "parked" };
const SEND: Step = { to: "delivered", device: "send" };
const DOUBT: Step = { to: "in_doubt" };
const WAIT_FOR_READERS: Step = { to: "answer_waits" };
const GO_ON: Step = { to: "delivered" };
const STOP: Step = { device: "stop" };
const RECORD: Step = { row: "open" };
const ANSWER: Step = { to: "ended", callers: "answer" };
const ANSWER_AND_KEEP: Step = { to: "ended", row: "outcome", callers: "answer" };
const REFUSE: Step = { to: "ended", callers: "refusal" };
const REFUSE_AND_STOP: Step = { to: "ended", device: "stop", callers: "refusal" };
const EXPIRE: Step = { to: "ended", row: "expired", callers: "refusal" };
const UNKNOWN: Step = { to: "ended", callers: "unknown" };
const UNKNOWN_AND_STOP: Step = { to: "ended", device: "stop", callers: "unknown" };
const UNKNOWN_FOR_GOOD: Step = { to: "ended", row: "unknown", callers: "unknown" };
const FORGET: Step = { to: "ended" };
const FORGET_AND_STOP: Step = { to: "ended", device: "stop" };
const KEEP_LATE: Step = { row: "outcome" };
const CLOSE_EXPIRED: Step = { row: "expired" };
const CLOSE_UNKNOWN: Step = { row: "unknown" };

/** The step that an event takes a call through. */
export function next(call: CallState, event: CallEvent): Step {
  const { phase } = call;
  if (phase === "ended") return afterTheEnd(call, event);
  if (phase === "new") return event === "admitted" ? admitted(call) : event === "parked" ? PARK : STAY;
  if (phase === "parked") return whileParked(event);
  if (phase === "accepted") return beforeItLeft(call, event);
  if (phase === "answer_waits") return whileAnswerWaits(call, event);
  return onItsWay(call, event);
}

function admitted({ effect }: CallState): Step {
  return effect === "read" ? ACCEPT : ACCEPT_EFFECT;
}

/** It has a row, whatever its effect. Links come and go without it. */
function whileParked(event: CallEvent): Step {
  switch (event) {
    case "released":
      return ACCEPT;
    case "refused":
    case "cancelled":
    case "abandoned":
    case "policy_changed":
    case "revoked":
      return EXPIRE;
    case "removed":
      return REFUSE;
    default:
      return STAY;
  }
}

/** The call did not run, and if it ends here it never will: its row says so, and its key becomes free. */
function beforeItLeft(call: CallState, event: CallEvent): Step {
  switch (event) {
    case "alive":
    case "link_up":
      return SEND;
    case "answered":
      return answered(call);
    case "sent_away":
      return call.recorded ? STAY : RECORD;
    case "left":
      return call.recorded ? STAY : FORGET;
    case "cancelled":
    case "abandoned":
    case "undeliverable":
    case "gone":
    case "overdue":
    case "policy_changed":
    case "revoked":
      return call.recorded ? EXPIRE : REFUSE;
    case "removed":
      return REFUSE;
    default:
      return STAY;
  }
}

/** Delivered, or in doubt. */
function onItsWay(call: CallState, event: CallEvent): Step {
  const { phase, effect, recorded } = call;
  switch (event) {
    case "answered":
      return answered(call);
    case "credit_asked":
      return WAIT_FOR_READERS;
    case "cancelled":
      return STOP;
    case "abandoned":
      if (!recorded) return FORGET_AND_STOP;
      // A read with a row: some caller was sent away to its address.
      return effect === "read" ? STAY : STOP;
    case "left":
      return recorded ? STAY : FORGET;
    case "sent_away":
      return recorded ? STAY : RECORD;
    case "link_down":
      return DOUBT;
    case "link_up":
      if (recorded) return DOUBT;
      return call.frame === undefined ? REFUSE : SEND;
    case "journal_lost":
      return recorded ? UNKNOWN_FOR_GOOD : STAY;
    case "never_came":
      // Sent on this link, so it did arrive: the device was asked before that.
      if (phase === "delivered") return STAY;
      return call.frame === undefined ? neverCame(call) : SEND;
    case "expired":
      return phase === "delivered" ? STAY : neverCame(call);
    case "lost":
      return recorded ? UNKNOWN_FOR_GOOD : UNKNOWN;
    case "undeliverable":
      return neverRan(call);
    case "unstoppable":
    case "removed":
      return REFUSE;
    case "gone":
      return recorded ? UNKNOWN : REFUSE;
    case "overdue":
      return recorded ? UNKNOWN_AND_STOP : REFUSE_AND_STOP;
    case "revoked":
      return REFUSE_AND_STOP;
    default:
      return STAY;
  }
}

/** The call's clocks are paused; otherwise as `onItsWay`. */
function whileAnswerWaits(call: CallState, event: CallEvent): Step {
  switch (event) {
    case "credit_given":
      return GO_ON;
    case "unread":
      return onItsWay(call, "overdue");
    case "overdue":
    case "credit_asked":
    case "never_came":
    case "expired":
      return STAY;
    default:
      return onItsWay(call, event);
  }
}

/** Nobody is waiting any more, but a row may still record the outcome. */
function afterTheEnd({ recorded, isKept }: CallState, event: CallEvent): Step {
  if (event === "cancelled") return STOP;
  if (!recorded) return STAY;
  if (event === "answered") return KEEP_LATE;
  if (event === "never_came" || event === "expired") return isKept ? WAIT_AGAIN : CLOSE_EXPIRED;
  return event === "lost" || event === "journal_lost" ? CLOSE_UNKNOWN : STAY;
}

function answered({ recorded }: CallState): Step {
  return recorded ? ANSWER_AND_KEEP : ANSWER;
}

/** A person's yes is not lost: the call is checked and sent once more, or ends as one that was allowed too late. */
function neverCame(call: CallState): Step {
  return call.isKept ? WAIT_AGAIN : neverRan(call);
}

function neverRan({ recorded }: CallState): Step {
  return recorded ? EXPIRE : REFUSE;
}
