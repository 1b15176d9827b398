/** What is said of a path that leads to nothing: names that are spelled alike, or the one that cannot be spelled. */

import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { nearestName } from "@matrx/shared/effects.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { toolName } from "../core/tool-names.ts";
import { plainSpelling } from "../text/sniff.ts";
import { shellName, shownName, textOfName } from "./display-name.ts";

export interface NotFound {
  /** As in messages. */
  readonly shown: string;
  /** The last folder of the path that exists, as in messages. */
  readonly existing: string;
  /** The path of the folder that should hold `name`; undefined: it is not there, or is closed to the caller. */
  readonly folder: string | undefined;
  readonly name: string;
}

const MOST_SUGGESTIONS = 3;
const MOST_NAMES = 5000;

export async function notFound(what: NotFound, join: (...parts: string[]) => string): Promise<MatrxError> {
  const { folder, name, shown, existing } = what;
  const names = folder === undefined ? [] : await namesIn(folder);
  const odd = names.find((bytes) => !isUtf8(bytes) && isMeant(bytes, name));
  if (odd) return notUtf8(shown, shellName(odd));
  const alike = namesLike(
    name,
    names.filter((bytes) => isUtf8(bytes)).map((bytes) => bytes.toString("utf8")),
  );
  const suggestions = folder === undefined ? [] : alike.map((other) => join(folder, other));
  const also = suggestions.map(shownName).join(" or ");
  return toolError("NOT_FOUND", `${shown} does not exist${also && `. Did you mean ${also}?`}`, {
    hint:
      folder === undefined
        ? `Only ${existing} exists; look there with ${toolName("ListDirectory")}`
        : `Look with ${toolName("ListDirectory")}`,
    details: { path: shown, ...(suggestions.length > 0 && { suggestions }) },
  });
}

async function namesIn(folder: string): Promise<Buffer[]> {
  const names = await readdir(folder, { encoding: "buffer" }).catch(() => []);
  return names.slice(0, MOST_NAMES);
}

/** As the listing shows it, or with the mark that stands for what could not be decoded. */
function isMeant(bytes: Buffer, name: string): boolean {
  return name === textOfName(bytes) || name === bytes.toString("utf8");
}

/** First those that look the same, with other quotes, spaces or accents. */
function namesLike(name: string, from: readonly string[]): string[] {
  const wanted = plainSpelling(name);
  const found = from.filter((other) => plainSpelling(other) === wanted).slice(0, MOST_SUGGESTIONS);
  const names = new Set(from.filter((other) => !found.includes(other)));
  // Among all names of a folder, two letters make no short one near.
  const mistakes = Math.max(1, Math.floor(name.length / 3));
  while (found.length < MOST_SUGGESTIONS) {
    const next = nearestName(name, names, mistakes);
    if (next === undefined) break;
    found.push(next);
    names.delete(next);
  }
  return found;
}

function notUtf8(shown: string, spelled: string): MatrxError {
  return toolError(
    "INVALID_PARAMETERS",
    `The name of ${shown} is not UTF-8, so file tools cannot address it`,
    {
      hint: `Rename it with ${toolName("Bash")}, in its folder: mv -- ${spelled} NEW-NAME`,
      details: { path: shown, shell_name: spelled },
    },
  );
}
