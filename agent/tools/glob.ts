/** Glob: finds files by pattern, newest first. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import * as z from "zod";
import { defineTool, type ToolResult } from "../core/tool.ts";
import type { FileAccess, Files, ResolvedPath } from "../fs/access.ts";
import { isAbsolute } from "../platform/path-syntax.ts";
import { nothingMissed } from "../search/engine.ts";
import type { SearchEngines } from "../search/engines.ts";
import { type NewFiles, newestFiles } from "../search/newest-files.ts";
import {
  firstOf,
  leftOutNote,
  MOST_CHARS,
  missedNotes,
  relativePath,
  relativeToNote,
  throwUnlessTimedOut,
  USUAL_CHARS,
} from "../search/notes.ts";
import { pathPattern, splitPattern } from "../search/path-pattern.ts";
import { openScope } from "../search/scope.ts";
import { linksNote } from "../search/unseen-links.ts";
import { textOfName } from "../text/display-name.ts";

const DEFAULT_LIMIT = 1000;
const MOST = 10_000;

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe("Such as *.py (in any folder), src/**/*.{js,ts}, ./*.md (this folder only)"),
  path: z.string().min(1).optional().describe("Directory (default: working directory)"),
  limit: z.int().min(1).max(MOST).optional().describe("Maximum number of files to return (default 1000)"),
  show_hidden: z.boolean().optional().describe("Include dotfiles the pattern does not name (default false)"),
  include_ignored: z
    .boolean()
    .optional()
    .describe("Include files that .gitignore excludes, and .git (default false)"),
});

export function globTool(files: Files, engines: SearchEngines) {
  return defineTool({
    name: "Glob",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Find files by glob, newest first; paths are relative to the directory searched. Finds files only, no folders. Leaves out dotfiles the pattern does not name, and what .gitignore excludes, unless show_hidden or include_ignored is true.",
    details:
      "A pattern without / matches names in any folder; ~/notes/*.txt works too. At most 1000 files or 25,000 characters unless limit says otherwise. Links are neither found nor followed. Stops after 15 s and returns what it found.",
    input,
    model: { prompt: "Find files by pattern", omit: ["limit", "show_hidden", "include_ignored"] },
    timeoutMs: 15_000,
    prepare({ pattern, path = "." }) {
      const { folder } = splitPattern(pattern, files.platform.path.sep);
      const from = isAbsolute(folder, files.platform) ? folder : files.platform.path.join(path, folder);
      return { paths: [{ path: from, intent: "read" }] };
    },
    async handle({ pattern, path = ".", limit, ...wanted }, context) {
      const { signal } = context;
      const { show_hidden: showHidden = false, include_ignored: includeIgnored = false } = wanted;
      const access = await files.as(context);
      const { folder, rest } = splitPattern(pattern, access.platform.path.sep);
      const names = pathPattern(rest, showHidden);
      const place = await placeOf(access, path, folder);
      // With an absolute pattern, results are relative to the pattern's own folder.
      const base = isAbsolute(folder, access.platform) ? place : await access.find(path, "read");
      if (place.missing.length > 0) return nothing(place, `${place.shown} does not exist`);
      using _turn = await engines.turn(context);
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
      const found = await newestFiles(engine, names, { scope, missed, signal }, limit ?? DEFAULT_LIMIT);
      throwUnlessTimedOut(signal);
      if (found.files.length === 0 && !found.stopped) {
        const leftOut = await leftOutNote({ scope, ms: performance.now() - began, signal }, async (run) => {
          const { files: others } = await newestFiles(engine, pathPattern(rest, true), run, 1);
          return others[0] && textOfName(others[0].path);
        });
        const links =
          leftOut === "" ? await linksNote(names, { scope, missed: nothingMissed(), signal }) : "";
        throwUnlessTimedOut(signal);
        return nothing(place, `No file matches${leftOut}${links}`, missedNotes(missed));
      }
      const shown = (file: Buffer) => relativePath(file, base.path, access.platform.path.sep);
      const room = { chars: limit === undefined ? USUAL_CHARS : MOST_CHARS, shown };
      return resultOf(place, room, found, [
        ...missedNotes(missed),
        ...(await relativeToNote(access, base.path)),
      ]);
    },
  });
}

/** The folder where the pattern's wildcards begin; only `path` itself must exist. */
async function placeOf(access: FileAccess, path: string, folder: string): Promise<ResolvedPath> {
  if (isAbsolute(folder, access.platform)) return access.find(folder, "read");
  const place = await access.findExisting(path, "read");
  return folder === "" ? place : access.find(access.platform.path.join(place.path, folder), "read");
}

interface Room {
  readonly chars: number;
  readonly shown: (file: Buffer) => string;
}

function resultOf(
  place: ResolvedPath,
  { chars, shown }: Room,
  found: NewFiles,
  more: readonly string[],
): ToolResult {
  const lines = found.files.map((file) => ({ ...file, line: shown(file.path) }));
  const files = firstOf(lines, chars, ({ line }) => line.length + 1);
  const stopped = files.length < lines.length ? "output" : found.stopped;
  const notes = [...stopNotes(stopped, files.length), ...more].map((note) => `[${note}]`);
  return {
    output: [...files.map(({ line }) => line), ...notes].join("\n"),
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
    return [
      `These are the newest ${count}; there is no room for more. Narrow pattern or path, or give a limit`,
    ];
  }
  if (stopped === "limit") {
    return [`These are the newest ${count}; there are more. Narrow pattern or path, or raise limit`];
  }
  if (stopped === "time") {
    return [
      `Time ran out: these are the newest ${count} found so far. Narrow pattern or path, or allow more time with timeout_ms`,
    ];
  }
  if (stopped === "pipe") {
    return [
      `A named pipe kept the search waiting: these are the newest ${count} found so far. Narrow pattern or path`,
    ];
  }
  return [];
}

function nothing(place: ResolvedPath, why: string, missed: readonly string[] = []): ToolResult {
  return {
    output: [why, ...missed].map((note) => `[${note}]`).join("\n"),
    metadata: { path: place.path, files: [], truncated: false },
  };
}

function notAFolder(place: ResolvedPath): MatrxError {
  return toolError("TOOL_EXECUTION_FAILED", `${place.shown} is a file, not a directory`, {
    hint: "Name the directory it is in",
    details: { path: place.shown },
  });
}
