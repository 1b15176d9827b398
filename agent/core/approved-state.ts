/** The state of what a call names: looked at for the question, and again when the approved call runs. */
import type { BigIntStats } from "node:fs";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Caller, Intent, PathNeed } from "./gate.ts";

export type PathKind = "missing" | "file" | "folder" | "link" | "other";

export interface PathState {
  /** Resolved: free of links, but for a link at the end that is meant itself. */
  readonly path: string;
  /** As the caller named it, made absolute. */
  readonly named: string;
  readonly intent: Intent;
  readonly kind: PathKind;
  /** Whether the same is done to all that is in a folder there. */
  readonly isWhole?: boolean | undefined;
  /** What the approval is bound to: the content of a file, the target of a link, the identity of what is too large to read. */
  readonly content?: string | undefined;
  /** Changes with every change, and is quick to check. */
  readonly stamp?: string | undefined;
}

/** Looks at the paths that a call needs. Throws MatrxError. */
export type PathLook = (
  paths: readonly PathNeed[],
  caller: Caller,
  signal: AbortSignal,
) => Promise<readonly PathState[]>;

/** Paths of what is in the folders that a call takes as a whole; undefined: not all of it can be known. Throws MatrxError. */
export type InsideLook = (
  states: readonly PathState[],
  caller: Caller,
  signal: AbortSignal,
) => Promise<readonly string[] | undefined>;

type Stat = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">;

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stat): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

/** Checked by tools at the moment of use, so that nothing is exchanged between the agent's look and theirs (TOCTOU). */
export class ApprovedState {
  readonly #cwd: string;
  readonly #stamps: ReadonlyMap<string, string | undefined>;

  constructor(cwd: string, paths: readonly PathState[]) {
    this.#cwd = cwd;
    this.#stamps = new Map(paths.map(({ path, stamp }) => [path, stamp]));
  }

  /** Throws MatrxError `CONFLICT` unless it is one of the approved paths. */
  checkPath(path: string, shown: string): void {
    if (!this.#stamps.has(path)) throw changedSinceApprovedError([shown]);
  }

  /** Throws MatrxError `CONFLICT` unless an approved path is still as it was; `stat` is undefined if nothing is there. */
  check(path: string, shown: string, stat: Stat | undefined): void {
    this.checkPath(path, shown);
    if (this.#stamps.get(path) !== (stat && stampOf(stat))) throw changedSinceApprovedError([shown]);
  }

  /** Throws MatrxError `CONFLICT` unless this is still the session's working directory. */
  checkCwd(cwd: string): void {
    if (cwd !== this.#cwd) throw changedSinceApprovedError(["the working directory"]);
  }
}

/** `changed` lists what is not as it was, in words; empty if that is not known. */
export function changedSinceApprovedError(changed: readonly string[]): MatrxError {
  const what = changed.length > 0 ? `: ${changed.slice(0, 5).join(", ")}` : "";
  return agentError("CONFLICT", `The call has changed since it was approved${what}. Nothing was run`, {
    hint: "Make the call again, to be asked about it as it is now",
    details: { reason: "changed_since_approved", changed: changed.slice(0, 20) },
  });
}
