/** Frames of the account link, as they come: a newer or older relay may send what this page does not know. */
import type { ToPerson } from "@matrx/shared/account-frames.ts";
import type { ActivityEntry, StartedCall } from "@matrx/shared/activity.ts";

/** Undefined: it cannot be read, or lacks what this page needs of it. */
export function frameOf(data: unknown): ToPerson | undefined {
  try {
    const frame: unknown = JSON.parse(String(data));
    return isRecord(frame) && isKnown(frame) ? (frame as ToPerson) : undefined;
  } catch {
    return undefined;
  }
}

function isKnown({ type, pause, approval, calls, entries }: Readonly<Record<string, unknown>>): boolean {
  switch (type) {
    case "hello":
      return pause === undefined || isRecord(pause);
    case "paused":
      return isRecord(pause);
    case "approval":
      return isRecord(approval) && typeof approval.id === "string";
    case "running":
      return calls === null || (Array.isArray(calls) && calls.every(isStarted));
    case "activity":
      return Array.isArray(entries);
    default:
      return true;
  }
}

/** The entries of an `activity` frame that can be shown. */
export function knownEntries(entries: readonly unknown[]): ActivityEntry[] {
  return entries.filter((entry): entry is ActivityEntry => isStarted(entry) && TYPES.includes(entry.type));
}

const TYPES: readonly string[] = ["started", "finished", "refused"] satisfies ActivityEntry["type"][];

function isStarted(value: unknown): value is StartedCall {
  return isRecord(value) && typeof value.call === "string" && isRecord(value.grant) && isRecord(value.input);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
