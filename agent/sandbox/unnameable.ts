/**
 * Names that are not UTF-8. A sandbox covers what is closed by its path, and there is none for these: where something closed
 * has such a name, or lies in a folder that has one, no command may run.
 */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, lstatSync, openSync, readdirSync } from "node:fs";
import path from "node:path";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { isRepository } from "../fs/git-folder.ts";
import { shownBytes } from "../text/display-name.ts";
import type { Question } from "./question.ts";

/** Entries in and below such folders of one folder: they are looked at before each command. */
const MOST_ENTRIES = 10_000;
/** What Node reads in place of bytes that are not UTF-8. */
const REPLACED = "\ufffd";

export function mayBeUnnameable(name: string): boolean {
  return name.includes(REPLACED);
}

/**
 * Looks behind the unnameable entries of a folder. `opened`: where the folder is surely found. Throws MatrxError if anything
 * closed, or that must stay as it is, is there.
 */
export function requireNameable(folder: string, opened: string, question: Question): void {
  const look = new Look(folder, question);
  for (const name of namesIn(opened)) if (!isUtf8(name)) look.behind(opened, name);
}

class Look {
  readonly #folder: string;
  readonly #question: Question;
  #left = MOST_ENTRIES;

  constructor(folder: string, question: Question) {
    this.#folder = folder;
    this.#question = question;
  }

  behind(opened: string, name: Buffer): void {
    if (this.#holdsClosed(opened, this.#folder, name)) throw unnameable(this.#folder, name);
  }

  #holdsClosed(opened: string, folder: string, name: Buffer): boolean {
    const place = Buffer.concat([Buffer.from(`${opened}/`), name]);
    const stat = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    if (!stat) return false;
    const where = path.posix.join(folder, name.toString());
    if (--this.#left < 0 || this.#isClosed(where, stat)) return true;
    return stat.isDirectory() && this.#isInside(place, where);
  }

  #isInside(place: Buffer, where: string): boolean {
    const descriptor = openSync(place, constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const opened = `/proc/self/fd/${descriptor}`;
      const names = namesIn(opened);
      const has = (entry: string) => names.some((name) => name.equals(Buffer.from(entry)));
      if (this.#question.keepsRepositories && isRepository(has)) return true;
      return names.some((name) => this.#holdsClosed(opened, where, name));
    } finally {
      closeSync(descriptor);
    }
  }

  #isClosed(where: string, stat: BigIntStats): boolean {
    const { closesPipes } = this.#question;
    if (stat.isSocket() || (closesPipes && stat.isFIFO())) return true;
    if (this.#question.isClosed(where) || this.#question.isUnchangeable(where)) return true;
    return stat.isFile() && stat.nlink > 1n && this.#question.kindOfFile(stat) !== undefined;
  }
}

function namesIn(opened: string): Buffer[] {
  return readdirSync(opened, { encoding: "buffer" });
}

function unnameable(folder: string, name: Buffer): MatrxError {
  const message = `Commands can't run while something closed has a name in ${folder} that is not UTF-8, or lies below one: ${shownBytes(name)}`;
  return agentError("UNAVAILABLE", message, {
    hint: "Ask the owner to rename it, or to grant another folder",
    details: { path: folder },
  });
}
