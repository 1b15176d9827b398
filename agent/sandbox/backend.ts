/** A way to run a command in a sandbox. */
import type { Wrapped } from "../platform/platform.ts";
import type { SandboxRules } from "./rules.ts";

export interface SandboxBackend {
  readonly name: string;
  /** `proxy`: the socket of a proxy to the domains of the rules. Throws MatrxError if it cannot enforce the rules. */
  wrap(command: readonly string[], rules: SandboxRules, proxy?: string): Wrapped;
}
