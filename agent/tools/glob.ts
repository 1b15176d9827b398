import { MatrxError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import type { FileAccess, Files, Place } from "../paths/files.ts";
import { shownBytes, textOfName } from "../paths/names.ts";
import { isAbsolute } from "../paths/spelling.ts";
import { nothingMissed } from "../search/engine.ts";
import type { SearchEngines } from "../search/engines.ts";
import { leftOutNote } from "../search/left-out.ts";
import { type NewFiles, newestFiles } from "../search/newest-files.ts";
import { missedNotes, throwUnlessTimedOut } from "../search/notes.ts";
import { pathPattern, splitPattern } from "../search/path-pattern.ts";
import { fitting } from "../search/room.ts";
import { openScope } from "../search/scope.ts";
import { defineTool, type ToolResult } from "../tool.ts";

const DEFAULT_LIMIT = 1000;
const MOST = 10_000;

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe(
      "Glob pattern: *.py (in any folder), src/**/*.{js,ts}, ./*.md (this folder only), ~/notes/*.txt",
    ),
  path: z.string().min(1).optional().describe("Directory to search in (default: session cwd)"),
  limit: z.int().min(1).max(MOST).optional().describe("Maximum number of files to return (default 1000)"),
  show_hidden: z
    .boolean()
    .optional()
    .describe("Find dotfiles that the pattern does not name (default false)"),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Find what .gitignore files leave out, and .git itself (default false)"),
});

export function globTool(files: Files, engines: SearchEngines) {
  return defineTool({
    name: "Glob",
    effect: "read",
    description:
      "Find files matching a glob pattern: absolute paths, newest first, at most 1000 unless limit says otherwise. A pattern without / matches names in any folder. Only files are found, no folders and no links; links are not followed. Dotfiles that the pattern does not name and what .gitignore names are left out. Takes at most 15 s, then returns what was found.",
    input,
    timeoutMs: 15_000,
    async handle({ pattern, path = ".", limit = DEFAULT_LIMIT, ...wanted }, context) {
      const { signal } = context;
      const { show_hidden: showHidden = false, include_ignored: includeIgnored = false } = wanted;
      const access = await files.as(context);
      const { folder, rest } = splitPattern(pattern, access.platform.path.sep);
      const names = pathPattern(rest, showHidden);
      const place = await placeOf(access, path, folder);
      if (place.missing.length > 0) return nothing(place, `${place.shown} does not exist`);
      const scope = await openScope(access, place, {
        showHidden: showHidden || names.namesHidden,
        includeIgnored,
      });
      if (scope.file !== undefined) {
        if (folder === "") throw notAFolder(place);
        return nothing(place, `${place.shown} is a file, not a directory`);
      }
      const missed = nothingMissed();
      const engine = await engines.best();
      const began = performance.now();
      const found = await newestFiles(engine, names, { scope, missed, signal }, limit);
      throwUnlessTimedOut(signal);
      if (found.files.length === 0 && !found.stopped) {
        const leftOut = await leftOutNote({ scope, ms: performance.now() - began, signal }, async (run) => {
          const { files: others } = await newestFiles(engine, pathPattern(rest, true), run, 1);
          return others[0] && textOfName(others[0].path);
        });
        return nothing(place, `No file matches${leftOut}`, missedNotes(missed));
      }
      return resultOf(place, found, missedNotes(missed));
    },
  });
}

/** Where the pattern begins to choose; only `path` itself must exist. */
async function placeOf(access: FileAccess, path: string, folder: string): Promise<Place> {
  if (isAbsolute(folder, access.platform)) return access.find(folder, "read");
  const place = await access.findExisting(path, "read");
  return folder === "" ? place : access.find(access.platform.path.join(place.path, folder), "read");
}

function resultOf(place: Place, found: NewFiles, missed: readonly string[]): ToolResult {
  const files = fitting(found.files);
  const stopped = files.length < found.files.length ? "output" : found.stopped;
  const notes = [...stopNotes(stopped, files.length), ...missed].map((note) => `[${note}]`);
  return {
    output: [...files.map(({ path }) => shownBytes(path)), ...notes].join("\n"),
    metadata: {
      path: place.path,
      files: files.map(({ path, size, mtime }) => ({
        path: textOfName(path),
        size,
        mtime: mtime.toISOString(),
      })),
      truncated: stopped !== undefined,
      ...(stopped && { stopped_by: stopped }),
    },
  };
}

function stopNotes(stopped: NewFiles["stopped"] | "output", count: number): string[] {
  if (stopped === "output") {
    return [`The newest ${count} are shown, 2 MiB of paths, of more. To go on, narrow pattern or path`];
  }
  if (stopped === "limit") {
    return [`The newest ${count} are shown, of more. To go on, narrow pattern or path, or raise limit`];
  }
  if (stopped === "time") {
    return [
      `Time ran out: these are the newest ${count} of what was found until then. To go on, narrow pattern or path, or give more time with timeout_ms`,
    ];
  }
  return [];
}

function nothing(place: Place, why: string, missed: readonly string[] = []): ToolResult {
  return {
    output: [why, ...missed].map((note) => `[${note}]`).join("\n"),
    metadata: { path: place.path, files: [], truncated: false },
  };
}

function notAFolder(place: Place): MatrxError {
  return new MatrxError({
    code: "TOOL_EXECUTION_FAILED",
    message: `${place.shown} is a file, not a directory`,
    hint: "Name the directory that it stands in",
    hop: "tool",
    details: { path: place.shown },
  });
}
