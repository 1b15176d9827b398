/** Edit: replaces text in a file. */
import { hash } from "node:crypto";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type PreviewContext, type ToolContext, type ToolResult } from "../core/tool.ts";
import { changedFile } from "../edit/changed-file.ts";
import { checkEditSize, shownText, type UnitText } from "../edit/code-units.ts";
import { checkSha256, sha256Schema } from "../edit/errors.ts";
import { changeInWords, fileDiff } from "../edit/file-diff.ts";
import { type ShownDiff, shownDiff } from "../edit/line-diff.ts";
import { endsOf } from "../edit/line-ends.ts";
import { type Edited, type Replacement, replaceIn } from "../edit/replace.ts";
import type { Files, ResolvedPath } from "../fs/access.ts";
import { OpenedFile } from "../fs/file-handle.ts";
import type { Written } from "../fs/write-file.ts";
import { TEXT_ENCODINGS } from "../text/encodings.ts";
import { toolName } from "../text/tool-names.ts";

const MOST_EDITS = 200;

const oldString = z.string().describe("Text to find");
const newString = z.string().describe("Text in its place");

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path"),
  old_string: oldString.optional(),
  new_string: newString.optional(),
  replace_all: z.boolean().optional().describe("Replace every occurrence (default false)"),
  expected_replacements: z
    .int()
    .min(1)
    .optional()
    .describe("Replace all occurrences, and only if there are exactly this many (default 1)"),
  edits: z
    .array(
      z.strictObject({
        old_string: oldString,
        new_string: newString,
        replace_all: z.boolean().optional().describe("Replace every occurrence of this one"),
      }),
    )
    .min(1)
    .max(MOST_EDITS)
    .optional()
    .describe(
      "Several edits at once, instead of old_string and new_string; each is matched against the original file, and all or none are applied",
    ),
  expected_sha256: sha256Schema
    .optional()
    .describe("Edit only if the file's current content has this SHA-256"),
  encoding: z.enum(TEXT_ENCODINGS).optional().describe("The file's encoding, if it can't be detected"),
});

type Input = z.infer<typeof input>;

export function editTool(files: Files) {
  return defineTool({
    name: "Edit",
    family: "files",
    effect: "write",
    confinable: true,
    description:
      "Replace old_string with new_string in a text file. Copy old_string from the file exactly, without line numbers. It must occur only once: add lines around it until it does, or set replace_all. Returns a diff; if it does not match, nothing is changed.",
    details:
      "Line ends need not match: \\n finds \\r\\n too, and the file keeps its own. Encoding, byte order mark, mode, owner and links are kept, and so is every byte outside the replaced text. Of a notebook, the text of its cells is changed, as `Read` shows it, or its JSON; its outputs stay, and it stays a notebook. Files up to 16 MiB. Give either old_string and new_string, or edits.",
    input,
    model: {
      prompt: "Find-and-replace in files (old_string must be unique)",
      omit: ["expected_replacements", "edits", "expected_sha256", "encoding"],
      require: ["old_string", "new_string"],
    },
    timeoutMs: 60_000,
    prepare: ({ file_path }) => ({ paths: [{ path: file_path, intent: "write" }] }),
    async preview(request, context) {
      const access = await files.as(context);
      const place = await access.findExisting(request.file_path, "write");
      await using file = await OpenedFile.open(access, place);
      const { text, edited } = await change(file, replacementsOf(request), request, context);
      const [before, after] = [text.units, edited.units].map((units) => shownText(units, text.encoding));
      const diff = fileDiff({ from: place.shown, to: place.shown, before, after });
      const summary = `Edit ${place.shown}: ${changeInWords(diff)}`;
      return { summary, diff: diff.text, diffCut: diff.isCut };
    },
    async handle(request, context) {
      const replacements = replacementsOf(request);
      const access = await files.as(context);
      const place = await access.findExisting(request.file_path, "write");
      return await files.mutex.runExclusive(place.path, async () => {
        await using file = await OpenedFile.open(access, place);
        return await edit(file, replacements, request, context);
      });
    },
  });
}

