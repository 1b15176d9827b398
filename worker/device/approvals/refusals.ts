/** What callers and people are told about approvals. */
import { type ErrorShape, type MatrxError, relayError } from "@matrx/shared/errors.ts";
import { LIMITS } from "@matrx/shared/limits.ts";
import { visibleText } from "@matrx/shared/question.ts";
import type { ApprovalRow } from "../ledger/approval-rows.ts";
import { isDeserted } from "../ledger/parked.ts";

const AT_MACHINE = "The owner allows this only at the machine itself";

/** The answer to a call that a person denied; the note is the person's word to its caller. */
export function denied(note: string | undefined): ErrorShape {
  return {
    code: "APPROVAL_DENIED",
    message: note ? `The owner denied this call: ${visibleText(note)}` : "The owner denied this call",
    hint: "Don't send it again unchanged; ask the owner what to do instead",
    hop: "relay",
    ...(note && { details: { note: visibleText(note) } }),
  };
}

export function undecided(): ErrorShape {
  return {
    code: "APPROVAL_EXPIRED",
    message: "Nobody allowed this call in time: it did not run",
    hint: "Send it again when the owner is there to decide",
    hop: "relay",
  };
}

export function allowedTooLate(): ErrorShape {
  return {
    code: "APPROVAL_EXPIRED",
    message: "The owner allowed this call, but the device did not come back in time: it did not run",
    hint: "Send it again when the device is online",
    hop: "relay",
  };
}

/** For its record: nobody is left to read it. */
export function deserted(): ErrorShape {
  return {
    code: "CANCELLED",
    message: "Its caller left before anybody decided, and had no way to ask for it later: it did not run",
    hint: "Give calls an idempotency key, or a name of your own, to come back for them",
    hop: "relay",
  };
}

export function notPrepared(): ErrorShape {
  return {
    code: "TIMEOUT",
    message: "The device did not say in time whether the owner must be asked: the call did not run",
    hint: "Send it again",
    hop: "relay",
  };
}

/** A device that cannot ask anybody at its side. */
export function nobodyThere(): ErrorShape {
  return {
    code: "APPROVAL_DENIED",
    message: `${AT_MACHINE}, and the program on this device can't ask there`,
    hint: "Run the current Matrx agent on the device, or change `ask` in its policy",
    hop: "relay",
  };
}

export function unusablePreparation(): ErrorShape {
  return {
    code: "INVALID_ANSWER",
    message: "The device asks about this call, but doesn't say what it would do: it did not run",
    hint: "Update the agent on the device",
    hop: "relay",
  };
}

export function tooLargeToAsk(): MatrxError {
  return relayError(
    "PAYLOAD_TOO_LARGE",
    "The input is too large for a call that the owner must allow first",
    {
      hint: "Send it in parts",
      details: { limit_bytes: LIMITS.approvalInputBytes },
    },
  );
}

export function tooManyWaiting(whose: "token" | "device", limit: number): MatrxError {
  return relayError("RATE_LIMITED", `This ${whose} already has ${limit} calls that wait for the owner`, {
    hint: "Wait until they are decided, or cancel some",
    details: { limit },
  });
}

export function noSuchApproval(): MatrxError {
  return relayError("NOT_FOUND", "No such approval on this device", {
    hint: "GET /v1/approvals lists those that wait for a decision",
  });
}

/** A second answer: the first one holds. */
export function alreadyOver(row: ApprovalRow): MatrxError {
  const { stage, decided_by, id } = row;
  const isDecided = decided_by !== null && stage !== "expired" && stage !== "cancelled";
  const how = stage === "denied" ? "denied" : "allowed";
  const message = isDecided
    ? `${decided_by} has already ${how} this call`
    : stage === "expired"
      ? expiredBecause(decided_by)
      : isDeserted(row)
        ? "The caller is gone: nothing ran, and nothing is left to decide"
        : "The call is over: nothing is left to decide";
  return relayError("CONFLICT", message, {
    hint: "The first answer counts; the caller can send the call again",
    details: { approval: id, state: stage === "sent" ? "allowed" : stage, ...(isDecided && { decided_by }) },
  });
}

function expiredBecause(decided_by: string | null): string {
  return decided_by === null
    ? "Nobody decided in time: this approval has expired"
    : "This call was allowed, but the device did not come back in time: it did not run";
}

export function beingDecided(): MatrxError {
  return relayError("CONFLICT", "Somebody else is deciding on this call right now", {
    hint: "Look again in a moment",
  });
}

export function onlyAtMachine(): MatrxError {
  return relayError("PERMISSION_DENIED", `${AT_MACHINE}, not from elsewhere`, {
    hint: "Run `matrx approvals --here` on that machine",
  });
}

/** Only the policy can lift what the policy asks. */
export function askedByPolicy(tool: string): MatrxError {
  return relayError("CONFLICT", `The device's policy asks about ${tool}, so this token can't be excepted`, {
    hint: "Allow the call once, or change `ask` in the device's policy",
    details: { tool },
  });
}

/** What was asked about as a call that only reads may be sent twice. */
export function nowActs(tool: string): MatrxError {
  return relayError("INVALID_PARAMETERS", `input: the call of ${tool} only reads, and would no longer`, {
    hint: "Leave that as it was, or deny the call with a note that says what to send",
    details: { field: "input" },
  });
}
