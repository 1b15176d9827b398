/** A page of lines as an answer shows it. */

import { toolName } from "../core/tool-names.ts";
import type { TextPage } from "../text/page.ts";

export function numberedLines({ lines, firstLine }: TextPage): string {
  return lines.map((line, index) => numberOf(firstLine + index) + line).join("\n");
}

/** What stands before a line. */
export function numberOf(line: number): string {
  return `${String(line).padStart(6)}\t`;
}

/** Text, and below it what is said of it. */
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