/** What the file becomes; changes nothing yet. Throws MatrxError. */
async function change(
  file: OpenedFile,
  replacements: readonly Replacement[],
  { expected_sha256, encoding }: Input,
  { rights, signal }: PreviewContext,
) {
  const { shown } = file.place;
  const stat = await file.existing();
  checkEditSize(stat.size, shown);
  const bytes = await file.read(stat, signal);
  checkSha256(hash("sha256", bytes), expected_sha256, file.place);
  const subject = { shown, mayQuote: rights.mayRead };
  const find = (text: UnitText) => replaceIn(text, replacements, subject);
  const wanted = replacements.map(({ old }) => old);
  return { stat, ...changedFile(bytes, file.place.path, { find, wanted, declared: encoding }, subject) };
}

async function edit(
  file: OpenedFile,
  replacements: readonly Replacement[],
  request: Input,
  context: ToolContext,
): Promise<ToolResult> {
  const { place } = file;
  const { stat, text, edited, bytes: newBytes } = await change(file, replacements, request, context);
  context.approved?.check(place.path, place.shown, stat);
  const written = await file.write(stat, newBytes, context.signal);
  context.session.noteSeen(place.path, { stat: written.stat, sha256: hash("sha256", newBytes) });
  const diff = shownDiff(text, edited.units);
  return {
    output: [confirmation(place, text, edited), ...(context.rights.mayRead ? [diff.text] : [])].join("\n"),
    metadata: metadataOf(place, text, edited, newBytes, written, diff),
  };
}

function confirmation({ shown }: ResolvedPath, text: UnitText, { cuts }: Edited): string {
  const count = cuts.length === 1 ? "1 replacement" : `${cuts.length} replacements`;
  return `Edited ${shown}: ${count}, ${cuts.length === 1 ? "at" : "the first at"} line ${firstLine(text, cuts)}`;
}

function firstLine({ units }: UnitText, [first]: Edited["cuts"]): number {
  return units.slice(0, first?.from ?? 0).split("\n").length;
}

function metadataOf(
  place: ResolvedPath,
  text: UnitText,
  { cuts, units }: Edited,
  bytes: Buffer,
  { atomic }: Written,
  { added, removed, cut }: ShownDiff,
) {
  return {
    path: place.path,
    replacements: cuts.length,
    first_line: firstLine(text, cuts),
    ...(added !== undefined && { lines_added: added, lines_removed: removed }),
    bytes: bytes.length,
    sha256: hash("sha256", bytes),
    encoding: text.encoding,
    eol: endsOf(units),
    atomic,
    diff_cut: cut,
  };
}

/** Either one edit or a list may be given. Throws MatrxError `INVALID_PARAMETERS`. */
function replacementsOf(request: Input): Replacement[] {
  const { edits, old_string, new_string, replace_all, expected_replacements: expected } = request;
  if (edits) {
    const given = ["old_string", "new_string", "replace_all", "expected_replacements"] as const;
    const other = given.find((name) => request[name] !== undefined);
    if (other) throw wrong(other, "can't be combined with edits", "Put everything into edits");
    return edits.map((one, index) =>
      checked({
        name: `edits[${index}].old_string`,
        old: one.old_string,
        new: one.new_string,
        all: one.replace_all ?? false,
        expected: undefined,
      }),
    );
  }
  const needed = "Give old_string and new_string, or edits";
  if (old_string === undefined) throw wrong("old_string", "is missing", needed);
  if (new_string === undefined) throw wrong("new_string", "is missing", needed);
  const all = replace_all ?? false;
  return [checked({ name: "old_string", old: old_string, new: new_string, all, expected })];
}

function checked(replacement: Replacement): Replacement {
  const { name, old } = replacement;
  if (old === "") {
    throw wrong(
      name,
      "it is empty",
      `To create a file or replace all of it, use ${toolName("Write")}; to insert, give the text next to the place`,
    );
  }
  if (!old.isWellFormed() || !replacement.new.isWellFormed()) {
    throw wrong(
      name,
      "it or its new text contains half a character",
      "Send whole characters: surrogates come in pairs",
    );
  }
  if (old === replacement.new) {
    throw wrong(name, "nothing would change: the new text is the same", "Give a new text that differs");
  }
  return replacement;
}

function wrong(field: string, why: string, hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${field}: ${why}`, { hint, details: { field } });
}
