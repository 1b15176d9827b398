/** Where an agent listens for programs of its user on this machine. */
import { agentError } from "@matrx/shared/errors.ts";
import { currentPlatform } from "../platform/current.ts";

/** `agent` is the one that connects to a relay, `local` a `matrx serve` that may run beside it. */
export const CONTROL_NAMES = ["agent", "local"] as const;
export type ControlName = (typeof CONTROL_NAMES)[number];

/** The `Host` of every request, which no browser sends. */
export const CONTROL_HOST = "agent.matrx.invalid";

/** The path of a socket or pipe. Throws MatrxError if the system cannot have it. */
export function controlEndpoint(folder: string, name: ControlName): string {
  const endpoint = currentPlatform().controlEndpoint(folder, name);
  if (endpoint !== undefined) return endpoint;
  throw agentError("UNAVAILABLE", `The path of ${folder} is too long for a socket`, {
    hint: "Set MATRX_HOME to a folder with a shorter path; matrx pause and resume work anyway",
  });
}
