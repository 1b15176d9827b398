/** The tool that finds files and folders by name. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { nothingMissed } from "../search/engine.ts";
import { entriesNamed, type NamedEntries, type NamedEntry } from "../search/named-entries.ts";
import { fitting, leftOutNote, missedNotes, throwUnlessTimedOut } from "../search/notes.ts";
import { openScope } from "../search/scope.ts";
import { shownBytes, textOfName } from "../text/display-name.ts";

const DEFAULT_LIMIT = 100;

const input = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(1000)
    .describe("A name or part of one, in any case; or a glob if it contains * ? [ or {"),
  path: z.string().min(1).optional().describe("Directory to search in (default: working directory)"),
  recursive: z.boolean().optional().describe("Search subdirectories too (default true)"),
  limit: z.int().min(1).max(5000).optional().describe("Maximum number of results (default 100)"),
  show_hidden: z
    .boolean()
    .optional()
    .describe("Include dotfiles (default false, unless the query begins with a dot)"),
});

export function searchFilesTool(files: Files) {
  return defineTool({
    name: "search_files",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Find files and directories by name: absolute paths, directories with / at the end. Exact names come first, then names that begin with the query, then names that contain it. At most 100 results unless limit says otherwise. Includes files that .gitignore excludes; links are found but not followed. Stops after 30 s and returns what it found.",
    input,
    model: { prompt: "Find files by name", unless: "Glob" },
    timeoutMs: 30_000,
    prepare: ({ path = "." }) => ({ paths: [{ path, intent: "read" }] }),
    async handle({ query, path = ".", recursive: deep = true, limit = DEFAULT_LIMIT, ...wanted }, context) {
      const { signal } = context;
      const access = await files.as(context);
      const place = await access.findExisting(path, "read");
      const showHidden = wanted.show_hidden ?? query.startsWith(".");
      const scope = await openScope(access, place, { showHidden, includeIgnored: true });
      const missed = nothingMissed();
      const began = performance.now();
      const found = await entriesNamed({ scope, missed, signal }, { query, deep, limit });
      throwUnlessTimedOut(signal);
      const entries = fitting(found.entries);
      const stopped = entries.length < found.entries.length ? "output" : found.stopped;
      const notes = [...stopNotes(stopped, entries.length), ...missedNotes(missed)];
      if (entries.length === 0 && !stopped) {
        const leftOut = await leftOutNote({ scope, ms: performance.now() - began, signal }, async (run) => {
          const { entries: others } = await entriesNamed(run, { query, deep, limit: 1 });
          return others[0] && textOfName(others[0].path);
        });
        notes.unshift(`No such name${leftOut}`);
      }
      return {
        output: [...entries.map(lineOf), ...notes.map((note) => `[${note}]`)].join("\n"),
        metadata: {
          path: place.path,
          results: entries.map(factsOf),
          truncated: stopped !== undefined,
          ...(stopped && { stopped_by: stopped }),
        },
      };
    },
  });
}

function lineOf({ path, type }: NamedEntry): string {
  return `${shownBytes(path)}${type === "directory" ? "/" : ""}`;
}

function factsOf({ path, type, size, mtime }: NamedEntry) {
  return { path: textOfName(path), type, size, mtime: mtime.toISOString() };
}

function stopNotes(stopped: NamedEntries["stopped"] | "output", count: number): string[] {
  if (stopped === "output") {
    return [`These are the best ${count}, 2 MiB of paths; there are more. Narrow query or path`];
  }
  if (stopped === "limit") {
    return [`These are the best ${count}; there are more. Narrow query or path, or raise limit`];
  }
  if (stopped === "time") {
    return [
      `Time ran out: these are the best ${count} found so far. Narrow the path, or allow more time with timeout_ms`,
    ];
  }
  return [];
}
