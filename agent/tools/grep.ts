/** Grep: searches file contents. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { cursorOf, cursorText } from "../search/cursor.ts";
import {
  type Engine,
  type FileChoice,
  type LineQuery,
  type Missed,
  nothingMissed,
  type Run,
} from "../search/engine.ts";
import type { SearchEngines } from "../search/engines.ts";
import { fileType } from "../search/file-types.ts";
import { type MatchingFiles, matchingFiles } from "../search/matching-files.ts";
import { type MatchingLine, type MatchingLines, matchingLines, type Page } from "../search/matching-lines.ts";
import {
  fileShown,
  leftOutNote,
  missedNotes,
  pathShown,
  patternHint,
  relativeToNote,
  throwUnlessTimedOut,
  USUAL_CHARS,
} from "../search/notes.ts";
import { pathPattern } from "../search/path-pattern.ts";
import { openScope, type Scope } from "../search/scope.ts";
import { counted } from "../text/counted.ts";
import { textOfName } from "../text/display-name.ts";
import { toolName } from "../text/tool-names.ts";

const DEFAULT_RESULTS = 100;
const MOST_RESULTS = 5000;
const MOST_CONTEXT = 20;
/** Limit on characters of lines in one answer if max_results is given. */
const MOST_CHARS = 256 * 1024;

const contextLines = z.int().min(0).max(MOST_CONTEXT).optional();

const input = z.strictObject({
  pattern: z.string().min(1).max(10_000).describe("Regex, matched within lines"),
  path: z.string().min(1).optional().describe("Directory or file (default: working directory)"),
  include: z.string().min(1).optional().describe("Glob of files, such as *.py or src/**/*.{js,ts}"),
  type: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("File type as in ripgrep: js, ts, py, rust, go, java, md, ..."),
  output: z
    .enum(["lines", "files", "count"])
    .optional()
    .describe("lines (default); files: only paths; count: how many lines match in each file"),
  max_results: z.int().min(1).max(MOST_RESULTS).optional().describe("Maximum lines or files (default 100)"),
  context: contextLines.describe("Lines to show before and after each match"),
  before_context: contextLines.describe("Lines to show before each match (default: as context)"),
  after_context: contextLines.describe("Lines to show after each match (default: as context)"),
  case_insensitive: z.boolean().optional().describe("Ignore case"),
  multiline: z.boolean().optional().describe("Let matches span lines; . also matches line breaks"),
  literal: z.boolean().optional().describe("Take the pattern literally, not as a regex (default false)"),
  show_hidden: z.boolean().optional().describe("Search dotfiles too (default false)"),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Search files that .gitignore excludes, and .git (default false)"),
  after: z
    .string()
    .optional()
    .describe(
      'Page through all results, sorted by path: "" for the first page, then what the last page says',
    ),
});

type Input = z.infer<typeof input>;

export function grepTool(files: Files, engines: SearchEngines) {
  return defineTool({
    name: "Grep",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Search file contents by regex (ripgrep syntax, with look-around). Returns file:line:content, with paths relative to the directory searched. Leaves out dotfiles, binary files and what .gitignore excludes, unless show_hidden or include_ignored is true.",
    details:
      "Sorted by path; context lines as file-line-content. Returns the first results found, up to 25,000 characters of lines unless max_results is given; use after to page through all of them in order. Lines are cut at 500 characters. Links are not followed. With multiline, files over 64 MiB are left out. Stops after 15 s and returns what it found.",
    input,
    model: {
      prompt: "Search file contents by regex",
      omit: [
        ...(["before_context", "after_context", "literal", "multiline", "type"] as const),
        ...(["show_hidden", "include_ignored", "after"] as const),
      ],
    },
    timeoutMs: 15_000,
    prepare: ({ path = "." }) => ({ paths: [{ path, intent: "read", isWhole: true }] }),
    async handle(wanted, context) {
      const { signal } = context;
      checkPattern(wanted);
      const include =
        wanted.include === undefined ? undefined : pathPattern(wanted.include, wanted.show_hidden ?? false);
      const showHidden = wanted.show_hidden || (include?.namesHidden ?? false);
      const query = queryOf(wanted, include, showHidden);
      const page = pageOf(wanted);
      const access = await files.as(context);
      const place = await access.findExisting(wanted.path ?? ".", "read");
      const includeIgnored = wanted.include_ignored ?? false;
      using _turn = await engines.turn(context);
      const scope = await openScope(access, place, { showHidden, includeIgnored });
      const missed = nothingMissed();
      const run = { scope, missed, signal };
      const engine = await engines.best();
      const search = { query, scope, missed, engine: engine.name, base: await baseNote(scope) };
      const began = performance.now();
      const leftOut = async (isNothing: boolean) => {
        if (!isNothing || page.after) return "";
        const wider = queryOf(wanted, include && pathPattern(wanted.include ?? "", true), true);
        const searched = { scope, ms: performance.now() - began, signal };
        return leftOutNote(searched, (again) => firstFile(engine, wider, again));
      };
      if (query.firstOnly || wanted.output === "count") {
        const found = await matchingFiles(engine, query, run, page);
        throwUnlessTimedOut(signal);
        return filesResult(search, found, await leftOut(found.files.length === 0 && !found.stopped));
      }
      const found = await matchingLines(engine, query, run, page);
      throwUnlessTimedOut(signal);
      return linesResult(search, found, await leftOut(found.lines.length === 0 && !found.stopped));
    },
  });
}

