import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { Files } from "../paths/files.ts";
import { quotedName, shownBytes, textOfName } from "../paths/names.ts";
import { cursorOf, cursorText } from "../search/cursor.ts";
import { type LineQuery, type Missed, nothingMissed } from "../search/engine.ts";
import type { SearchEngines } from "../search/engines.ts";
import { type MatchingLine, type MatchingLines, matchingLines } from "../search/matching-lines.ts";
import { leftOutHint, missedNotes, patternHint, throwUnlessTimedOut } from "../search/notes.ts";
import { pathPattern } from "../search/path-pattern.ts";
import { openScope, type Scope } from "../search/scope.ts";
import { defineTool, type ToolResult } from "../tool.ts";

const DEFAULT_RESULTS = 100;
const MOST_RESULTS = 5000;

const input = z.strictObject({
  pattern: z.string().min(1).max(10_000).describe("Regex pattern to search for, within a line"),
  path: z.string().min(1).optional().describe("Directory or file to search (default: session cwd)"),
  include: z
    .string()
    .min(1)
    .optional()
    .describe("Glob to filter files, such as *.py (any folder) or src/**/*.{js,ts}"),
  max_results: z.int().min(1).max(MOST_RESULTS).optional().describe("Max matching lines (default 100)"),
  case_insensitive: z.boolean().optional().describe("Ignore case (default false)"),
  literal: z.boolean().optional().describe("Take the pattern as it stands, not as a regex (default false)"),
  context: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .describe("Lines to show before and after each match (default 0)"),
  show_hidden: z.boolean().optional().describe("Search dotfiles too (default false)"),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Search what .gitignore files leave out, and .git itself (default false)"),
  after: z
    .string()
    .optional()
    .describe(
      'Page through all matches in order of path: "" for the first page, then what the last page says',
    ),
});

export function grepTool(files: Files, engines: SearchEngines) {
  return defineTool({
    name: "Grep",
    effect: "read",
    description:
      "Search file contents by regex (ripgrep syntax, with look-around). Returns file:line:content, sorted by path; context lines as file-line-content. At most 100 lines unless max_results says otherwise, which are the first that were found: use after for pages in order. Lines are cut at 500 characters. Dotfiles, binary files and what .gitignore names are left out; links are not followed. Takes at most 15 s, then returns what was found.",
    input,
    timeoutMs: 15_000,
    async handle(wanted, context) {
      const { signal } = context;
      if (wanted.literal && wanted.pattern.includes("\n")) throw severalLines();
      const { show_hidden: showHidden = false, include_ignored: includeIgnored = false } = wanted;
      const include = wanted.include === undefined ? undefined : pathPattern(wanted.include, showHidden);
      const page = {
        most: wanted.max_results ?? DEFAULT_RESULTS,
        after: wanted.after === undefined ? undefined : cursorOf(wanted.after),
      };
      const query = {
        pattern: wanted.pattern,
        literal: wanted.literal ?? false,
        caseInsensitive: wanted.case_insensitive ?? false,
        context: wanted.context ?? 0,
        include,
        ordered: wanted.after !== undefined,
      };
      const access = await files.as(context);
      const place = await access.findExisting(wanted.path ?? ".", "read");
      const scope = await openScope(access, place, {
        showHidden: showHidden || (include?.namesHidden ?? false),
        includeIgnored,
      });
      const missed = nothingMissed();
      const engine = await engines.best();
      const found = await matchingLines(engine, query, { scope, missed, signal }, page);
      throwUnlessTimedOut(signal);
      const result = { found, missed, query, scope };
      return resultOf(result, engine.name);
    },
  });
}

interface Result {
  readonly found: MatchingLines;
  readonly missed: Missed;
  readonly query: LineQuery;
  readonly scope: Scope;
}

function resultOf({ found, missed, query, scope }: Result, engine: string): ToolResult {
  const { ordered, context } = query;
  const matching = found.lines.filter(({ column }) => column !== undefined);
  const last = matching.at(-1);
  const next =
    ordered && last && found.stopped ? cursorText({ path: last.relative, line: last.line }) : undefined;
  const notes = [...stopNotes(found, ordered, next), ...missedNotes(missed)];
  if (matching.length === 0 && !found.stopped) {
    notes.unshift(`No line matches${leftOutHint(scope)}${patternHint(query)}`);
  }
  return {
    output: [...linesOf(found.lines, context), ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: {
      path: scope.place.path,
      matches: matching.map(({ path, line, column }) => ({ path: textOfName(path), line, column })),
      files: new Set(matching.map(({ path }) => path.toString("latin1"))).size,
      truncated: found.stopped !== undefined,
      ...(found.stopped && { stopped_by: found.stopped }),
      ...(next !== undefined && { next_after: next }),
      ...(missed.unreadable > 0 && { unreadable: missed.unreadable }),
      engine,
    },
  };
}

function linesOf(lines: readonly MatchingLine[], context: number): string[] {
  const shown: string[] = [];
  let before: MatchingLine | undefined;
  for (const line of lines) {
    const follows = before?.path.equals(line.path) && before.line + 1 === line.line;
    if (context > 0 && before && !follows) shown.push("--");
    const mark = line.column === undefined ? "-" : ":";
    shown.push(`${fileShown(line.path)}${mark}${line.line}${mark}${line.text}`);
    before = line;
  }
  return shown;
}

/** A name that could be taken for one with a line number is quoted. */
function fileShown(path: Buffer): string {
  const shown = shownBytes(path);
  return /:\d+:/.test(shown) && !shown.startsWith('"') ? quotedName(shown) : shown;
}

function stopNotes(
  { stopped, matches }: MatchingLines,
  ordered: boolean,
  next: string | undefined,
): string[] {
  if (!stopped) return [];
  const why = {
    max_results: `Stopped at ${matches} matching lines; there may be more`,
    output: `Stopped at ${matches} matching lines, 256 KiB of them; there may be more`,
    time: `Time ran out with ${matches} matching lines found: not everything was searched`,
  }[stopped];
  const narrower = "narrow pattern, path or include";
  if (next !== undefined) return [`${why}. Continue with after=${JSON.stringify(next)}`];
  if (stopped === "time") return [`${why}. To go on, ${narrower}, or give more time with timeout_ms`];
  if (ordered) return [`${why}. To go on, ${narrower}`];
  return [
    `${why}. To go on, ${narrower}, raise max_results, or page through all in order of path with after=""`,
  ];
}

function severalLines(): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: "pattern: it holds a line break, and is searched within a line",
    hint: "Search for one of its lines, and read on from there with context or Read",
    hop: "tool",
    details: { field: "pattern" },
  });
}
