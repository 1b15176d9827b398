/** What `Read` returns for a PDF: the text of its pages, each after a line with its number. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { ToolResult } from "../core/tool.ts";
import type { OpenFile } from "../fs/open-file.ts";
import { counted } from "../text/counted.ts";
import { toolName } from "../text/tool-names.ts";
import { factsOf } from "./bytes.ts";
import { type PdfCall, PdfFailed, type PdfPages, pdfPages } from "./pdf-pages.ts";
import { type LinesWanted, metadataOf, noteOfCut, noteOfMore, pageOfText, withNotes } from "./shown-page.ts";

export const PDF = "application/pdf";
/** `3`, `1-5`, or `7-` for page 7 and those after it. */
export const PAGES = /^[1-9]\d{0,5}(?:-(?:[1-9]\d{0,5})?)?$/;

const DEFAULT_PAGES = 20;
const MOST_PAGES = 200;
/** In bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

export async function readPdf(
  file: OpenFile,
  pages: string | undefined,
  wanted: LinesWanted & PdfCall,
  raw: boolean,
): Promise<ToolResult> {
  if (file.stat.size > MOST_BYTES) throw tooLarge(file);
  const range = rangeOf(pages);
  const found = await pdfPages(file.handle.fd, range, wanted).catch((error: unknown) => {
    throw error instanceof PdfFailed ? notRead(file, error) : error;
  });
  if (range.first > found.total) throw beyondPages(file, range.first, found.total);
  const last = range.first + found.texts.length - 1;
  const next = last < found.total ? last + 1 : undefined;
  const page = await pageOfText(file, markedText(found, range.first), wanted);
  const text = page.lines.join("\n");
  return {
    output: raw
      ? text
      : withNotes(text, [
          noteOfEmpty(found, range.first),
          noteOfCut(page),
          noteOfMore(page),
          next === undefined
            ? undefined
            : `Pages ${range.first} to ${last} of ${found.total}. Continue with pages=${next}-`,
        ]),
    metadata: {
      ...factsOf(file),
      media_type: PDF,
      ...metadataOf(page),
      pages: found.total,
      first_page: range.first,
      last_page: last,
      ...(next !== undefined && { next_page: next }),
      truncated: page.nextOffset !== undefined || next !== undefined,
    },
  };
}

function rangeOf(pages: string | undefined): { first: number; last: number } {
  const [from = "1", to] = pages?.split("-") ?? ["1", ""];
  const first = Number(from);
  const most = first + (pages === undefined || to === "" ? DEFAULT_PAGES : MOST_PAGES) - 1;
  const last = to === undefined ? first : to === "" ? most : Math.min(most, Number(to));
  if (last < first) throw wrongPages(pages ?? "");
  return { first, last };
}

/** Control characters, except tabs and line feeds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]+/g;

function markedText({ total, texts }: PdfPages, first: number): string {
  return texts
    .map((text, index) => {
      const shown = text.toWellFormed().replaceAll("\r\n", "\n").replace(CONTROLS, " ").trimEnd();
      return `--- Page ${first + index} of ${total} ---\n${shown}`.trimEnd();
    })
    .join("\n\n");
}

function noteOfEmpty({ texts }: PdfPages, first: number): string | undefined {
  const empty = texts.flatMap((text, index) => (text.trim() === "" ? [first + index] : []));
  if (empty.length === 0) return undefined;
  const named = empty.length === 1 ? `Page ${empty[0]} has` : `${empty.length} of these pages have`;
  return `${named} no text: for scanned pages, make images with ${toolName("Bash")}: pdftoppm -png`;
}

function tooLarge(file: OpenFile): MatrxError {
  return toolError(
    "PAYLOAD_TOO_LARGE",
    `${file.place.shown} is a PDF of ${file.stat.size} bytes; at most ${MOST_BYTES} can be read`,
    {
      hint: `Use ${toolName("Bash")} with pdftotext`,
      details: { ...factsOf(file), media_type: PDF, limit_bytes: MOST_BYTES },
    },
  );
}

function hintOf(reason: PdfFailed["reason"]): string {
  const shell = toolName("Bash");
  switch (reason) {
    case "password":
      return `Make a copy without it with ${shell}: qpdf --password=... --decrypt FILE COPY`;
    case "damaged":
      return `Read its bytes with encoding=base64, or try ${shell} with pdftotext. If it is text, give its encoding, such as utf-8`;
    case "limits":
      return `Ask for fewer pages with pages, or use ${shell} with pdftotext`;
  }
}

function notRead(file: OpenFile, { reason, message }: PdfFailed): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${file.place.shown} cannot be read as a PDF: ${message}`, {
    hint: hintOf(reason),
    details: { ...factsOf(file), media_type: PDF, reason },
  });
}

function beyondPages(file: OpenFile, first: number, total: number): MatrxError {
  return toolError(
    "INVALID_PARAMETERS",
    `page ${first} is beyond the end of ${file.place.shown}: it has ${counted(total, "page")}`,
    {
      hint: total === 1 ? "Leave pages out" : `Use pages from 1 to ${total}`,
      details: { ...factsOf(file), field: "pages", pages: total },
    },
  );
}

function wrongPages(pages: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `pages: ${pages} ends before it begins`, {
    hint: "Give the first page, then the last one, such as 1-5",
    details: { field: "pages" },
  });
}
