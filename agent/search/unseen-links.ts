/** What a search without results passed by: links, which it neither finds nor follows. */

import { lookBeyond } from "../fs/look-beyond.ts";
import { shownName, textOfName } from "../text/display-name.ts";
import { checkedEntries } from "./checked-files.ts";
import type { Run } from "./engine.ts";
import type { PathPattern } from "./path-pattern.ts";
import { walk } from "./walk.ts";

/** How long to look, in milliseconds. */
const LOOK_MS = 2000;

/** A note that begins like the rest of a sentence; empty if there are none. */
export async function linksNote(pattern: PathPattern, run: Run): Promise<string> {
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(LOOK_MS)]);
  let folder: string | undefined;
  for await (const { above, entries } of walk({ ...run, signal }, { deep: true, ordered: false })) {
    for (const { name, type } of entries) {
      if (type !== "symlink") continue;
      const relative = Buffer.concat([Buffer.from(above), name]);
      const path = textOfName(relative);
      const isMatch = pattern.matches(path);
      if (!isMatch && (folder !== undefined || !pattern.mayMatchBelow(path))) continue;
      const [link] = await checkedEntries([relative], run);
      if (!link) continue;
      if (isMatch) return `. A link does, and links are not found: ${shownName(path)}`;
      if (await leadsToFolder(textOfName(link.path), run)) folder = path;
    }
  }
  return folder === undefined ? "" : `. Links are not followed, such as ${shownName(folder)}`;
}

async function leadsToFolder(path: string, { scope }: Run): Promise<boolean> {
  return await lookBeyond(scope.access, path).then(
    (found) => found?.isDirectory() ?? false,
    () => false,
  );
}
