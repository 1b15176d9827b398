/** A way to run a command in a sandbox. */
import type { Wrapped } from "../platform/platform.ts";
import type { SandboxRules } from "./rules.ts";

/** What a command gets besides what the rules name. */
export interface Surroundings {
  /** The socket of a proxy to the domains of the rules. */
  readonly proxy?: string | undefined;
  /** Set for a command on a terminal of its own, which no program outside shares. */
  readonly terminal?: { readonly scripts: string } | undefined;
}

/** Where commands on terminals find the folder `scripts`. */
export const SCRIPTS_INSIDE = "/run/shell";

export interface SandboxBackend {
  readonly name: string;
  /** Throws MatrxError if it cannot enforce the rules. */
  wrap(command: readonly string[], rules: SandboxRules, surroundings?: Surroundings): Wrapped;
}
