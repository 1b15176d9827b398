/** Reads a patch in either of two formats: `*** Begin Patch`, or a unified diff as diff and git write it. */
import { BEGIN, badPatch } from "./bad-patch.ts";
import { readMarkedPatch } from "./begin-patch-format.ts";
import { type Line, linesOf, withPlainEnds } from "./line-ends.ts";
import type { FilePatch } from "./patch-types.ts";
import { readUnifiedDiff } from "./unified-format.ts";

/** Throws MatrxError `INVALID_PARAMETERS`. */
export function parsePatch(patch: string): FilePatch[] {
  if (!patch.isWellFormed()) throw badPatch("it contains half a character");
  const lines = patchLines(withoutCommand(patch));
  const first = lines.find(({ text }) => text.trim() !== "");
  const files = first?.text.trimStart().startsWith(BEGIN) ? readMarkedPatch(lines) : readUnifiedDiff(lines);
  if (files.length === 0) throw badPatch("it contains no changes");
  return files;
}

/** A command with the patch as its input: `apply_patch <<'EOF'`, lines, `EOF`. */
const COMMAND = /^\s*apply_?patch\s*<<-?\s*(["']?)(\w+)\1[ \t]*\r?\n(.*\n)\2\s*$/s;

function withoutCommand(patch: string): string {
  return COMMAND.exec(patch)?.[3] ?? patch;
}

/** Lines that say what is patched and do not belong to a file. */
const HEADER = /^(?:\*\*\* |--- |\+\+\+ |@@|diff --git )/;

/** A carriage return belongs to the file's line, unless the whole patch has them. */
function patchLines(patch: string): Line[] {
  const lines = linesOf(patch);
  const isOwn = lines.find(({ text }) => HEADER.test(text))?.end === "\r\n";
  const all = isOwn ? linesOf(withPlainEnds(patch)) : lines;
  // No line follows the last line end.
  return all.at(-1)?.text === "" ? all.slice(0, -1) : all;
}
