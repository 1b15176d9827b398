/** Lists a folder sorted by name, a page at a time; a huge folder is never in memory as a whole. */
import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { lstat, opendir, readlink } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { textOfName } from "../text/display-name.ts";
import { isSystemError, systemCodeOf } from "./errors.ts";
import { fileTime } from "./file-time.ts";

export interface Entry {
  readonly name: string;
  readonly type: "file" | "directory" | "symlink" | "fifo" | "socket" | "device" | "unknown";
  readonly size?: number;
  readonly mtime?: string;
  /** The target of a symlink, as written in it. */
  readonly target?: string;
  /** The target's type; absent if it does not exist, or cannot be seen. */
  readonly target_type?: Entry["type"];
  /** Why nothing is known of the target, unless it does not exist: `ELOOP` for links that lead back to themselves. */
  readonly target_error?: string;
  /** The caller may not look at the target. */
  readonly target_closed?: true;
  /** Why no more is known, such as `EACCES`. */
  readonly error?: string;
  /** The bytes of a name that is not UTF-8, in base64: file tools cannot address it, and `name` is only for display. */
  readonly name_base64?: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** Entries after this page. */
  readonly remaining: number;
  readonly total: number;
}

interface Wanted {
  readonly showHidden: boolean;
  readonly limit: number;
  /** List only names after this one. */
  readonly after: string | undefined;
  /** Entries that it returns false for are left out, and not counted. */
  readonly maySee: (name: string) => boolean;
  /** What a symlink of this name leads to; undefined if nothing is there. Throws MatrxError. */
  readonly lookBeyond: (name: string) => Promise<BigIntStats | undefined>;
  readonly signal: AbortSignal;
}

/** Options of `opendir` for names as bytes; the encoding "buffer" is missing in its types. */
export const AS_BYTES = { encoding: "buffer" as BufferEncoding, bufferSize: 256 };

/** How many entries to stat concurrently. */
const AT_ONCE = 32;

interface Name {
  readonly shown: string;
  readonly bytes: Buffer;
}

export async function listFolder(folder: Directory, wanted: Wanted): Promise<EntryPage> {
  const { names, following, total } = await firstNames(folder, wanted);
  const entries: Entry[] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) {
    wanted.signal.throwIfAborted();
    const some = names.slice(from, from + AT_ONCE);
    entries.push(...(await Promise.all(some.map((name) => entryOf(folder, name, wanted)))));
  }
  return { entries, remaining: following - names.length, total };
}

/** The first names after the cursor, collected in a list that is truncated whenever it is twice as long as needed. */
async function firstNames(folder: Directory, { showHidden, limit, after, maySee, signal }: Wanted) {
  let names: Name[] = [];
  let total = 0;
  let following = 0;
  for await (const entry of await opendir(folder.self, AS_BYTES)) {
    const bytes = entry.name as unknown as Buffer;
    if (!showHidden && bytes[0] === DOT) continue;
    const shown = textOfName(bytes);
    if (!maySee(shown)) continue;
    total++;
    if (after !== undefined && shown <= after) continue;
    following++;
    names.push({ shown, bytes });
    if (names.length >= 2 * limit + 1000) {
      signal.throwIfAborted();
      names = sorted(names).slice(0, limit);
    }
  }
  return { names: sorted(names).slice(0, limit), following, total };
}

const DOT = 46;

/** Sorts by code units, which is the same everywhere, so that cursors stay valid. */
function sorted(names: Name[]): Name[] {
  return names.sort((a, b) => (a.shown < b.shown ? -1 : a.shown > b.shown ? 1 : 0));
}

async function entryOf(
  folder: Directory,
  { shown: name, bytes }: Name,
  { lookBeyond }: Wanted,
): Promise<Entry> {
  const readable = isUtf8(bytes);
  const odd = readable ? {} : { name_base64: bytes.toString("base64") };
  const path = readable ? folder.at(name) : folder.entry(bytes);
  try {
    const found = await lstat(path, { bigint: true });
    const type = typeOf(found);
    const facts = { size: Number(found.size), mtime: fileTime(found.mtimeMs).toISOString() };
    if (type !== "symlink") return { name, type, ...facts, ...odd };
    const beyond = readable ? await beyondLink(() => lookBeyond(name)) : { target_closed: true as const };
    return { name, type, ...facts, target: await readlink(path), ...beyond, ...odd };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { name, type: "unknown", error: error.code, ...odd };
  }
}

async function beyondLink(
  look: () => Promise<BigIntStats | undefined>,
): Promise<Pick<Entry, "target_type" | "target_error" | "target_closed">> {
  try {
    const found = await look();
    return found ? { target_type: typeOf(found) } : {};
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    const code = systemCodeOf(error);
    if (code === undefined && error.code === "PERMISSION_DENIED") return { target_closed: true };
    // Too many links that lead to nothing have no code of the system.
    if (code === undefined) return { target_error: "ELOOP" };
    return code === "ENOENT" || code === "ENOTDIR" ? {} : { target_error: code };
  }
}

function typeOf(found: BigIntStats): Entry["type"] {
  if (found.isDirectory()) return "directory";
  if (found.isSymbolicLink()) return "symlink";
  if (found.isFile()) return "file";
  if (found.isFIFO()) return "fifo";
  if (found.isSocket()) return "socket";
  return found.isCharacterDevice() || found.isBlockDevice() ? "device" : "unknown";
}
