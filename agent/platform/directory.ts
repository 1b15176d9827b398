/** An open directory, so that its entries are reached through it and not by its path. */
import { type BigIntStats, lstatSync, realpathSync } from "node:fs";
import path from "node:path";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";

export interface Directory extends AsyncDisposable {
  /** A path to the directory itself. */
  readonly self: string;
  /** A path to its entry of this name. */
  at(name: string): string;
  /** The same of a name's bytes, which need not be UTF-8. */
  entry(name: Buffer): Buffer;
  /** Opens a folder in it, which must not be a link. Close it. `inspect` throws to refuse it. */
  openFolder(name: Buffer, inspect: (stat: BigIntStats) => void): Promise<Directory>;
  /** Throws unless `opened` is still the entry of this name in this directory. */
  confirm(name: string, opened: BigIntStats): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a directory by its canonical path. `inspect` sees every directory on the way and throws to refuse one.
 * Throws MatrxError `PERMISSION_DENIED` if a link has appeared on the way since the path was resolved.
 */
export type OpenDirectory = (canonical: string, inspect: (stat: BigIntStats) => void) => Promise<Directory>;

/** For systems that cannot walk by descriptors: uses paths, and compares identities before and after. */
export const openByIdentity: OpenDirectory = async (canonical, inspect) => {
  const identity = inspectWay(canonical, inspect);
  return {
    self: canonical,
    at: (name) => path.join(canonical, name),
    entry: (name) => Buffer.concat([Buffer.from(canonical + path.sep), name]),
    openFolder: (name, inspectChild) => openByIdentity(path.join(canonical, name.toString()), inspectChild),
    async confirm(name, opened) {
      const now = inspectWay(canonical, inspect);
      const entry = lstatSync(path.join(canonical, name), { bigint: true });
      if (!same(now, identity) || !same(entry, opened)) throw pathChangedError(canonical);
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
};

/** Synchronous, as with descriptors and for the same reason. */
function inspectWay(canonical: string, inspect: (stat: BigIntStats) => void): BigIntStats {
  const root = path.parse(canonical).root;
  let place = root;
  let stat = lstatSync(root, { bigint: true });
  for (const name of canonical.slice(root.length).split(path.sep).filter(Boolean)) {
    place = path.join(place, name);
    stat = lstatSync(place, { bigint: true });
    if (!stat.isDirectory()) throw pathChangedError(canonical);
    inspect(stat);
  }
  if (realpathSync.native(canonical) !== canonical) throw pathChangedError(canonical);
  return stat;
}

function same(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

export function pathChangedError(canonical: string): MatrxError {
  return toolError(
    "PERMISSION_DENIED",
    `${canonical} changed while it was being opened: a folder was replaced by a link`,
    { hint: "Nothing was touched; look at the folder, then try again", details: { path: canonical } },
  );
}
