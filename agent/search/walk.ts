/** Walks through folders in order of their names' bytes. Each is opened by descriptors, and no link is followed. */
import { isUtf8 } from "node:buffer";
import { opendir } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import { textOfName } from "../paths/names.ts";
import type { Directory } from "../platform/directory.ts";
import type { Run } from "./engine.ts";
import { IgnoreRules } from "./ignore-rules.ts";

export interface Walked {
  /** Relative to the scope's folder, with `/` between names. */
  readonly path: Buffer;
  readonly type: "file" | "directory" | "symlink" | "other";
}

/** Entries of one folder; those beyond are left out, and counted. */
const MOST_ENTRIES = 250_000;
const BATCH = 256;
const DOT = 46;

/** Folders come before what is in them; `deep` false: only what stands in the folder itself. */
export async function* walk(run: Run, { deep }: { deep: boolean }): AsyncGenerator<Walked[], void> {
  const { scope, signal } = run;
  const rules = scope.above ?? IgnoreRules.none;
  const pending = await entriesOf(run, Buffer.alloc(0), rules);
  let batch: Walked[] = [];
  for (let next = pending.pop(); next && !signal.aborted; next = pending.pop()) {
    batch.push(next.entry);
    if (batch.length >= BATCH) {
      yield batch;
      batch = [];
    }
    if (next.entry.type !== "directory" || !deep) continue;
    for (const inside of await entriesOf(run, next.entry.path, next.rules)) pending.push(inside);
  }
  if (batch.length > 0) yield batch;
}

interface Pending {
  readonly entry: Walked;
  /** Of the folder that it stands in. */
  readonly rules: IgnoreRules;
}

/** The last one first. */
async function entriesOf(run: Run, relative: Buffer, above: IgnoreRules): Promise<Pending[]> {
  const { access, folder } = run.scope;
  const place = relative.length > 0 ? placeOf(run, relative) : folder;
  if (place === undefined) return [];
  let opened: Directory;
  try {
    if (place !== folder) access.checkCanonical(place);
    opened = await access.openFolder(place, place);
  } catch (error) {
    if (!(error instanceof MatrxError)) throw error;
    // What is closed to the caller is not there; what the system refuses is missed.
    if (error.details?.system_code === "EACCES" || error.details?.system_code === "EPERM")
      run.missed.unreadable++;
    return [];
  }
  try {
    return await listed(run, relative, place, opened, above);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    run.missed.unreadable++;
    return [];
  } finally {
    await opened.close();
  }
}

async function listed(run: Run, relative: Buffer, place: string, opened: Directory, above: IgnoreRules) {
  const { access, showHidden, includeIgnored, leftOut } = run.scope;
  const { sep, join } = access.platform.path;
  const rules = includeIgnored ? above : above.withThoseOf(opened, place, sep);
  const found: { name: Buffer; type: Walked["type"] }[] = [];
  // The encoding "buffer" is missing in the types of `opendir`.
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: 256 };
  for await (const entry of await opendir(opened.self, options)) {
    const name = entry.name as unknown as Buffer;
    if (!showHidden && name[0] === DOT) continue;
    const path = join(place, textOfName(name));
    const isFolder = entry.isDirectory();
    if (leftOut.includes(path)) continue;
    if (!includeIgnored && (name.equals(GIT) || rules.ignores(path, isFolder))) continue;
    if (found.length >= MOST_ENTRIES) {
      run.missed.crowded++;
      continue;
    }
    const type = isFolder
      ? "directory"
      : entry.isFile()
        ? "file"
        : entry.isSymbolicLink()
          ? "symlink"
          : "other";
    found.push({ name, type });
  }
  found.sort((a, b) => Buffer.compare(b.name, a.name));
  const prefix = relative.length > 0 ? Buffer.concat([relative, Buffer.from("/")]) : relative;
  return found.map(({ name, type }) => ({ entry: { path: Buffer.concat([prefix, name]), type }, rules }));
}

const GIT = Buffer.from(".git");

/** Undefined: a name on the way is no UTF-8, and cannot be opened by it. */
function placeOf({ scope, missed }: Run, relative: Buffer): string | undefined {
  if (isUtf8(relative)) return scope.access.platform.path.join(scope.folder, relative.toString("utf8"));
  missed.unreadable++;
  return undefined;
}
