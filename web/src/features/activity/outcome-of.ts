/** How the wait for a decision ended, in words. */
import type { ApprovalView } from "@matrx/shared/approval.ts";
import { visibleLine } from "../../ui/visible-text.ts";

/** By whom and how, in a sentence without its period. `isMine`: this page decided. */
export function outcomeOf(
  { state, for: reach, edited, decided_by: by, note, caller_gone }: ApprovalView,
  isMine: boolean,
): string {
  const who = isMine ? "You" : visibleLine(by ?? "Somebody");
  if (state === "expired")
    return by === null
      ? "Expired: nobody decided in time"
      : `${who} allowed it, but the machine did not come back in time: it did not run`;
  if (caller_gone) return "Withdrawn: the caller is gone, and nothing ran";
  if (state === "cancelled")
    return by === null
      ? "Over: the call ended before anybody decided"
      : `${who} allowed it, but the call ended before it ran`;
  if (state === "denied") return `${who} denied it${note ? `: ${visibleLine(note)}` : ""}`;
  if (edited) return `${who} allowed it with changes`;
  if (reach === "hour") return `${who} allowed it for an hour`;
  if (reach === "always") return `${who} allowed it always`;
  return `${who} allowed it`;
}

/** What can still be done about it. */
export function afterwards({ state, for: reach }: ApprovalView, tool: string): string | undefined {
  if (state === "denied") return "It cannot be taken back: the AI was told, and may ask again.";
  if (state !== "allowed") return undefined;
  if (reach === "hour")
    return "It cannot be taken back: the same call is not asked about until the hour is over.";
  if (reach === "always")
    return `The call cannot be taken back. Edit the token to be asked about ${tool} again.`;
  return "It cannot be taken back. While it runs, you can cancel it.";
}
