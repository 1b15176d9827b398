/** An entry of the record in words. */
import type { Tone } from "../../../ui/Status.tsx";
import { tellingOf } from "../../../ui/telling-input.ts";
import type { Entry, EntryType } from "./entries.ts";

/** What kinds of entries are called. */
export const KINDS: Readonly<Record<EntryType, string>> = {
  call: "Calls",
  denied: "Refused calls",
  approval: "Approvals",
  grant: "Tokens and shares",
  policy: "Permissions of machines",
  device: "Machines",
  session: "Sign-ins",
  passkey: "Passkeys",
  recovery_codes: "Recovery codes",
  invite: "Invites and accounts",
  pause: "Stops of all AI",
  gap: "Gaps",
  pruned: "Deleted for age",
};

const CALL_STATES = {
  success: { tone: "ok", text: "Done" },
  error: { tone: "bad", text: "Failed" },
  cancelled: { tone: "idle", text: "Cancelled" },
  expired: { tone: "warn", text: "Out of time" },
  unknown: { tone: "warn", text: "Outcome unknown" },
  running: { tone: "info", text: "Running" },
} as const satisfies Record<string, { tone: Tone; text: string }>;

const APPROVAL_STATES = {
  pending: { tone: "warn", text: "Asked" },
  allowed: { tone: "ok", text: "Allowed" },
  denied: { tone: "bad", text: "Denied" },
  expired: { tone: "idle", text: "Nobody answered" },
  cancelled: { tone: "idle", text: "Withdrawn" },
} as const satisfies Record<string, { tone: Tone; text: string }>;

/** How it came out; undefined: there is nothing to come out. A newer relay may say what is not known here. */
export function stateOf(entry: Entry): { tone: Tone; text: string } | undefined {
  if (entry.type === "call") return CALL_STATES[entry.status] ?? { tone: "idle", text: entry.status };
  if (entry.type === "denied") return { tone: "bad", text: "Refused" };
  if (entry.type === "approval") return APPROVAL_STATES[entry.state] ?? { tone: "idle", text: entry.state };
  return undefined;
}

const ACTIONS: Readonly<Record<string, string>> = {
  signed_in: "signed in",
  signed_out: "signed out",
};

/** What happened, on one line. */
export function wordsOf(entry: Entry): string {
  switch (entry.type) {
    case "call":
    case "denied":
      return `${entry.tool ?? "A call"}${codeOf(entry)}`;
    case "approval":
      return entry.summary;
    case "grant":
      return `${entry.credential === "guest" ? "Share" : "Token"} ${entry.action}: ${entry.name}`;
    case "device":
      return `Machine ${entry.action}: ${entry.name}`;
    case "session":
      return `${entry.name} ${ACTIONS[entry.action] ?? entry.action}`;
    case "policy":
      return "Permissions of a machine changed";
    case "passkey":
      return `Passkey ${entry.action}: ${entry.name}`;
    case "invite":
      return entry.action === "closed"
        ? `Account closed: ${entry.name}`
        : `Invite ${entry.action}: ${entry.name}`;
    case "recovery_codes":
      return "Recovery codes made anew";
    case "pause":
      return entry.paused ? "All AI stopped everywhere" : "AI may act again";
    case "gap":
      return "Calls that only read may be missing here";
    case "pruned":
      return `Entries up to ${entry.until} were deleted because of their age`;
    default:
      return (entry as Entry).type;
  }
}

/** What it was about, as the machine or the caller wrote it. */
export function subjectOf(entry: Entry): string | undefined {
  if (entry.type !== "call" && entry.type !== "denied") return undefined;
  return tellingOf(entry.input ?? {});
}

function codeOf(entry: Extract<Entry, { type: "call" | "denied" }>): string {
  const times = entry.type === "denied" && (entry.times ?? 1) > 1 ? `, ${entry.times} times` : "";
  const isPlain = entry.type === "call" && entry.status === "cancelled";
  return `${entry.code && !isPlain ? ` (${entry.code})` : ""}${times}`;
}
