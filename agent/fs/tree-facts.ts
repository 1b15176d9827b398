/** Counts what is in a folder, and identifies it, so that an approval to delete it is bound to what is there. */
import { createHash, type Hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { stampOf } from "../core/approved-state.ts";
import type { Directory } from "../platform/directory.ts";
import { shownBytes } from "../text/display-name.ts";
import { AS_BYTES } from "./list-folder.ts";
import { MOST_DEPTH } from "./remove-tree.ts";

/** Beyond this many entries, a folder is not counted further. */
const ENTRIES_MAX = 10_000;
const NAMES_SHOWN = 10;

export interface TreeFacts {
  /** Folders within, without the folder itself. */
  readonly folders: number;
  /** Everything that is not a folder. */
  readonly files: number;
  /** Bytes of all files. */
  readonly bytes: number;
  /** Some entries of the folder itself, in order of their names. */
  readonly names: readonly string[];
  /** Whether there is more than was counted. */
  readonly isCut: boolean;
  /** Differs if the entries that were counted differ, or have been changed. */
  readonly digest: string;
}

interface Counting {
  folders: number;
  files: number;
  bytes: number;
  isCut: boolean;
  readonly names: string[];
  readonly digest: Hash;
  readonly inspect: (stat: BigIntStats) => void;
  readonly signal: AbortSignal;
}

/** Throws the system's error, or what `inspect` throws. */
export async function treeFactsOf(
  parent: Directory,
  name: string,
  { inspect, signal }: Pick<Counting, "inspect" | "signal">,
): Promise<TreeFacts> {
  const counting: Counting = {
    ...{ folders: 0, files: 0, bytes: 0, isCut: false, names: [], digest: createHash("sha256") },
    ...{ inspect, signal },
  };
  await count(parent, Buffer.from(name), counting, 0);
  const { folders, files, bytes, isCut, names, digest } = counting;
  return { folders, files, bytes, isCut, names, digest: digest.digest("hex") };
}

async function count(parent: Directory, name: Buffer, counting: Counting, depth: number): Promise<void> {
  await using folder = await parent.openFolder(name, counting.inspect);
  for (const entry of await entriesOf(folder, counting)) {
    counting.signal.throwIfAborted();
    if (counting.folders + counting.files >= ENTRIES_MAX || depth >= MOST_DEPTH) {
      counting.isCut = true;
      return;
    }
    const stat = await lstat(folder.entry(entry), { bigint: true });
    if (depth === 0 && counting.names.length < NAMES_SHOWN) counting.names.push(shownBytes(entry));
    counting.digest.update(JSON.stringify([depth, entry.toString("latin1"), stampOf(stat)]));
    if (stat.isDirectory()) {
      counting.folders++;
      await count(folder, entry, counting, depth + 1);
    } else {
      counting.files++;
      counting.bytes += Number(stat.size);
    }
  }
}

/** In a fixed order; more than are counted need not be sorted. */
async function entriesOf(folder: Directory, counting: Counting): Promise<Buffer[]> {
  const entries: Buffer[] = [];
  for await (const entry of await opendir(folder.self, AS_BYTES)) {
    entries.push(entry.name as unknown as Buffer);
    if (entries.length > ENTRIES_MAX) {
      counting.isCut = true;
      break;
    }
  }
  return entries.sort(Buffer.compare);
}
