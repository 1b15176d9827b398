/** Saves a file, or a folder as a zip, on the person's own disk. */

import { savedAddress } from "../../data/file-address.ts";
import { ApiError } from "../../relay/api-error.ts";
import { openWhole } from "../../relay/file-bytes.ts";
import { say } from "../../ui/notices.ts";
import { saveFile } from "../../ui/save-file.ts";
import { nameInText } from "../../ui/visible-text.ts";
import type { Placed } from "./dialog.ts";
import { isFolder } from "./entries.ts";
import { joined } from "./paths.ts";

/** Without the service worker, and of several, all of it has to be in memory first; so much may be, in bytes. */
const MOST_IN_MEMORY = 256 * 1024 * 1024;

/** Throws ApiError. */
export async function download({ device, folder, entry }: Placed): Promise<void> {
  const address = savedAddress({ device, path: joined(folder, entry.name) });
  if (address !== undefined) return follow(address);
  say(`Downloading ${nameInText(entry.name)} …`);
  await downloadInMemory({ device, folder, entry }, FIRST_VISIT);
}

/** Throws ApiError: also if it is too large, with what to do about it. */
export async function downloadInMemory({ device, folder, entry }: Placed, hint = ALONE): Promise<void> {
  if ((entry.size ?? 0) > MOST_IN_MEMORY) throw tooLargeError(hint);
  const file = { device, path: joined(folder, entry.name) };
  const response = await openWhole(file, new AbortController().signal);
  saveFile(isFolder(entry) ? `${entry.name}.zip` : entry.name, await bounded(response, hint));
}

/** The browser saves what comes from there, as it comes: the page stays. */
function follow(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.click();
}

/** Throws ApiError when there is more than memory is for: a folder does not say how much it is. */
async function bounded(response: Response, hint: string): Promise<Blob> {
  const parts: BlobPart[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) return new Blob(parts);
    length += value.length;
    if (length > MOST_IN_MEMORY) {
      await reader?.cancel();
      throw tooLargeError(hint);
    }
    parts.push(value);
  }
}

const FIRST_VISIT = "Reload the page, then download it again; in a private window, use matrx cp.";
const ALONE = "Download it on its own.";

function tooLargeError(hint: string): ApiError {
  return new ApiError(0, { detail: "This is too large to download through the page's memory.", hint });
}
