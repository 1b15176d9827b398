/** Names in a folder that is opened first, so that nothing put in its place meanwhile is read. */
import { readdir } from "node:fs/promises";
import type { Directory } from "../platform/directory.ts";

/** At most `most`, as bytes; none if the folder cannot be opened or read. */
export async function namesIn(open: () => Promise<Directory>, most: number): Promise<Buffer[]> {
  try {
    await using folder = await open();
    return (await readdir(folder.self, { encoding: "buffer" })).slice(0, most);
  } catch {
    return [];
  }
}