/** A file with a matching line, relative to the folder searched. */
async function firstFile(engine: Engine, query: LineQuery, run: Run): Promise<string | undefined> {
  const any = { ...query, before: 0, after: 0, ordered: false };
  const { lines } = await matchingLines(engine, any, run, { most: 1, chars: USUAL_CHARS, after: undefined });
  return lines[0] && textOfName(lines[0].relative);
}

function queryOf(wanted: Input, include: FileChoice | undefined, showHidden: boolean): LineQuery {
  const { pattern, context = 0, before_context, after_context } = wanted;
  const wantsLines = (wanted.output ?? "lines") === "lines";
  return {
    pattern,
    literal: wanted.literal ?? false,
    caseInsensitive: wanted.case_insensitive ?? false,
    multiline: wanted.multiline ?? false,
    before: wantsLines ? (before_context ?? context) : 0,
    after: wantsLines ? (after_context ?? context) : 0,
    firstOnly: wanted.output === "files",
    include: wanted.type === undefined ? include : bothOf(fileType(wanted.type, showHidden), include),
    ordered: wanted.after !== undefined,
  };
}

function bothOf(type: FileChoice, include: FileChoice | undefined): FileChoice {
  if (!include) return type;
  return { ...type, matches: (path) => type.matches(path) && include.matches(path) };
}

function pageOf({ max_results: most, after }: Input): Page {
  return {
    most: most ?? DEFAULT_RESULTS,
    chars: most === undefined ? USUAL_CHARS : MOST_CHARS,
    after: after === undefined ? undefined : cursorOf(after),
  };
}

/** A note on what paths are relative to; none for a single file, which is shown by its own name. */
function baseNote({ access, folder, file }: Scope): Promise<string[]> | string[] {
  return file === undefined ? relativeToNote(access, folder) : [];
}

interface Search {
  readonly query: LineQuery;
  readonly scope: Scope;
  readonly missed: Missed;
  readonly engine: string;
  /** Says what paths are relative to; empty: the working directory. */
  readonly base: readonly string[];
}

