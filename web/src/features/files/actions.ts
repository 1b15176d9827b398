/** What changes a machine's files. Each is one call of a tool, made once. */

import { callTool } from "../../calls/call-tool.ts";
import { ApiError } from "../../relay/api-error.ts";
import { confirmed } from "../../ui/confirm.ts";
import { say } from "../../ui/notices.ts";
import { nameInText } from "../../ui/visible-text.ts";
import { runBatch } from "./batch.ts";
import type { Placed, PlacedAll } from "./dialog.ts";
import type { Entry } from "./entries.ts";
import { joined, parentOf } from "./paths.ts";
import { inWords, trashQuestion } from "./several.ts";
import { type Deleted, noteUndo } from "./undo.ts";
import { forgetFolder } from "./use-folder.ts";

/** Entries that are changed at the same time. */
const AT_ONCE = 4;

/** Throws ApiError. */
export async function makeFolder(device: string, folder: string, name: string): Promise<void> {
  checkName(name);
  const input = { path: joined(folder, name), recursive: false };
  const { metadata } = await callTool(device, { name: "create_directory", effect: "write" }, input);
  if (metadata.created === false) throw takenError(name);
  forgetFolder(device, folder);
}

/** Folders below a folder, with those above them. Throws ApiError at the first that can't be made. */
export async function makeTree(device: string, folder: string, below: readonly string[]): Promise<void> {
  try {
    for (const path of below)
      await callTool(
        device,
        { name: "create_directory", effect: "write" },
        { path: joined(folder, path), recursive: true },
      );
  } finally {
    forgetFolder(device, folder);
  }
}

/** Throws ApiError: also if something has that name. */
export async function rename({ device, folder, entry }: Placed, name: string): Promise<void> {
  checkName(name);
  await move(device, joined(folder, entry.name), joined(folder, name));
  forgetFolder(device, folder);
}

/** Into another folder, under the same name. Throws ApiError. */
export async function moveInto({ device, folder, entry }: Placed, to: string): Promise<void> {
  await move(device, joined(folder, entry.name), joined(to, entry.name));
  forgetFolder(device, folder);
  forgetFolder(device, to);
}

/** The same of several. Says what fails. */
export async function moveAllInto({ device, folder, entries }: PlacedAll, to: string): Promise<void> {
  await runBatch({
    ...{ device, entries, atOnce: AT_ONCE, doing: "Moving", done: "moved" },
    work: ({ name }) => move(device, joined(folder, name), joined(to, name)),
  });
  forgetFolder(device, folder);
  forgetFolder(device, to);
}

async function move(device: string, source: string, destination: string): Promise<void> {
  const input = { source, destination, create_directories: false };
  await callTool(device, { name: "Move", effect: "write" }, input);
}

/** Asks first, and offers to take it back where the machine tells where it put them. Says what fails. */
export async function deleteEntries({ device, folder, entries }: PlacedAll): Promise<void> {
  if (!(await confirmed({ text: trashQuestion(entries), yes: "Move to trash" }))) return;
  const deleted: Deleted[] = [];
  const untold: Entry[] = [];
  await runBatch({
    ...{ device, entries, atOnce: AT_ONCE, doing: "Deleting", done: "moved to the trash" },
    // The offer to put them back says so, and a message would lie over it.
    isTold: true,
    async work(entry) {
      const { name, type } = entry;
      const path = joined(folder, name);
      const tool = { name: "Delete", effect: "execute" } as const;
      const { metadata } = await callTool(device, tool, { path, recursive: type === "directory" });
      const { trash_path: trash } = metadata;
      if (typeof trash === "string") deleted.push({ device, path, trash, name });
      else untold.push(entry);
    },
  });
  forgetFolder(device, folder);
  if (deleted.length > 0) noteUndo(deleted);
  if (untold.length > 0) say(`In the trash: ${inWords(untold)}. To restore it, go to the machine.`);
}

/** Puts back what was moved to the trash; what can't be put back stays to be tried again. Throws ApiError. */
export async function restoreAll(deleted: readonly Deleted[]): Promise<void> {
  const left: Deleted[] = [];
  let problem: unknown;
  for (const one of deleted)
    try {
      await move(one.device, one.trash, one.path);
      forgetFolder(one.device, parentOf(one.path) ?? "/");
    } catch (error) {
      left.push(one);
      problem = error;
    }
  noteUndo(left);
  if (left.length > 0) throw problem;
}

/** What people type is a name, not a path. Throws ApiError. */
export function checkName(name: string): void {
  if (name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name)) return;
  throw new ApiError(0, { detail: "That can't be a name.", hint: "A name has no slash, and is not . or .." });
}

function takenError(name: string): ApiError {
  return new ApiError(409, { detail: `${nameInText(name)} is already there.`, hint: "Choose another name." });
}
