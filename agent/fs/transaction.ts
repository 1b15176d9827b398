/** A transaction over several files: either all changes stay, or none. */
import { randomBytes } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { unlink } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { FileAccess, ResolvedPath } from "./access.ts";
import { explained } from "./errors.ts";
import { type OpenedEntry, OpenedFile } from "./file-handle.ts";
import { makeFolders, removeFolders } from "./make-folders.ts";
import { type Destination, renameNoReplace } from "./rename.ts";
import { PartlyWritten } from "./write-file.ts";

/** A file's state when the changes were prepared. */
export interface Before {
  readonly stat: BigIntStats;
  readonly bytes: Buffer;
}

/** Undo must not be aborted, whatever happens to the call. */
const NEVER = new AbortController().signal;

export class UndoableChanges {
  readonly #access: FileAccess;
  readonly #signal: AbortSignal;
  readonly #undo: { shown: string; act: () => Promise<void> }[] = [];
  readonly #finish: { shown: string; act: () => Promise<void> }[] = [];
  readonly #opened: OpenedFile[] = [];

  constructor(access: FileAccess, signal: AbortSignal) {
    this.#access = access;
    this.#signal = signal;
  }

  /** Creates a file and its missing folders; returns its stat. Throws MatrxError. */
  async make(place: ResolvedPath, bytes: Buffer, mode: number): Promise<BigIntStats> {
    await this.#makeFolders(place);
    const file = await this.#open(place);
    if (await file.entry()) throw existsError(place);
    const { stat: made } = await file.write(undefined, bytes, this.#signal, mode);
    this.#undoing(place, async () => {
      await file.confirm(made);
      await explained(place.shown, "remove", () => unlink(file.path));
    });
    return made;
  }

  /** Throws MatrxError `CONFLICT` if the file has changed. */
  async write(file: OpenedFile, { stat, bytes: old }: Before, bytes: Buffer): Promise<BigIntStats> {
    let written: BigIntStats;
    try {
      ({ stat: written } = await file.write(stat, bytes, this.#signal));
    } catch (error) {
      if (error instanceof Error && error.cause instanceof PartlyWritten) {
        this.#undoing(file.place, async () => void (await file.write(await file.entry(), old, NEVER)));
      }
      throw error;
    }
    this.#undoing(file.place, async () => void (await file.write(written, old, NEVER)));
    return written;
  }

  /** Gives everybody who may read the file the right to run it, or takes that right away. Throws MatrxError. */
  async setProgram(file: OpenedFile, { stat }: Before, isProgram: boolean): Promise<void> {
    this.#signal.throwIfAborted();
    await file.confirm(stat);
    const { shown } = file.place;
    const old = Number(stat.mode & 0o7777n);
    const mode = isProgram ? old | ((old & 0o444) >> 2) : old & ~0o111;
    const set = (bits: number) =>
      explained(shown, "change the mode of", async () => await file.setMode(await file.existing(), bits));
    await set(mode);
    this.#undoing(file.place, () => set(old));
  }

  /** Moves the file aside until the transaction is finished. */
  async remove(file: OpenedFile, { stat }: Before): Promise<void> {
    this.#signal.throwIfAborted();
    await file.confirm(stat);
    const aside = { parent: file.parent, name: `.matrx-${randomBytes(8).toString("hex")}.tmp` };
    const { shown } = file.place;
    await this.#rename(file.asEntry(stat), aside, shown);
    this.#undoing(file.place, () =>
      this.#rename({ place: file.place, ...aside, stat }, file.asEntry(stat), shown),
    );
    const path = aside.parent.at(aside.name);
    this.#finish.push({ shown, act: () => explained(shown, "delete", () => unlink(path)) });
  }

  /** Moves it to a free path, and creates the missing folders there. */
  async move(
    file: OpenedFile,
    { stat, bytes: old }: Before,
    to: ResolvedPath,
    bytes: Buffer,
  ): Promise<BigIntStats> {
    this.#signal.throwIfAborted();
    await file.confirm(stat);
    await this.#makeFolders(to);
    const moved = await this.#open(to);
    if (await moved.entry()) throw existsError(to);
    await this.#rename(file.asEntry(stat), moved.asEntry(stat), to.shown);
    this.#undoing(file.place, async () => {
      const now = await moved.existing();
      await this.#rename(moved.asEntry(now), file.asEntry(now), file.place.shown);
    });
    if (bytes.equals(old)) return stat;
    return await this.write(moved, { stat: await moved.existing(), bytes: old }, bytes);
  }

  /** Commits: nothing can be undone after this. Returns what could not be cleaned up. */
  async finish(): Promise<string[]> {
    return await runAll(this.#finish);
  }

  /** Undoes everything in reverse order. Returns what could not be undone. */
  async undo(): Promise<string[]> {
    return await runAll(this.#undo.reverse());
  }

  async close(): Promise<void> {
    for (const file of this.#opened) await file.close();
  }

  #undoing({ shown }: ResolvedPath, act: () => Promise<void>): void {
    this.#undo.push({ shown, act });
  }

  async #open(place: ResolvedPath): Promise<OpenedFile> {
    const file = await OpenedFile.open(this.#access, place);
    this.#opened.push(file);
    return file;
  }

  #rename(entry: OpenedEntry, to: Destination, shown: string): Promise<void> {
    return explained(shown, "move a file to", () => renameNoReplace(entry, to, this.#access.platform));
  }

  async #makeFolders(place: ResolvedPath): Promise<void> {
    const names = place.missing.slice(0, -1);
    if (names.length === 0) return;
    const made = await makeFolders(this.#access, this.#access.existingPart(place), names, place.shown);
    this.#undoing(place, () => removeFolders(this.#access, made, place.shown));
  }
}

/** Runs every action, even after failures. Returns what failed, with the reason. */
async function runAll(actions: readonly { shown: string; act: () => Promise<void> }[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { shown, act } of actions) {
    try {
      await act();
    } catch (error) {
      failed.push(`${shown} (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  return failed;
}

export function existsError(place: ResolvedPath): MatrxError {
  return toolError("CONFLICT", `${place.shown} already exists`, {
    hint: "Update it instead, or choose another name",
    details: { path: place.shown, reason: "exists" },
  });
}
