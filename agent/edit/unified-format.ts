/** Reads a unified diff as written by diff, git and models. */
import { toolName } from "../text/tool-names.ts";
import type { Line } from "./line-ends.ts";
import { badPatchError, type FilePatch, type Hunk, textOf } from "./patch-types.ts";
import { isFileHeader, readHunk } from "./unified-hunk.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function readUnifiedDiff(lines: readonly Line[]): FilePatch[] {
  const files: FilePart[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]?.text ?? "";
    const current = files.at(-1);
    if (line.startsWith("diff --git ")) {
      files.push(newPart(line.slice(11)));
      at++;
    } else if (isFileHeader(lines, at)) {
      const part = current && !current.hasNames && current.hunks.length === 0 ? current : newPart(undefined);
      if (part !== current) files.push(part);
      takeNames(part, line.slice(4), lines[at + 1]?.text.slice(4) ?? "");
      at += 2;
    } else if (line.startsWith("@@") && (current || RANGED.test(line))) {
      if (!current?.old || !current.now) throw badPatchError(NAMES_MISSING, at + 1);
      const { hunk, next } = readHunk(lines, at, current.hunks.length + 1);
      current.hunks.push(hunk);
      at = next;
    } else {
      if (current?.isGit && current.hunks.length === 0) takeExtended(current, line);
      at++;
    }
  }
  return files.map(filePatchOf);
}

const RANGED = /^@@ -\d/;
const NAMES_MISSING = '"---" and "+++" with the names of a file are missing';
const NOTHING = "/dev/null";

/** What the diff says about one file, collected line by line. */
interface FilePart {
  readonly isGit: boolean;
  /** As written, with git's prefix. */
  old: string | undefined;
  now: string | undefined;
  /** Whether `---` and `+++` lines gave them. */
  hasNames: boolean;
  /** The file did not exist before, or does not exist afterwards. */
  isNew: boolean;
  isGone: boolean;
  isRename: boolean;
  isCopy: boolean;
  isBinary: boolean;
  /** As git writes it, such as 100644. */
  newMode: string | undefined;
  modeChanges: boolean;
  readonly hunks: Hunk[];
}

/** `git` is the text after `diff --git`. */
function newPart(git: string | undefined): FilePart {
  return {
    isGit: git !== undefined,
    ...namesOfGit(git ?? ""),
    hasNames: false,
    isNew: false,
    isGone: false,
    isRename: false,
    isCopy: false,
    isBinary: false,
    newMode: undefined,
    modeChanges: false,
    hunks: [],
  };
}

/** Two names that differ only in their prefixes; git writes any others on separate lines. */
function namesOfGit(both: string): Pick<FilePart, "old" | "now"> {
  const quoted = /^("(?:\\.|[^"\\])*") ("(?:\\.|[^"\\])*")$/.exec(both);
  const half = (both.length - 1) / 2;
  const [old, now] = quoted
    ? [unquotedName(quoted[1] ?? ""), unquotedName(quoted[2] ?? "")]
    : [both.slice(0, half), both.slice(half + 1)];
  return old !== "" && old.slice(1) === now.slice(1) ? { old, now } : { old: undefined, now: undefined };
}

/** C escapes in quoted names, which git and GNU diff write for unusual names. */
const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Returns a name that is not quoted as it is. */
function unquotedName(name: string): string {
  const quoted = /^"((?:\\.|[^"\\])*)"$/.exec(name);
  if (!quoted) return name;
  const parts = (quoted[1] ?? "").matchAll(/\\([0-7]{3}|.)|[^\\]+/gs);
  return Buffer.concat(
    [...parts].map(([all, sign]) => (sign === undefined ? Buffer.from(all) : byteOf(sign))),
  ).toString();
}

/** `sign` is what follows the backslash. */
function byteOf(sign: string): Buffer {
  if (/^[0-7]{3}$/.test(sign)) return Buffer.from([Number.parseInt(sign, 8) & 0xff]);
  const code = ESCAPES[sign];
  return code === undefined ? Buffer.from(sign) : Buffer.from([code]);
}

function takeNames(part: FilePart, old: string, now: string): void {
  const [oldName = "", oldDate = ""] = old.split("\t");
  const [newName = "", newDate = ""] = now.split("\t");
  part.old = unquotedName(oldName.trimEnd());
  part.now = unquotedName(newName.trimEnd());
  part.hasNames = true;
  part.isNew ||= part.old === NOTHING || isEpoch(oldDate);
  part.isGone ||= part.now === NOTHING || isEpoch(newDate);
}

