/** Names of files as text: each on one line, no two alike, and nothing in them that hides or turns the text around them. */
import { isUtf8 } from "node:buffer";
import { MISLEADING } from "@matrx/shared/plain-names.ts";

/** A name, or a path; bytes of one that is no UTF-8 are written as `\xe9`. */
export function textOfName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return bytes.toString("latin1").replace(/[\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}

const EACH_MISLEADING = new RegExp(MISLEADING, "gu");

/** A name or path as shown: quoted as in JSON when it would mislead, so that one line stays one name. */
export function shownName(name: string): string {
  const isPlain = name.isWellFormed() && !MISLEADING.test(name) && !/^["\s]|\s$/u.test(name);
  return isPlain ? name : quotedName(name);
}

export function quotedName(name: string): string {
  return withoutMisleading(JSON.stringify(name));
}

/** Text of one line in which all that would mislead is written out; tabs stay. */
export function withoutMisleading(text: string): string {
  return text.replace(EACH_MISLEADING, (character) => (character === "\t" ? character : unitsOf(character)));
}

function unitsOf(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

/** As `shownName`, of bytes: a name that only looks as if it had bytes that are no UTF-8 is quoted too. */
export function shownBytes(bytes: Buffer): string {
  const text = textOfName(bytes);
  if (!isUtf8(bytes)) return MISLEADING.test(text) ? quotedName(text) : text;
  return /\\x[0-9a-f]{2}/.test(text) ? quotedName(text) : shownName(text);
}

/** A name as Bash reads it, whatever its bytes: `$'caf\xe9'`. */
export function shellName(bytes: Buffer): string {
  const text = bytes
    .toString("latin1")
    .replace(/[^\x20-\x7e]|['\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `$'${text}'`;
}
