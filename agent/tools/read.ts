/** Read: shows text, notebooks, PDFs and bytes of a file. */
import { hash } from "node:crypto";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolContext, type ToolResult } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { explained } from "../fs/errors.ts";
import { type OpenFile, openFile } from "../fs/open-file.ts";
import { factsOf, MOST_BYTES, readBytes } from "../read/bytes.ts";
import { rawImage, readImage } from "../read/image.ts";
import { binaryFileError, readAll } from "../read/not-text.ts";
import { isNotebookPath, NOTEBOOK_MAX_BYTES, type Notebook, notebookOf } from "../read/notebook.ts";
import { PAGES, PDF, readPdf } from "../read/pdf.ts";
import {
  beyondEndError,
  type LinesWanted,
  metadataOf,
  noteOfCut,
  noteOfForm,
  noteOfMore,
  numberedLines,
  numberOf,
  pageOfText,
  withNotes,
} from "../read/shown-page.ts";
import { sourceOf } from "../text/chunks.ts";
import { TEXT_ENCODINGS, type TextEncoding } from "../text/encodings.ts";
import { LineIndex } from "../text/line-index.ts";
import { readTextPage, type TextPage } from "../text/page.ts";
import { headOf, SNIFF_BYTES, sniff, textIn } from "../text/sniff.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_LINES = 2000;
/** Characters of a page, including line numbers and line ends: without a limit, and with one. */
const DEFAULT_CHARS = 25_000;
const MOST_CHARS = 100_000;
/** Files up to this size are read in one go and hashed, in bytes. */
const WHOLE_MAX_BYTES = 1024 * 1024;

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path"),
  offset: z.int().optional().describe("First line, from 1; negative: this many lines before the end"),
  limit: z.int().min(1).max(100_000).optional().describe("Maximum lines (default 2000)"),
  raw: z
    .boolean()
    .optional()
    .describe("Return the text without line numbers and notes, an image as it is (default false)"),
  encoding: z
    .enum(["base64", ...TEXT_ENCODINGS])
    .optional()
    .describe("base64: read bytes of any file; otherwise the text's encoding, if it can't be detected"),
  pages: z
    .string()
    .regex(PAGES, "must be a page or a range, such as 3 or 1-5")
    .optional()
    .describe("Pages of a PDF, such as 3 or 1-5 (default: the first 20)"),
  byte_offset: z
    .int()
    .optional()
    .describe("With base64: start at this byte (default 0); negative: that many bytes from the end"),
  byte_limit: z
    .int()
    .min(1)
    .max(MOST_BYTES)
    .optional()
    .describe("With base64: maximum number of bytes to return (default 65536)"),
});

type Input = z.infer<typeof input>;

export function readTool(files: Files) {
  const index = new LineIndex();
  return defineTool({
    name: "Read",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Read a file as numbered lines: up to 2000 lines and 25,000 characters (100,000 if limit is given), then a note with the offset to continue from. Lines are cut at 2000 characters. Images (PNG, JPEG, GIF, WebP) are shown, PDFs as text by page, notebooks as cells.",
    details:
      "For other binary files the error gives type, size and hash; encoding=base64 reads ranges of their bytes.",
    input,
    model: {
      prompt: "Read files (returns numbered lines)",
      omit: ["raw", "encoding", "byte_offset", "byte_limit"],
    },
    timeoutMs: 60_000,
    prepare: ({ file_path }) => ({ paths: [{ path: file_path, intent: "read" }] }),
    async handle(request, context) {
      checkFields(request);
      const file = await openFile(await files.as(context), request.file_path);
      try {
        context.approved?.check(file.place.path, file.place.shown, file.stat);
        return await explained(file.place.shown, "read", () =>
          request.encoding === "base64"
            ? readBytes(file, request, context)
            : read(file, request, request.encoding, index, context),
        );
      } finally {
        await file.handle.close();
      }
    },
  });
}

const LINE_FIELDS = ["offset", "limit", "pages"] as const;
const BYTE_FIELDS = ["byte_offset", "byte_limit"] as const;

/** Only lines or bytes may be given. Throws MatrxError `INVALID_PARAMETERS`. */
function checkFields(request: Input): void {
  const isBytes = request.encoding === "base64";
  const field = (isBytes ? LINE_FIELDS : BYTE_FIELDS).find((name) => request[name] !== undefined);
  if (!field) return;
  throw wrong(
    field,
    `it counts ${isBytes ? `${field === "pages" ? "pages" : "lines"}, but encoding is base64` : "bytes, but encoding is not base64"}`,
    isBytes ? "Use byte_offset and byte_limit" : "Use offset and limit for lines, or set encoding to base64",
  );
}

