import { hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { explained } from "../paths/errors.ts";
import type { Files } from "../paths/files.ts";
import { type OpenFile, openFile } from "../paths/open-file.ts";
import { MOST_BYTES, readBytes } from "../read/bytes.ts";
import { factsOf } from "../read/facts.ts";
import { binary, readImage } from "../read/not-text.ts";
import { readAll } from "../read/read-all.ts";
import { sourceOf } from "../text/chunks.ts";
import { TEXT_ENCODINGS, type TextEncoding } from "../text/encodings.ts";
import { LineIndex } from "../text/line-index.ts";
import { readTextPage, type TextPage } from "../text/page.ts";
import { SNIFF_BYTES, sniff, textIn } from "../text/sniff.ts";
import { defineTool, type ToolContext, type ToolResult } from "../tool.ts";

const DEFAULT_LINES = 2000;
/** Files up to this size are read at once, and given a hash, in bytes. */
const WHOLE_MAX_BYTES = 1024 * 1024;

const input = z.strictObject({
  file_path: z.string().min(1).describe("Absolute or relative path to the file"),
  offset: z
    .int()
    .optional()
    .describe("Start reading from this line number (1-indexed); negative: that many lines from the end"),
  limit: z.int().min(1).max(100_000).optional().describe("Maximum number of lines to return (default 2000)"),
  raw: z.boolean().optional().describe("Return the text without line numbers and notes (default false)"),
  encoding: z
    .enum(["base64", ...TEXT_ENCODINGS])
    .optional()
    .describe(
      "base64: read bytes of any file; else the text's encoding, where it cannot be told from its bytes",
    ),
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
    effect: "read",
    description:
      "Read a file from the device. Returns numbered lines, at most 2000 lines or 50 KiB a page, and says the offset of the next page. Lines are cut at 2000 characters. Images (PNG, JPEG, GIF, WebP) are returned as images. Other binary files are refused with type, size and hash; encoding=base64 reads ranges of their bytes.",
    input,
    timeoutMs: 60_000,
    async handle(request, context) {
      checkFields(request);
      const file = await openFile(await files.as(context), request.file_path);
      try {
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

const LINE_FIELDS = ["offset", "limit"] as const;
const BYTE_FIELDS = ["byte_offset", "byte_limit"] as const;

/** Lines or bytes, not both. Throws MatrxError `INVALID_PARAMETERS`. */
function checkFields(request: Input): void {
  const isBytes = request.encoding === "base64";
  const field = (isBytes ? LINE_FIELDS : BYTE_FIELDS).find((name) => request[name] !== undefined);
  if (!field) return;
  throw new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `${field}: it counts ${isBytes ? "lines, and encoding is base64" : "bytes, and encoding is not base64"}`,
    hint: isBytes
      ? "Use byte_offset and byte_limit"
      : "Use offset and limit for lines, or set encoding to base64",
    hop: "tool",
    details: { field },
  });
}

async function read(
  file: OpenFile,
  { offset, limit, raw }: Input,
  declared: TextEncoding | undefined,
  index: LineIndex,
  { signal, session, room }: ToolContext,
): Promise<ToolResult> {
  const small = await wholeOf(file, SNIFF_BYTES);
  const head = small ?? (await headOf(file.handle));
  const content = declared ? textIn(declared, head) : sniff(head);
  if (content.kind === "image") return readImage(file, small, content.mediaType, room);
  if (content.kind === "binary") throw await binary(file, content.mediaType, signal);
  const whole = small ?? (await wholeOf(file, WHOLE_MAX_BYTES));
  const source = whole ? sourceOf(whole) : file.handle;
  const wanted = { offset: offset || 1, limit: limit ?? DEFAULT_LINES, signal };
  const text = { stat: file.stat, source, ...content, declared: declared !== undefined };
  const page = await readTextPage(text, wanted, index);
  if (!page) throw tailTooLong(file, wanted.offset);
  if (page.lines.length === 0 && head.length > content.bomBytes) throw beyondEnd(file, wanted.offset, page);
  session.noteSeen(file.place.path, {
    size: Number(file.stat.size),
    modified: Number(file.stat.mtimeMs),
  });
  return {
    output: raw ? page.lines.join("\n") : rendered(page),
    metadata: { ...factsOf(file), ...metadataOf(page), ...(whole && { sha256: hash("sha256", whole) }) },
  };
}

function rendered(page: TextPage): string {
  if (page.lines.length === 0) return "[The file is empty]";
  const numbered = page.lines.map((line, i) => `${String(page.firstLine + i).padStart(6)}\t${line}`);
  const notes = [noteOfCut(page), noteOf(page)].filter((note) => note !== undefined);
  return [numbered.join("\n"), ...(notes.length > 0 ? [""] : []), ...notes.map((note) => `[${note}]`)].join(
    "\n",
  );
}

const MOST_NAMED = 10;

function noteOfCut(page: TextPage): string | undefined {
  const [first] = page.cut;
  if (first === undefined || page.endless) return undefined;
  const numbers = page.cut.map((index) => page.firstLine + index);
  const named = numbers.slice(0, MOST_NAMED).join(", ");
  const more = numbers.length > MOST_NAMED ? ` and ${numbers.length - MOST_NAMED} more` : "";
  const example = page.firstLine > 0 ? `, for example: sed -n ${numbers[0]}p FILE | cut -c 2001-4000` : "";
  return `Cut at 2000 characters: ${numbers.length === 1 ? "line" : "lines"} ${named}${more}. Read the rest with Bash${example}; or as bytes with encoding=base64`;
}

function noteOf(page: TextPage): string | undefined {
  if (page.nextOffset === undefined) return undefined;
  const last = page.firstLine + page.lines.length - 1;
  const lines = `Lines ${page.firstLine} to ${last}${page.totalLines === undefined ? "" : ` of ${page.totalLines}`}`;
  if (page.endless) {
    return `${lines}. Line ${last} is too long to look for its end; read parts of it with Bash (head -c, tail -c)`;
  }
  return `${lines}. Continue with offset=${page.nextOffset}`;
}

function metadataOf(page: TextPage) {
  return {
    start_line: page.firstLine,
    end_line: page.firstLine + page.lines.length - 1,
    ...(page.totalLines !== undefined && { total_lines: page.totalLines }),
    ...(page.nextOffset !== undefined && { next_offset: page.nextOffset }),
    truncated: page.nextOffset !== undefined,
    ...(page.cut.length > 0 && { cut_lines: page.cut.map((index) => page.firstLine + index) }),
    encoding: page.encoding,
    eol: page.eol,
  };
}

async function headOf(handle: FileHandle): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(SNIFF_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

/** All of a file up to a size; undefined: it is larger, or its size says nothing, as in /proc. */
async function wholeOf({ handle, stat }: OpenFile, mostBytes: number): Promise<Buffer | undefined> {
  const size = Number(stat.size);
  return size === 0 || size > mostBytes ? undefined : await readAll(handle, size);
}

function beyondEnd(file: OpenFile, offset: number, { totalLines }: TextPage): MatrxError {
  const { shown } = file.place;
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `offset ${offset} is beyond the end of ${shown}: it has ${totalLines} lines`,
    hint: `Use an offset of at most ${totalLines}, or a negative one to read from the end`,
    hop: "tool",
    details: { ...factsOf(file), field: "offset", total_lines: totalLines },
  });
}

function tailTooLong(file: OpenFile, offset: number): MatrxError {
  return new MatrxError({
    code: "TOOL_EXECUTION_FAILED",
    message: `The last ${-offset} lines of ${file.place.shown} are too long to be looked for from its end`,
    hint: "Ask for fewer lines, or use Bash with tail -c",
    hop: "tool",
    details: factsOf(file),
  });
}
