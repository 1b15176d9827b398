/** What a search of granted folders looks for. */
import type { BigIntStats } from "node:fs";
import type { ProtectedPaths } from "../fs/protected-paths.ts";

/** `key` tells apart questions with different answers. */
export interface Question {
  readonly key: string;
  isClosed(path: string): boolean;
  isUnchangeable(path: string): boolean;
  /** Whether what names programs in a repository is unchangeable, wherever that is. */
  readonly keepsRepositories: boolean;
  /** Whether pipes of other programs are closed, which a read-only mount leaves writable. */
  readonly closesPipes: boolean;
  /** What a file with more than one name is by another of them. */
  kindOfFile(stat: BigIntStats): keyof ProtectedPaths | undefined;
}
