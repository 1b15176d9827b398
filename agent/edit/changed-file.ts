/** What a change makes of a file: found in its text, or, if it is a notebook, in its cells as `Read` shows them. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { isNotebookPath, notebookOf } from "../read/notebook.ts";
import type { TextEncoding } from "../text/encodings.ts";
import { toolName } from "../text/tool-names.ts";
import { bytesWith, editableText, type UnitText } from "./code-units.ts";
import { refused, type Subject } from "./errors.ts";
import { NotebookText } from "./notebook-text.ts";
import { type Edited, joined } from "./replace.ts";

export interface Change {
  /** Finds what changes. Throws MatrxError with the reason `not_found` if it is not there. */
  readonly find: (text: UnitText) => Edited;
  /** The texts that it looks for. */
  readonly wanted: readonly string[];
  /** The encoding that the caller gave. */
  readonly declared?: TextEncoding | undefined;
}

export interface ChangedFile {
  /** The text that was changed: the file's, or what `Read` shows of a notebook. */
  readonly text: UnitText;
  readonly edited: Edited;
  readonly bytes: Buffer;
}

/** `path` is the file's. Throws MatrxError. */
export function changedFile(bytes: Buffer, path: string, change: Change, subject: Subject): ChangedFile {
  const notebook = change.declared || !isNotebookPath(path) ? undefined : NotebookText.of(bytes);
  if (!notebook) return inText(bytes, path, change, subject);
  try {
    const { cuts } = change.find(notebook.searched);
    const edited = { cuts, units: joined(notebook.shown.units, cuts) };
    return { text: notebook.shown, edited, bytes: notebook.bytesWith(cuts, subject) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (change.wanted.some((text) => notebook.hasHidden(text))) throw hiddenError(subject);
    try {
      // Models may know the JSON, too.
      return inText(bytes, path, change, subject);
    } catch (other) {
      throw isNotFound(other) ? error : other;
    }
  }
}

function inText(bytes: Buffer, path: string, { find, declared }: Change, subject: Subject): ChangedFile {
  const text = editableText(bytes, declared, subject.shown);
  const edited = find(text);
  const after = bytesWith(text, edited.units);
  if (isNotebookPath(path)) checkNotebook(bytes, after, subject);
  return { text, edited, bytes: after };
}

/** Throws MatrxError if a notebook, or what is JSON at least, would no longer be that. `before`: undefined for a new file. */
export function checkNotebook(before: Buffer | undefined, after: Buffer, subject: Subject): void {
  const was = before && notebookOf(before);
  if (was && !notebookOf(after)) throw brokenError("no longer be a notebook that can be read", subject);
  const mayBeAny = before ? !isJson(before) : after.length === 0;
  if (!mayBeAny && !isJson(after)) throw brokenError("not be JSON", subject);
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
    return true;
  } catch {
    return false;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof MatrxError && error.shape().details?.reason === "not_found";
}

function hiddenError(subject: Subject): MatrxError {
  return refused(
    subject,
    "not_in_cells",
    `This text is in an output of ${subject.shown}, not in the text of a cell. Nothing was changed`,
    "Change the cell that makes the output, and run it; to edit an output itself, give its JSON, as shown with raw=true",
  );
}

function brokenError(what: string, subject: Subject): MatrxError {
  return refused(
    subject,
    "not_a_notebook",
    `${subject.shown} would ${what}. Nothing was changed`,
    `To change a cell, give its text as ${toolName("Read")} shows it; in the JSON, line ends and quotes are written \\n and \\"`,
  );
}
