import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { Files } from "../paths/files.ts";
import { quotedName, shownBytes, textOfName } from "../paths/names.ts";
import { cursorOf, cursorText } from "../search/cursor.ts";
import { type Engine, type LineQuery, type Missed, nothingMissed, type Run } from "../search/engine.ts";
import type { SearchEngines } from "../search/engines.ts";
import { leftOutNote } from "../search/left-out.ts";
import { type MatchingLine, type MatchingLines, matchingLines } from "../search/matching-lines.ts";
import { missedNotes, patternHint, throwUnlessTimedOut } from "../search/notes.ts";
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
      checkPattern(wanted);
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
      const began = performance.now();
      const found = await matchingLines(engine, query, { scope, missed, signal }, page);
      throwUnlessTimedOut(signal);
      const searched = { scope, ms: performance.now() - began, signal };
      const wider = { ...query, include: include && pathPattern(wanted.include ?? "", true) };
      const isNothing = found.lines.length === 0 && !found.stopped && !page.after;
      const leftOut = isNothing ? await leftOutNote(searched, (run) => firstFile(engine, wider, run)) : "";
      return resultOf({ found, missed, query, scope, leftOut }, engine.name);
    },
  });
}

/** A file with a line that matches, relative to the folder that is searched. */
async function firstFile(engine: Engine, query: LineQuery, run: Run): Promise<string | undefined> {
  const any = { ...query, context: 0, ordered: false };
  const { lines } = await matchingLines(engine, any, run, { most: 1, after: undefined });
  return lines[0] && textOfName(lines[0].relative);
}

interface Result {
  readonly found: MatchingLines;
  readonly missed: Missed;
  readonly query: LineQuery;
  readonly scope: Scope;
  /** Said after that nothing was found. */
  readonly leftOut: string;
}

function resultOf({ found, missed, query, scope, leftOut }: Result, engine: string): ToolResult {
  const { ordered, context } = query;
  const matching = found.lines.filter(({ column }) => column !== undefined);
  const last = matching.at(-1);
  const next =
    ordered && last && found.stopped ? cursorText({ path: last.relative, line: last.line }) : undefined;
  const notes = [...stopNotes(found, ordered, next), ...missedNotes(missed)];
  if (matching.length === 0 && !found.stopped) {
    notes.unshift(`No line matches${leftOut}${patternHint(query)}`);
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

/** Stands for a place of the whole file; a pair of backslashes stands for itself. */
const FILE_PLACE = /^(?:[^\\]|\\[^AzZG])*?(\\[AzZG])/s;

/** Throws MatrxError `INVALID_PARAMETERS` for what no line can be asked. */
function checkPattern({ pattern, literal }: z.infer<typeof input>): void {
  if (literal && pattern.includes("\n")) {
    throw notWithinLine(
      "it holds a line break",
      "Search for one of its lines, and read on from there with context or Read",
    );
  }
  const place = literal ? undefined : FILE_PLACE.exec(pattern)?.[1];
  if (place === undefined) return;
  throw notWithinLine(
    `${place} is a place in a file`,
    "Use ^ for the beginning of a line and $ for its end; see the ends of a file with Read",
  );
}

function notWithinLine(why: string, hint: string): MatrxError {
  return new MatrxError({
    code: "INVALID_PARAMETERS",
    message: `pattern: ${why}, and is searched within a line`,
    hint,
    hop: "tool",
    details: { field: "pattern" },
  });
}
