/** A way to run a command in a sandbox. */
import type { Wrapped } from "../platform/platform.ts";
import type { SandboxRules } from "./rules.ts";

export interface SandboxBackend {
  readonly name: string;
  /** Throws MatrxError if it cannot enforce these rules. */
  wrap(command: readonly string[], rules: SandboxRules): Wrapped;
}
