/** File names as text: each on one line, unambiguous, and without characters that hide or reorder the text around them. */
import { isUtf8 } from "node:buffer";
import { MISLEADING } from "@matrx/shared/plain-names.ts";

/** A name or path as text; bytes that are not UTF-8 are written as `\xe9`. */
export function textOfName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return bytes.toString("latin1").replace(/[\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
}

const EACH_MISLEADING = new RegExp(MISLEADING, "gu");

/** A name or path for display: quoted as in JSON if it could mislead, so that one line stays one name. */
export function shownName(name: string): string {
  const isPlain = name.isWellFormed() && !MISLEADING.test(name) && !/^["\s]|\s$/u.test(name);
  return isPlain ? name : quotedName(name);
}

export function quotedName(name: string): string {
  return withoutMisleading(JSON.stringify(name));
}

/** One line of text with misleading characters escaped, except tabs. */
export function withoutMisleading(text: string): string {
  return text.replace(EACH_MISLEADING, (character) => (character === "\t" ? character : unitsOf(character)));
}

function unitsOf(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

/** As `shownName`, for bytes: also quotes a name that only looks as if it had invalid bytes. */
export function shownBytes(bytes: Buffer): string {
  const text = textOfName(bytes);
  if (!isUtf8(bytes)) return MISLEADING.test(text) ? quotedName(text) : text;
  return /\\x[0-9a-f]{2}/.test(text) ? quotedName(text) : shownName(text);
}

/** A name quoted for Bash, whatever its bytes: `$'caf\xe9'`. */
export function shellName(bytes: Buffer): string {
  const text = bytes
    .toString("latin1")
    .replace(/[^\x20-\x7e]|['\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `$'${text}'`;
}
