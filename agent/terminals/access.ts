/** Who may have terminals. */
import { agentError } from "@matrx/shared/errors.ts";
import type { Rights } from "../core/gate.ts";

/** Terminals run outside the sandbox, so whose commands must run in it gets none. Throws MatrxError `PERMISSION_DENIED`. */
export function checkFree({ shell }: Pick<Rights, "shell">): void {
  if (shell === "free") return;
  throw agentError(
    "PERMISSION_DENIED",
    "This call's commands must run in the sandbox, and terminals do not run in it",
    {
      hint: "Run commands one by one with Bash; for a terminal, use the owner's token without limits on paths",
      details: { reason: "TERMINAL_NOT_CONFINED" },
    },
  );
}
