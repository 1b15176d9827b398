/**
 * Searches granted folders for what a sandboxed command must not reach there: paths that a glob closes, other names of
 * Matrx's own files, sockets and pipes of other programs. A folder is read again only if it changed.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import { entryStat } from "../fs/entry-stat.ts";
import { TimeSlice } from "../platform/time-slice.ts";
import type { Question } from "./question.ts";
import { ageing, type Entries, type Folder, identityOf, readFolder, stateOf } from "./read-folder.ts";

/** Limit on the folders of one search. */
const MOST_FOLDERS = 200_000;
/** Folders that keep changing are read again for at least this long, in milliseconds, and this many times: a slow machine reads few. */
const UNREST_MS = 40;
const UNREST_ROUNDS = 16;
/** Questions whose folders are remembered. */
const KEPT_QUESTIONS = 4;

export interface Found extends Entries {
  /** The folders in which they were found: their identities, by path. */
  readonly folders: ReadonlyMap<string, string>;
}

export class ClosedEntries {
  readonly #folders = new Map<string, ReadonlyMap<string, Folder>>();
  readonly #most: number;

  constructor(most = MOST_FOLDERS) {
    this.#most = most;
  }

  /** Throws MatrxError if there are too many entries to check them before each command. */
  async find(roots: readonly string[], question: Question): Promise<Found> {
    const search = new Search(question, this.#folders.get(question.key), this.#most);
    await search.walk(roots);
    await search.untilQuiet();
    this.#remember(question.key, search.quiet);
    const { closed, unchangeable, holders } = search;
    return { closed: [...closed], unchangeable: [...unchangeable], folders: holders };
  }

  #remember(key: string, folders: ReadonlyMap<string, Folder>): void {
    this.#folders.delete(key);
    this.#folders.set(key, folders);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > KEPT_QUESTIONS && oldest !== undefined) this.#folders.delete(oldest);
  }
}

class Search {
  readonly closed = new Set<string>();
  readonly unchangeable = new Set<string>();
  /** Folders with any of them: identities, by path. */
  readonly holders = new Map<string, string>();
  /** Folders whose content is known as long as their state is the same. */
  readonly quiet = new Map<string, Folder>();
  /** Those that changed just now may change again without showing it. */
  readonly #lively = new Map<string, Folder>();
  /** Folders that were read, by identity: their folders, and where those were looked at. */
  readonly #read = new Map<string, { readonly folders: readonly string[]; readonly places: Set<string> }>();
  /** Folders that were gone, with the states of those around them. */
  readonly #doubted = new Set<string>();
  readonly #slice = new TimeSlice();
  readonly #question: Question;
  readonly #known: ReadonlyMap<string, Folder> | undefined;
  readonly #most: number;

  constructor(question: Question, known: ReadonlyMap<string, Folder> | undefined, most: number) {
    this.#question = question;
    this.#known = known;
    this.#most = most;
  }

  async walk(roots: readonly string[]): Promise<void> {
    const pending = [...roots];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      if (this.#slice.isUp) await this.#slice.rest();
      const stat = this.#look(folder);
      if (stat?.isDirectory()) pending.push(...this.#open(folder, stat));
      else this.#doubt(folder);
      if (this.#read.size > this.#most) throw tooMany(roots);
    }
  }

  /**
   * A folder that another command moves while this one searches could be in none of the places when they are read. So those
   * that change are read again, and what turned up in them is searched, until all are quiet or it takes too long.
   */
  async untilQuiet(): Promise<void> {
    const until = performance.now() + UNREST_MS;
    let rounds = 0;
    for (let changing = this.#changing(); changing.length > 0; changing = this.#changing()) {
      rounds++;
      for (const { folder, stat } of changing) await this.walk(this.#unread(this.#open(folder, stat)));
      if (rounds >= UNREST_ROUNDS && performance.now() > until) return;
      await sleep(1);
    }
  }

  /** What can't be looked at now, because a command changes modes, is closed. */
  #look(folder: string): BigIntStats | undefined {
    try {
      return lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EACCES") this.closed.add(folder);
      return undefined;
    }
  }

  #open(folder: string, stat: BigIntStats): readonly string[] {
    const remembered = this.#known?.get(folder);
    const content =
      remembered?.state === stateOf(stat) ? remembered : readFolder(folder, stat, this.#question);
    // Otherwise it was moved, and so may have been what of it was looked at by its path.
    const isSame = content === remembered || stateOf(entryStat(folder)) === content.state;
    if (isSame) this.#read.set(content.identity, { folders: content.folders, places: new Set([folder]) });
    if (isSame && content.isQuiet) this.#calm(folder, content);
    else this.#stir(folder, isSame ? content : { ...content, isSettled: false });
    const { closed, unchangeable, identity } = content;
    if (closed.length + unchangeable.length > 0) this.holders.set(folder, identity);
    for (const entry of closed) this.closed.add(entry);
    for (const entry of unchangeable) this.unchangeable.add(entry);
    return content.folders;
  }

  /**
   * A folder is gone: it was removed, or one around it was moved since that was read. Where nothing around it changes, once: a
   * name that is not UTF-8 leads nowhere, and so may a mount.
   */
  #doubt(gone: string): void {
    const around: [string, Folder][] = [];
    for (let folder = path.posix.dirname(gone); ; folder = path.posix.dirname(folder)) {
      const content = this.quiet.get(folder) ?? this.#lively.get(folder);
      if (!content) break;
      around.push([folder, content]);
    }
    const stats = around.map(([folder]) => entryStat(folder));
    const doubt = [gone, ...stats.map(stateOf)].join("\n");
    if (this.#doubted.has(doubt)) return;
    if (stats.every((stat) => stat && ageing(stat).isQuiet)) this.#doubted.add(doubt);
    for (const [folder, content] of around) this.#stir(folder, { ...content, isSettled: false });
  }

  #calm(folder: string, content: Folder): void {
    this.#lively.delete(folder);
    this.quiet.set(folder, content);
  }

  #stir(folder: string, content: Folder): void {
    this.quiet.delete(folder);
    this.#lively.set(folder, content);
  }

  /** Those that were not read yet, and of those that were read elsewhere, before they were moved, what was not. */
  #unread(folders: readonly string[]): string[] {
    const unread: string[] = [];
    const pending = [...folders];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      const read = this.#read.get(identityOf(entryStat(folder)));
      if (!read) unread.push(folder);
      else if (!read.places.has(folder)) {
        read.places.add(folder);
        for (const inner of read.folders) pending.push(path.posix.join(folder, path.posix.basename(inner)));
      }
    }
    return unread;
  }

  #changing(): { readonly folder: string; readonly stat: BigIntStats }[] {
    return [...this.#lively].flatMap(([folder, { state, isSettled }]) => {
      const stat = entryStat(folder);
      if (!stat?.isDirectory()) return [];
      return isSettled && state === stateOf(stat) ? [] : [{ folder, stat }];
    });
  }
}

function tooMany(roots: readonly string[]): MatrxError {
  return agentError("UNAVAILABLE", "The granted folders are too large to check them before a command runs", {
    hint: `Ask the owner for smaller folders than ${roots.slice(0, 4).join(", ")}`,
    details: { folders: roots.slice(0, 64) },
  });
}
