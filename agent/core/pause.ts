/** A pause: somebody at this machine closed it, to every caller or to AI grants. */
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Paused } from "@matrx/shared/paused.ts";

/** Why a call is refused while the machine is paused. */
export function pausedError(paused: Paused): MatrxError {
  const closedTo = paused === "everyone" ? "all callers" : "AI grants";
  return agentError("PERMISSION_DENIED", `This machine is paused: its user closed it to ${closedTo}`, {
    hint: "Only somebody at the machine can open it again, by running there: matrx resume",
    details: { reason: "PAUSED", paused },
  });
}