function wrong(field: string, why: string, hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `${field}: ${why}`, { hint, details: { field } });
}

async function read(
  file: OpenFile,
  { offset, limit, raw = false, pages }: Input,
  declared: TextEncoding | undefined,
  index: LineIndex,
  context: ToolContext,
): Promise<ToolResult> {
  const { signal, session, grant } = context;
  const small = await wholeOf(file, SNIFF_BYTES);
  const head = headOf(small ?? (await readAll(file.handle, SNIFF_BYTES + 1)));
  const content = declared ? textIn(declared, head) : sniff(head);
  const isImage = content.kind === "image";
  const whole = small ?? (isImage ? undefined : await wholeOf(file, WHOLE_MAX_BYTES));
  const sha256 = whole && hash("sha256", whole);
  session.noteSeen(file.place.path, { stat: file.stat, sha256 });
  if (isImage) return raw ? rawImage(file, content.mediaType, context.room) : readImage(file, context);
  const wanted = {
    offset: offset || 1,
    limit: limit ?? DEFAULT_LINES,
    chars: limit === undefined ? DEFAULT_CHARS : MOST_CHARS,
    signal,
  };
  if (content.kind === "binary" && content.mediaType === PDF)
    return readPdf(file, pages, { ...wanted, grant }, raw);
  if (content.kind === "binary") throw await binaryFileError(file, content.mediaType, signal);
  if (pages !== undefined) {
    throw wrong("pages", "this is not a PDF file", "Use offset and limit for lines");
  }
  const isNotebook = !declared && !raw && isNotebookPath(file.place.path);
  const notebook = isNotebook ? await notebookIn(file, whole) : undefined;
  if (notebook) return await shownNotebook(file, notebook, wanted, sha256);
  const source = whole ? sourceOf(whole) : file.handle;
  const text = { stat: file.stat, source, ...content, declared: declared !== undefined };
  const around = (number: number) => (raw ? 0 : numberOf(number).length) + 1;
  const page = await readTextPage(text, { ...wanted, around }, index);
  if (!page) throw tailTooLong(file, wanted.offset);
  if (page.lines.length === 0 && head.length > content.bomBytes)
    throw beyondEndError(file, wanted.offset, page);
  return {
    output: raw ? page.lines.join("\n") : rendered(page, text.declared),
    metadata: { ...factsOf(file), ...metadataOf(page), ...(sha256 && { sha256 }) },
  };
}

/** Lines with their numbers, and notes. */
function rendered(page: TextPage, isDeclared: boolean): string {
  if (page.lines.length === 0) return "[The file is empty]";
  return withNotes(numberedLines(page), [noteOfCut(page), noteOfMore(page), noteOfForm(page, isDeclared)]);
}

/** Undefined if it is not a notebook, or too large. */
async function notebookIn({ handle, stat }: OpenFile, whole: Buffer | undefined) {
  if (stat.size > NOTEBOOK_MAX_BYTES) return undefined;
  return notebookOf(whole ?? (await readAll(handle, Number(stat.size))));
}

async function shownNotebook(
  file: OpenFile,
  { text, cells }: Notebook,
  wanted: LinesWanted,
  sha256: string | undefined,
): Promise<ToolResult> {
  const page = await pageOfText(file, text, wanted);
  const note = `Shown as cells, whose text ${toolName("Edit")} changes; raw=true gives the JSON`;
  return {
    output: withNotes(page.lines.join("\n"), [noteOfCut(page), noteOfMore(page), note]),
    metadata: { ...factsOf(file), ...metadataOf(page), cells, ...(sha256 && { sha256 }) },
  };
}

/** The whole file; undefined if it is too large, or its size is meaningless, as in /proc. */
async function wholeOf({ handle, stat }: OpenFile, mostBytes: number): Promise<Buffer | undefined> {
  const size = Number(stat.size);
  return size === 0 || size > mostBytes ? undefined : await readAll(handle, size);
}

function tailTooLong(file: OpenFile, offset: number): MatrxError {
  return toolError(
    "TOOL_EXECUTION_FAILED",
    `The last ${-offset} lines of ${file.place.shown} are too long to find from its end`,
    { hint: `Ask for fewer lines, or use ${toolName("Bash")} with tail -c`, details: factsOf(file) },
  );
}
