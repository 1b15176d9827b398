/** Saves several entries on the person's own disk, one after another: folders as zips. */

import { ApiError } from "../../relay/api-error.ts";
import { runBatch } from "./batch.ts";
import type { PlacedAll } from "./dialog.ts";
import { downloadInMemory } from "./download.ts";
import { isFolder, isReadable } from "./entries.ts";

/** By way of memory: of several addresses that a page goes to at once, a browser saves only the last. */
export function downloadAll({ device, folder, entries }: PlacedAll): Promise<void> {
  return runBatch({
    ...{ device, entries, atOnce: 1, doing: "Downloading", done: "downloaded" },
    async work(entry) {
      if (!isFolder(entry) && !isReadable(entry)) throw nothingToSaveError(entry.type);
      await downloadInMemory({ device, folder, entry });
    },
  });
}

function nothingToSaveError(type: string): ApiError {
  return new ApiError(409, { detail: `This is a ${type}, not a file: there is no content to save.` });
}
