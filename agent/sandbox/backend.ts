/** A way to run a command in a sandbox. */
import type { Wrapped } from "../platform/platform.ts";
import type { SandboxRules } from "./rules.ts";

/** A network that commands can share. */
export interface Network {
  /** The program, with arguments, that starts another one in it. */
  readonly enter: readonly string[];
  /** Whether a proxy is there, which leads to domains. */
  readonly hasProxy: boolean;
  /** Whether a command runs in it. */
  isUsed(): boolean;
  /** Resolves when nothing of it is left but what runs in it. */
  close(): Promise<void>;
}

/** What a command gets besides what the rules name. */
export interface Surroundings {
  /** Absent: a network of its own, with nothing in it. */
  readonly network?: Network | undefined;
  /** Set for a command on a terminal of its own, which no program outside shares. */
  readonly terminal?: { readonly scripts: string } | undefined;
}

/** Where commands on terminals find the folder `scripts`. */
export const SCRIPTS_INSIDE = "/run/shell";

export interface SandboxBackend {
  readonly name: string;
  /** Whether commands can make no socket to another program of this machine, also not in a folder that they see. */
  readonly closesSockets: boolean;
  /** Makes one; `proxy`: the socket of a way to domains. Undefined: it can't. Rejects with MatrxError. */
  makeNetwork(proxy: string | undefined): Promise<Network | undefined>;
  /** Throws MatrxError if it cannot enforce the rules. */
  wrap(command: readonly string[], rules: SandboxRules, surroundings?: Surroundings): Wrapped;
}
