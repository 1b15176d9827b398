/** How an answer shows a page of lines. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import type { OpenFile } from "../fs/open-file.ts";
import { sourceOf } from "../text/chunks.ts";
import { counted } from "../text/counted.ts";
import { formInWords, isGuess } from "../text/form.ts";
import { LineIndex } from "../text/line-index.ts";
import { readTextPage, type TextPage } from "../text/page.ts";
import { toolName } from "../text/tool-names.ts";
import { factsOf } from "./bytes.ts";

export function numberedLines({ lines, firstLine }: TextPage): string {
  return lines.map((line, index) => numberOf(firstLine + index) + line).join("\n");
}

/** The number before a line. */
export function numberOf(line: number): string {
  return `${String(line).padStart(6)}\t`;
}

/** A text, with notes below it. */
export function withNotes(text: string, notes: readonly (string | undefined)[]): string {
  const given = notes.filter((note) => note !== undefined);
  return [text, ...(given.length > 0 ? [""] : []), ...given.map((note) => `[${note}]`)].join("\n");
}

const MOST_NAMED = 10;

export function noteOfCut(page: TextPage): string | undefined {
  const [first] = page.cut;
  if (first === undefined || page.endless) return undefined;
  const numbers = page.cut.map((index) => page.firstLine + index);
  const named = numbers.slice(0, MOST_NAMED).join(", ");
  const more = numbers.length > MOST_NAMED ? ` and ${numbers.length - MOST_NAMED} more` : "";
  const example = page.firstLine > 0 ? `, for example: sed -n ${numbers[0]}p FILE | cut -c 2001-4000` : "";
  return `Cut at 2000 characters: ${numbers.length === 1 ? "line" : "lines"} ${named}${more}. Read the rest with ${toolName("Bash")}${example}; or as bytes with encoding=base64`;
}

export function noteOfMore(page: TextPage): string | undefined {
  if (page.nextOffset === undefined) return undefined;
  const last = page.firstLine + page.lines.length - 1;
  const lines = `Lines ${page.firstLine} to ${last}${page.totalLines === undefined ? "" : ` of ${page.totalLines}`}`;
  if (page.endless) {
    return `${lines}. Line ${last} is too long to find its end; read parts of it with ${toolName("Bash")} (head -c, tail -c)`;
  }
  return `${lines}. Continue with offset=${page.nextOffset}`;
}

/** How the file is written, which its lines don't show; said once, with its first. `isDeclared`: the caller knows the encoding. */
export function noteOfForm({ encoding, eol, firstLine }: TextPage, isDeclared: boolean): string | undefined {
  if (firstLine > 1) return undefined;
  const form = formInWords({ encoding: isDeclared ? "utf-8" : encoding, eol });
  if (form === undefined) return undefined;
  const kept = `${toolName("Edit")} and ${toolName("Write")} keep that`;
  if (isDeclared || !isGuess(encoding)) return `Written ${form}; ${kept}`;
  return `Probably written ${form}; ${kept}. If it looks wrong, give its encoding`;
}

export function metadataOf(page: TextPage) {
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

export interface LinesWanted {
  readonly offset: number;
  readonly limit: number;
  /** Characters of a page. */
  readonly chars: number;
  readonly signal: AbortSignal;
}

/** A page of text that was made from the file. Throws MatrxError if there are no such lines. */
export async function pageOfText(file: OpenFile, text: string, wanted: LinesWanted): Promise<TextPage> {
  const bytes = Buffer.from(text);
  const stat = { ...file.stat, size: BigInt(bytes.length) };
  const made = { source: sourceOf(bytes), stat, encoding: "utf-8", declared: true, bomBytes: 0 } as const;
  const page = await readTextPage(made, { ...wanted, around: () => 1 }, new LineIndex());
  if (!page || (page.lines.length === 0 && bytes.length > 0)) throw beyondEndError(file, wanted.offset, page);
  return page;
}

export function beyondEndError(file: OpenFile, offset: number, page: TextPage | undefined): MatrxError {
  const { shown } = file.place;
  return toolError(
    "INVALID_PARAMETERS",
    `offset ${offset} is beyond the end of ${shown}: it has ${counted(page?.totalLines ?? 0, "line")}`,
    {
      hint: `Use an offset of at most ${page?.totalLines}, or a negative one to read from the end`,
      details: { ...factsOf(file), field: "offset", total_lines: page?.totalLines },
    },
  );
}