/** `leftOut` is added if nothing was found. */
function linesResult(
  { query, scope, missed, engine, base }: Search,
  found: MatchingLines,
  leftOut: string,
): ToolResult {
  const { ordered } = query;
  const matching = found.lines.filter(({ column }) => column !== undefined);
  const last = matching.at(-1);
  const next =
    ordered && last && found.stopped ? cursorText({ path: last.relative, line: last.line }) : undefined;
  const what = counted(found.matches, "matching line");
  const notes = [...stopNotes(found.stopped, what, ordered, next), ...missedNotes(missed)];
  if (matching.length > 0) notes.push(...base);
  else if (!found.stopped) notes.unshift(`No line matches${leftOut}${patternHint(query)}`);
  return {
    output: [...linesOf(found.lines, query), ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: {
      path: scope.place.path,
      matches: matching.map(({ path, line, column }) => ({
        path: textOfName(path),
        line,
        ...(!query.multiline && { column }),
      })),
      files: new Set(matching.map(({ path }) => path.toString("latin1"))).size,
      ...howItEnded(found.stopped, next, missed),
      engine,
    },
  };
}

function filesResult(
  { query, scope, missed, engine, base }: Search,
  found: MatchingFiles,
  leftOut: string,
): ToolResult {
  const { files, stopped } = found;
  const { ordered, firstOnly } = query;
  const last = files.at(-1);
  const next =
    ordered && last && stopped ? cursorText({ path: last.relative, line: last.lastLine }) : undefined;
  const notes = [...stopNotes(stopped, counted(files.length, "file"), ordered, next), ...missedNotes(missed)];
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  if (files.length === 0) {
    if (!stopped) notes.unshift(`No line matches${leftOut}${patternHint(query)}`);
  } else {
    if (!firstOnly) notes.unshift(`${counted(lines, "matching line")} in ${counted(files.length, "file")}`);
    notes.push(...base);
  }
  const shown = files.map(({ relative, lines }) => `${pathShown(relative)}${firstOnly ? "" : `:${lines}`}`);
  return {
    output: [...shown, ...notes.map((note) => `[${note}]`)].join("\n"),
    metadata: {
      path: scope.place.path,
      matching_files: files.map(({ path, lines }) => ({
        path: textOfName(path),
        ...(!firstOnly && { lines }),
      })),
      files: files.length,
      ...howItEnded(stopped, next, missed),
      engine,
    },
  };
}

function howItEnded(stopped: string | undefined, next: string | undefined, { unreadable }: Missed) {
  return {
    truncated: stopped !== undefined,
    ...(stopped && { stopped_by: stopped }),
    ...(next !== undefined && { next_after: next }),
    ...(unreadable > 0 && { unreadable }),
  };
}

function linesOf(lines: readonly MatchingLine[], { before, after }: LineQuery): string[] {
  const shown: string[] = [];
  let previous: MatchingLine | undefined;
  for (const line of lines) {
    const follows = previous?.path.equals(line.path) && previous.line + 1 === line.line;
    if (before + after > 0 && previous && !follows) shown.push("--");
    const mark = line.column === undefined ? "-" : ":";
    shown.push(`${fileShown(line.relative)}${mark}${line.line}${mark}${line.text}`);
    previous = line;
  }
  return shown;
}

function stopNotes(
  stopped: MatchingLines["stopped"],
  found: string,
  ordered: boolean,
  next: string | undefined,
): string[] {
  if (!stopped) return [];
  const why = {
    max_results: `Stopped at ${found}; there may be more`,
    output: `Stopped at ${found}: no room for more; there may be more`,
    time: `Time ran out with ${found} found: not everything was searched`,
    pipe: `A named pipe kept the search waiting, with ${found} found: not everything was searched`,
  }[stopped];
  const narrower = "narrow pattern, path or include";
  if (next !== undefined) return [`${why}. Continue with after=${JSON.stringify(next)}`];
  if (stopped === "time") return [`${why}. To see more, ${narrower}, or allow more time with timeout_ms`];
  if (ordered || stopped === "pipe") return [`${why}. To see more, ${narrower}`];
  return [`${why}. To see more, ${narrower}, raise max_results, or page through all with after=""`];
}

/** The first escape that matches only at the start or end of the file, skipping escaped backslashes. */
const FILE_PLACE = /^(?:[^\\]|\\[^AzZG])*?(\\[AzZG])/s;

/** Throws MatrxError `INVALID_PARAMETERS` for a pattern that no single line can match. */
function checkPattern({ pattern, literal, multiline }: Input): void {
  if (multiline) return;
  if (literal && pattern.includes("\n")) {
    throw notWithinLine("it contains a line break", "Set multiline=true, or search for one of its lines");
  }
  const place = literal ? undefined : FILE_PLACE.exec(pattern)?.[1];
  if (place === undefined) return;
  throw notWithinLine(
    `${place} matches only at an end of the file`,
    `Use ^ for the beginning of a line and $ for its end; see the ends of a file with ${toolName("Read")}`,
  );
}

function notWithinLine(why: string, hint: string): MatrxError {
  return toolError("INVALID_PARAMETERS", `pattern: ${why}, but each line is searched by itself`, {
    hint,
    details: { field: "pattern" },
  });
}
