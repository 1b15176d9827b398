/** Reads a unified diff, as diff and git write it. */
import { parsePatch as parseUnified, type StructuredPatch, type StructuredPatchHunk } from "diff";
import { toolName } from "../tool-names.ts";
import { badPatch } from "./bad-patch.ts";
import type { FilePatch, Hunk, HunkLine } from "./patch.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function readUnifiedDiff(patch: string): FilePatch[] {
  return parsed(patch)
    .filter(({ hunks, oldFileName, newFileName }) => hunks.length > 0 || oldFileName || newFileName)
    .map(filePatchOf);
}

function parsed(patch: string): StructuredPatch[] {
  try {
    return parseUnified(patch);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badPatch(`it is no unified diff that can be read: ${why}`);
  }
}

const NOTHING = "/dev/null";

function filePatchOf(file: StructuredPatch): FilePatch {
  const { oldFileName: old, newFileName: now, isRename } = file;
  if (old === undefined || now === undefined)
    throw badPatch('"---" and "+++" with the names of a file are missing');
  const names = namesOf(old, now, file.isGit ?? false);
  refuseOthers(file, names.now);
  const hunks = file.hunks.map((hunk, index) => hunkOf(hunk, index + 1));
  if (old === NOTHING || file.isCreate) return { kind: "add", path: names.now, content: addedContent(hunks) };
  if (now === NOTHING || file.isDelete) return { kind: "delete", path: names.old, hunks };
  if (names.old !== names.now && !isRename) {
    throw badPatch(`its names differ: ${names.old} and ${names.now}; only git's "rename from" moves a file`);
  }
  if (hunks.length === 0 && !isRename) throw badPatch(`nothing is changed in ${names.now}`);
  return { kind: "update", path: names.old, to: names.old === names.now ? undefined : names.now, hunks };
}

/** Without the `a/` and `b/` that git puts before them. */
function namesOf(old: string, now: string, isGit: boolean): { old: string; now: string } {
  const hasPrefixes =
    (old.startsWith("a/") || old === NOTHING) &&
    (now.startsWith("b/") || now === NOTHING) &&
    (isGit || old.slice(2) === now.slice(2) || old === NOTHING || now === NOTHING);
  const without = (name: string) => (hasPrefixes && name !== NOTHING ? name.slice(2) : name);
  return { old: without(old), now: without(now) };
}

const PLAIN_MODE = "100644";

/** What this program would pass over in silence otherwise. */
function refuseOthers({ isBinary, isCopy, oldMode, newMode }: StructuredPatch, name: string): void {
  if (isBinary) throw badPatch(`${name} is binary there; write it in another way`);
  if (isCopy) throw badPatch(`${name} is a copy there; copy it with ${toolName("Bash")}, then patch it`);
  if (newMode !== undefined && newMode !== PLAIN_MODE && newMode !== oldMode) {
    throw badPatch(
      `it sets the mode of ${name} to ${newMode}; leave that out, and use ${toolName("Bash")} with chmod`,
    );
  }
}

const KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "same", "-": "old", "+": "new" };

function hunkOf({ lines, oldStart, oldLines }: StructuredPatchHunk, number: number): Hunk {
  const endless = { old: false, new: false };
  const read: HunkLine[] = [];
  for (const line of lines) {
    const mark = line.slice(0, 1);
    if (mark === "\\") {
      const last = read.at(-1)?.kind;
      if (last !== "new") endless.old = true;
      if (last !== "old") endless.new = true;
      continue;
    }
    read.push({ kind: KINDS[mark || " "] ?? "same", text: line.slice(1) });
  }
  return {
    name: `hunk ${number}`,
    lines: read,
    line: oldLines === 0 ? undefined : oldStart,
    headers: [],
    atEnd: endless.old || endless.new,
    endless,
  };
}

function addedContent(hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (lines.some(({ kind }) => kind !== "new"))
    throw badPatch('a new file has only lines that begin with "+"');
  const isEndless = hunks.at(-1)?.endless.new ?? true;
  return lines.map(({ text }) => text).join("\n") + (isEndless ? "" : "\n");
}
