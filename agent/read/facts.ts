/** What is told of every file that is read. */
import type { OpenFile } from "../fs/open-file.ts";

export function factsOf({ place, stat }: OpenFile) {
  return { path: place.path, size: Number(stat.size), mtime: new Date(Number(stat.mtimeMs)).toISOString() };
}
