/** The error for a path that does not exist: suggests similar names, or explains a name that cannot be written as text. */
import { isUtf8 } from "node:buffer";
import { nearestName } from "@matrx/shared/effects.ts";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { Directory } from "../platform/directory.ts";
import { plainSpelling } from "../text/confusables.ts";
import { shellName, shownName, textOfName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";
import { namesIn } from "./names-in.ts";

export interface NotFound {
  /** The path, for messages. */
  readonly shown: string;
  /** The deepest existing folder of the path, for messages. */
  readonly existing: string;
  /** The folder that should contain `name`; undefined if it does not exist, or is closed to the caller. */
  readonly folder: string | undefined;
  readonly name: string;
  readonly openFolder: (folder: string) => Promise<Directory>;
  /** Whether the caller may know of an entry of that folder. */
  readonly maySee: (name: string) => boolean;
}

const MOST_SUGGESTIONS = 3;
const MOST_NAMES = 5000;

export async function notFound(what: NotFound, join: (...parts: string[]) => string): Promise<MatrxError> {
  const { folder, name, shown, existing, openFolder, maySee } = what;
  const all = folder === undefined ? [] : await namesIn(() => openFolder(folder), MOST_NAMES);
  const names = all.filter((one) => maySee(textOfName(one)));
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

/** Whether `name` is how the listing shows these bytes, or has replacement characters for undecodable ones. */
function isMeant(bytes: Buffer, name: string): boolean {
  return name === textOfName(bytes) || name === bytes.toString("utf8");
}

/** First names that look the same, but with other quotes, spaces or accents. */
function namesLike(name: string, from: readonly string[]): string[] {
  const wanted = plainSpelling(name);
  const found = from.filter((other) => plainSpelling(other) === wanted).slice(0, MOST_SUGGESTIONS);
  const names = new Set(from.filter((other) => !found.includes(other)));
  // Short names must differ in fewer letters: in a whole folder, too many would be near.
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
