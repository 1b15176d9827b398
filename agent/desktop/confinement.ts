/** Who may open and start anything, and who is held to documents and named applications. */
import { mayRunAnyProgram } from "@matrx/shared/policy.ts";
import type { Caller } from "../paths/files.ts";

/** Tells whether a caller may not run any program: then what is opened or started must not become one. */
export function isConfined({ grant, policy, relayPolicy }: Caller): boolean {
  return !mayRunAnyProgram(grant, [policy, ...(relayPolicy ? [relayPolicy] : [])]);
}
