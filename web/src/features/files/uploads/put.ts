/** Puts what a person chose or dropped on its way to a machine. */
import { plural } from "../../../ui/format.ts";
import { sayProblem } from "../../../ui/notices.ts";
import { nameInText } from "../../../ui/visible-text.ts";
import { makeTree } from "../actions.ts";
import type { Dropped } from "./dropped.ts";
import { addUploads, MOST, type Picked } from "./queue.ts";

/** Files into the queue. */
export function put(device: string, folder: string, picked: readonly Picked[]): void {
  const left = addUploads(device, folder, picked);
  if (left > 0)
    sayProblem(
      new Error(`At most ${MOST.toLocaleString()} files at once: ${left.toLocaleString()} were left out.`),
    );
}

/** Files into the queue; folders with nothing in them are made at once. Says what fails. */
export function putDropped(
  device: string,
  folder: string,
  { files, emptyFolders, unreadable }: Dropped,
): void {
  put(device, folder, files);
  if (emptyFolders.length > 0) makeTree(device, folder, emptyFolders).catch(sayProblem);
  const [first] = unreadable;
  if (first !== undefined)
    sayProblem(
      new Error(
        `The browser could not read ${nameInText(first)}${unreadable.length > 1 ? ` and ${plural(unreadable.length - 1, "other")}` : ""}.`,
      ),
    );
}
