/** Lists a folder breadth-first until there are enough entries, so that upper levels are complete first. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { systemCodeOf } from "../fs/errors.ts";
import { type Entry, type EntryPage, listFolder } from "../fs/list-folder.ts";
import { lookBeyond } from "../fs/look-beyond.ts";
import type { Directory } from "../platform/directory.ts";
import { isWithin } from "../platform/path-syntax.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import type { Scope } from "./scope.ts";

export interface TreeNode {
  readonly name: string;
  readonly type: Entry["type"];
  readonly size?: number;
  /** Where a symlink points. */
  readonly target?: string;
  /** Why it, or what is in it, could not be read, such as `EACCES`. */
  error?: string;
  /** Sorted by name; absent if a directory is not listed. */
  children?: TreeNode[];
  /** At most how many entries are missing from `children`: entries that would be left out anyway are counted too. */
  more?: number;
}

export interface TreeWish {
  /** Levels below the folder. */
  readonly depth: number;
  readonly most: number;
  readonly signal: AbortSignal;
}

export interface Tree {
  readonly root: TreeNode;
  /** Entries in all. */
  readonly entries: number;
  /** Why some directories are not listed completely. */
  readonly stopped: "max_entries" | "time" | undefined;
}

interface Pending {
  readonly node: TreeNode;
  /** Canonical. */
  readonly path: string;
  /** Of the folder that contains it. */
  readonly rules: IgnoreRules;
  readonly level: number;
  readonly siblings: TreeNode[];
}

export async function growTree(scope: Scope, { depth, most, signal }: TreeWish): Promise<Tree> {
  const root: TreeNode = { name: scope.folder, type: "directory" };
  const first = { node: root, path: scope.folder, rules: scope.above ?? IgnoreRules.none };
  const pending: Pending[] = [{ ...first, level: 0, siblings: [] }];
  let room = most;
  let isCut = false;
  for (const next of pending) {
    isCut ||= room <= 0;
    if (isCut || signal.aborted) break;
    const below = await listed(scope, next, room, signal);
    if (!below) continue;
    const { node, level } = next;
    const children = below.entries.map(nodeOf);
    room -= children.length;
    node.children = children;
    if (below.remaining > 0) {
      node.more = below.remaining;
      isCut = true;
    }
    if (level + 1 >= depth) continue;
    for (const child of children) {
      const path = scope.access.platform.path.join(next.path, child.name);
      if (child.type !== "directory" || isLeftOut(scope, path)) continue;
      pending.push({ node: child, path, rules: below.rules, level: level + 1, siblings: children });
    }
  }
  const stopped = signal.aborted ? "time" : isCut ? "max_entries" : undefined;
  return { root, entries: most - room, stopped };
}

/** Undefined if its contents must not be revealed, or the system refuses. */
async function listed(
  scope: Scope,
  { node, path, rules, siblings }: Pending,
  room: number,
  signal: AbortSignal,
) {
  const { access } = scope;
  let opened: Directory | undefined;
  try {
    access.checkCanonical(path);
    opened = await access.openFolder(path, path);
    const own = scope.includeIgnored ? rules : rules.withThoseOf(opened, path, access.platform.path.sep);
    const pathOf = (name: string) => access.platform.path.join(path, name);
    const maySee = (name: string) => !access.isClosed(pathOf(name));
    const beyond = (name: string) => lookBeyond(access, pathOf(name));
    const { showHidden } = scope;
    const wanted = { showHidden, limit: room, after: undefined, maySee, lookBeyond: beyond, signal };
    const page = await listFolder(opened, wanted);
    return { ...allowed(scope, path, page, own), rules: own };
  } catch (error) {
    const code = systemCodeOf(error);
    if (signal.aborted) return undefined;
    if (code === undefined) {
      if (!(error instanceof MatrxError)) throw error;
      // Closed to the caller under whatever name: not even its existence is revealed.
      const place = siblings.indexOf(node);
      if (place >= 0) siblings.splice(place, 1);
    } else node.error = code;
    return undefined;
  } finally {
    await opened?.close();
  }
}

function allowed(scope: Scope, folder: string, page: EntryPage, rules: IgnoreRules): EntryPage {
  const entries = page.entries.filter(({ name, type }) => {
    const path = scope.access.platform.path.join(folder, name);
    if (!scope.access.mayReadCanonical(path)) return false;
    return scope.includeIgnored || !(name === ".git" || rules.ignores(path, type === "directory"));
  });
  return { ...page, entries };
}

function isLeftOut({ access, leftOut }: Scope, path: string): boolean {
  return leftOut.some((closed) => isWithin(path, closed, access.platform));
}

function nodeOf({ name, type, size, target, error }: Entry): TreeNode {
  return {
    name,
    type,
    ...(type === "file" && size !== undefined && { size }),
    ...(target !== undefined && { target }),
    ...(error !== undefined && { error }),
  };
}
