/** Several entries in a sentence. */

import { plural } from "../../ui/format.ts";
import { nameInText } from "../../ui/visible-text.ts";
import type { Entry } from "./entries.ts";

/** The name of one; of more, how many they are. */
export function inWords(entries: readonly Pick<Entry, "name">[]): string {
  const [first] = entries;
  return first && entries.length === 1 ? nameInText(first.name) : plural(entries.length, "entry", "entries");
}

/** What somebody is asked before these go to the trash. */
export function trashQuestion(entries: readonly Entry[]): string {
  const folders = entries.filter(({ type }) => type === "directory").length;
  const [first] = entries;
  if (first && entries.length === 1) {
    const name = nameInText(first.name);
    return `Move ${folders === 1 ? `the folder ${name} with all that is in it` : name} to the trash of the machine?`;
  }
  const within =
    folders === 0 ? "" : ` ${plural(folders, "folder")} with all that is in ${folders === 1 ? "it" : "them"}`;
  return `Move ${inWords(entries)} to the trash of the machine?${within && ` Among them:${within}.`}`;
}
