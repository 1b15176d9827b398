/**
 * The state machine of an approval, as a pure function. It alone ensures that a parked call is released only after a yes,
 * and at most once. The call itself waits in the phase `parked` of `call-state.ts`.
 */

export type Stage =
  /** The device is asked whether a person must be asked. */
  | "preparing"
  /** A person is asked. */
  | "pending"
  /** Somebody said yes, or nobody need be asked; the call has not been sent yet. */
  | "allowed"
  | "sent"
  | "denied"
  | "expired"
  /** The call ended before anybody decided. */
  | "cancelled";

export type ApprovalEvent =
  /** The device says that a person must be asked, ... */
  | "asks"
  /** ... or that nobody need be; or the same call was allowed for an hour. */
  | "passes"
  | "allow"
  | "deny"
  | "expire"
  /** The call ended: cancelled, revoked, refused, its device removed. */
  | "drop"
  /** Its caller is gone, and can't ask for it later. */
  | "desert"
  /** The device is connected, and everything was checked again. */
  | "send"
  /** The device says that the call never arrived. */
  | "return";

export interface ApprovalStep {
  /** Absent: the event does nothing. */
  readonly to?: Stage;
  /** Release the call to the device, or answer it. */
  readonly call?: "release" | "refuse";
}

const STAY: ApprovalStep = {};

const STEPS: Readonly<Record<Stage, Readonly<Partial<Record<ApprovalEvent, ApprovalStep>>>>> = {
  preparing: { asks: { to: "pending" }, passes: { to: "allowed" }, drop: { to: "cancelled" } },
  pending: {
    allow: { to: "allowed" },
    deny: { to: "denied", call: "refuse" },
    expire: { to: "expired", call: "refuse" },
    drop: { to: "cancelled" },
    desert: { to: "cancelled", call: "refuse" },
  },
  allowed: {
    send: { to: "sent", call: "release" },
    expire: { to: "expired", call: "refuse" },
    drop: { to: "cancelled" },
  },
  sent: { return: { to: "allowed" } },
  denied: {},
  expired: {},
  cancelled: {},
};

/** The step that an event takes an approval through. */
export function next(stage: Stage, event: ApprovalEvent): ApprovalStep {
  return STEPS[stage][event] ?? STAY;
}

/** Whether the call still waits. */
export function isOpen(stage: Stage): boolean {
  return stage === "preparing" || stage === "pending" || stage === "allowed";
}
