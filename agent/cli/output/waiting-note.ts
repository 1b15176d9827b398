/** Says on stderr that a person is asked about a call. */
import type { CallApproval } from "@matrx/shared/approval.ts";
import { note, oneLine } from "./print.ts";

export function noteWaiting({ id, expires }: Pick<CallApproval, "id" | "expires">): void {
  const until = new Date(expires).toLocaleTimeString();
  note(`Waiting for approval ${oneLine(id)}, expires at ${until}: matrx approvals`);
}