/** `diff -N` dates a missing file 1970-01-01. */
function isEpoch(date: string): boolean {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.0+)? ([+-]\d\d)(\d\d)$/.exec(date.trim());
  if (!found) return false;
  const [, day, time, hours, minutes] = found;
  return Date.parse(`${day}T${time}${hours}:${minutes}`) === 0;
}

const EXTENDED: readonly [RegExp, (part: FilePart, value: string) => void][] = [
  [
    /^rename from (.+)/,
    (part, name) => Object.assign(part, { old: `a/${unquotedName(name)}`, isRename: true }),
  ],
  [
    /^rename to (.+)/,
    (part, name) => Object.assign(part, { now: `b/${unquotedName(name)}`, isRename: true }),
  ],
  [/^copy to (.+)/, (part, name) => Object.assign(part, { now: `b/${unquotedName(name)}`, isCopy: true })],
  [/^new file mode (\d+)/, (part, newMode) => Object.assign(part, { newMode, isNew: true })],
  [/^deleted file mode (\d+)/, (part) => Object.assign(part, { isGone: true })],
  [/^new mode (\d+)/, (part, newMode) => Object.assign(part, { newMode, modeChanges: true })],
  [/^(?:Binary files .* differ|GIT binary patch)$/, (part) => Object.assign(part, { isBinary: true })],
];

function takeExtended(part: FilePart, line: string): void {
  for (const [pattern, take] of EXTENDED) {
    const found = pattern.exec(line);
    if (found) take(part, found[1] ?? "");
  }
}

function filePatchOf(part: FilePart): FilePatch {
  if (part.old === undefined || part.now === undefined) throw badPatchError(NAMES_MISSING);
  const names = namesOf(part.old, part.now, part.isGit);
  const shown = names.now === NOTHING ? names.old : names.now;
  if (part.isBinary) throw badPatchError(`the diff of ${shown} is binary; write the file in another way`);
  if (part.isCopy) throw badPatchError(`${shown} is a copy; make it with ${toolName("Bash")}, then patch it`);
  const { hunks } = part;
  if (part.isNew) {
    const mode = modeOf(part.newMode, shown);
    return { kind: "add", path: shown, content: addedContent(hunks), mode };
  }
  if (part.isGone) return { kind: "delete", path: names.old, hunks };
  const isProgram = part.modeChanges ? modeOf(part.newMode, shown) === PROGRAM : undefined;
  if (names.old !== names.now && !part.isRename) {
    throw badPatchError(
      `its names differ: ${names.old} and ${names.now}; only git's "rename from" moves a file`,
    );
  }
  if (hunks.length === 0 && !part.isRename && isProgram === undefined)
    throw badPatchError(`it changes nothing in ${names.now}`);
  const to = names.old === names.now ? undefined : names.now;
  return { kind: "update", path: names.old, to, hunks, isProgram };
}

/** Strips git's `a/` and `b/`, or the names of the two folders that were compared. */
function namesOf(old: string, now: string, isGit: boolean): { old: string; now: string } {
  const oneIsNothing = old === NOTHING || now === NOTHING;
  const isA = old.startsWith("a/") || old === NOTHING;
  const isB = now.startsWith("b/") || now === NOTHING;
  const isPrefixed = isA && isB && (isGit || oneIsNothing || old.slice(2) === now.slice(2));
  const isCompared = !isGit && !oneIsNothing && old !== now && belowFirst(old) === belowFirst(now);
  if (!isPrefixed && !isCompared) return { old, now };
  const without = (name: string) => (name === NOTHING ? name : (belowFirst(name) ?? name));
  return { old: without(old), now: without(now) };
}

/** Undefined if the name has no folder, or is absolute. */
function belowFirst(name: string): string | undefined {
  return /^[^/]+\/(.+)$/s.exec(name)?.[1];
}

const PROGRAM = 0o777;
const MODES: Readonly<Record<string, number>> = { "100644": 0o666, "100755": PROGRAM };

/** A file's mode, before the umask. */
function modeOf(written: string | undefined, name: string): number {
  const mode = MODES[written ?? "100644"];
  if (mode === undefined)
    throw badPatchError(
      `${name} would be no ordinary file (${written}); leave it out, and make it with ${toolName("Bash")}`,
    );
  return mode;
}

function addedContent(hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (lines.some(({ kind }) => kind !== "new"))
    throw badPatchError('a new file has only lines that begin with "+"');
  return textOf(lines, hunks.at(-1)?.endless.new ?? true);
}
