/**
 * The protected set: Matrx's own files, by every path that leads there, whatever the policy
 * (docs/decisions/0010-protected-set.md).
 */
import type { BigIntStats } from "node:fs";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Mounts } from "../platform/mounts.ts";
import type { KernelView, Platform } from "../platform/platform.ts";
import { toolName } from "../text/tool-names.ts";
import { FileIndex } from "./file-index.ts";
import { ProtectedPlaces } from "./protected-places.ts";

/** Absolute paths, which need not exist yet. */
export interface ProtectedPaths {
  /** Configuration, state, credentials, relay data: neither readable nor writable. */
  readonly closed: readonly string[];
  /** Programs and their packages: readable by all, writable only by callers that may run any program anyway. */
  readonly program: readonly string[];
}

/** File indexes kept between checks. */
export type ProtectedFiles = Readonly<Record<keyof ProtectedPaths, FileIndex>>;

export function newProtectedFiles(): ProtectedFiles {
  return { closed: new FileIndex(), program: new FileIndex() };
}

/** What a call does: look, change or create what is there, or replace it. */
export type Use = "look" | "change" | "replace";

export class ProtectedSet {
  readonly #platform: Platform;
  readonly #mounts: Mounts;
  readonly #closed: ProtectedPlaces;
  readonly #program: ProtectedPlaces;

  /** Reflects the present state: links and mounts may have changed since the last check. */
  constructor({ closed, program }: ProtectedPaths, platform: Platform, files = newProtectedFiles()) {
    const mounts = platform.mounts();
    this.#platform = platform;
    this.#mounts = mounts;
    this.#closed = new ProtectedPlaces(closed, platform, mounts, files.closed);
    this.#program = new ProtectedPlaces(program, platform, mounts, files.program);
  }

  /** Throws MatrxError `PERMISSION_DENIED`. */
  check(canonical: string, shown: string, use: Use): void {
    const view = this.#platform.kernelView(this.#mounts.usualPath(canonical));
    if (view) throw kernelView(shown, view);
    if (this.#closed.holds(canonical)) throw closed(shown);
    if (use === "look") return;
    if (this.#program.holds(canonical)) throw program(shown);
    if (use === "change") return;
    if (this.#closed.liesWithin(canonical)) throw leadsThere(shown, "one of Matrx's own folders");
    if (this.#program.liesWithin(canonical)) throw leadsThere(shown, "the Matrx program");
  }

  /** All paths of the set. */
  get paths(): ProtectedPaths {
    return { closed: this.#closed.all, program: this.#program.all };
  }

  /** Whether this directory or file is protected under another name, and how. */
  kindOf(found: BigIntStats): keyof ProtectedPaths | undefined {
    if (this.#closed.is(found)) return "closed";
    return this.#program.is(found) ? "program" : undefined;
  }

  /** Closed paths inside a folder. */
  inside(folder: string): string[] {
    return this.#closed.inside(folder);
  }

  /** Throws MatrxError `PERMISSION_DENIED` if this directory or file is closed, under whatever name. */
  inspect(found: BigIntStats, shown: string): void {
    if (this.#closed.is(found)) throw closed(shown);
  }

  /** As `inspect`, for a file that is about to be changed. */
  inspectChange(found: BigIntStats, shown: string): void {
    this.inspect(found, shown);
    if (this.#program.is(found)) throw program(shown);
  }
}

const OWN_HINT = "Use the matrx command on the device itself";

function closed(path: string): MatrxError {
  return denied(path, "OWN", `${path} belongs to Matrx itself and is off limits to all tools`, OWN_HINT);
}

function program(path: string): MatrxError {
  const message = `${path} is part of the Matrx program; only callers who may run any program can change it`;
  const hint = `Use the owner's own token, without folder limits and with ${toolName("Bash")}; or change it on the device`;
  return denied(path, "PROGRAM", message, hint);
}

function leadsThere(path: string, where: string): MatrxError {
  return denied(path, "OWN", `${path} leads to ${where} and can't be replaced`, OWN_HINT);
}

function kernelView(path: string, view: KernelView): MatrxError {
  const [what, hint] = {
    process: ["the inside of a process", `Use ${toolName("ListProcesses")}, or ${toolName("Bash")} with ps`],
    kernel: ["kernel or firmware memory", "Look at it on the device itself"],
  }[view];
  return denied(path, "SYSTEM", `${path} shows ${what} and is off limits to file tools`, hint);
}

function denied(path: string, reason: string, message: string, hint = OWN_HINT): MatrxError {
  return toolError("PERMISSION_DENIED", message, { hint, details: { path, reason } });
}
