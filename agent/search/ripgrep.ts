/** Searches with ripgrep. */
import { closeSync } from "node:fs";
import { ROOT } from "../platform/run-program.ts";
import { textOfName } from "../text/display-name.ts";
import { NUL_WITHIN } from "../text/sniff.ts";
import { CheckedFiles } from "./checked-files.ts";
import type { Engine, FileChoice, Hit, LineQuery, Run } from "./engine.ts";
import type { Ripgrep } from "./find-ripgrep.ts";
import { IgnoreFifos } from "./ignore-fifos.ts";
import { ripgrepRecords } from "./ripgrep-process.ts";
import type { Scope } from "./scope.ts";

/** How many bytes of a line ripgrep prints: enough to recognize the line when it is read from the file again. */
const LINE_BYTES = 256;
/** Limit on files for multi-line matches, which need the whole file in memory; in bytes. */
const MULTILINE_BYTES = 64 * 1024 * 1024;
/** In bytes. */
const LONGEST_PATH = 16 * 1024;
const NUL = 0;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const CLOSING_BRACKET = 93;

export function ripgrepEngine({ file }: Ripgrep): Engine {
  return {
    name: "ripgrep",
    async *files(pattern, run) {
      const args = ["--files", "--null", ...typeArguments(pattern)];
      for await (const records of started(file, args, NUL, run)) {
        const paths = records.map(withoutDot);
        yield run.scope.access.closesPaths ? paths.filter((path) => !isClosed(path, run.scope)) : paths;
      }
    },
    async *lines(query, run) {
      let begun: Buffer | undefined;
      const name = run.scope.file === undefined ? undefined : Buffer.from(run.scope.file);
      const all = name
        ? startedWithFile(file, name, query, run)
        : started(file, lineArguments(query, run.scope), NEWLINE, run);
      for await (const records of all) {
        const hits: Hit[] = [];
        for (const record of records) {
          const joined: Buffer = begun ? Buffer.concat([begun, Buffer.from("\n"), record]) : record;
          const nul = placeOfNul(joined);
          // Counting a closed file would tell that it has a match.
          if (nul !== undefined && nul.at >= NUL_WITHIN && !isClosed(nul.path, run.scope)) run.missed.cut++;
          begun = nul === undefined && isBegunPath(joined) ? joined : undefined;
          const hit = hitOf(joined, name);
          // It gives one column for all lines of a match.
          if (hit) hits.push(query.multiline && hit.column !== undefined ? { ...hit, column: 1 } : hit);
        }
        if (hits.length > 0) yield hits;
      }
    },
  };
}

async function* started(file: string, args: readonly string[], end: number, run: Run) {
  const { scope, missed, signal } = run;
  const fifos = new IgnoreFifos(run);
  const onSilence = (pid: number) => fifos.release(pid);
  await using folder = await scope.access.openFolder(scope.folder, scope.place.shown);
  const all = [...scopeArguments(scope), ...args, "--", `./${scope.file ?? ""}`];
  // By descriptor: what is at the folder's path may change.
  yield* ripgrepRecords({ file, args: all, cwd: folder.self, end, missed, signal, onSilence });
}

/** Searches one file: it is given the open file, since a link or a pipe may be put at its path. */
async function* startedWithFile(file: string, name: Buffer, query: LineQuery, run: Run) {
  const { missed, signal } = run;
  const checked = new CheckedFiles(run);
  try {
    const opened = await checked.open(name);
    if (!opened) return;
    try {
      if (query.multiline && opened.stat.size > MULTILINE_BYTES) return;
      const args = ["--no-config", "--color=never", ...lineArguments(query, run.scope), "--", "-"];
      const { descriptor: input } = opened;
      const onSilence = () => Promise.resolve(false);
      yield* ripgrepRecords({ file, args, cwd: ROOT, input, end: NEWLINE, missed, signal, onSilence });
    } finally {
      closeSync(opened.descriptor);
    }
  } finally {
    await checked.close();
  }
}

function scopeArguments(scope: Scope): string[] {
  const args = ["--no-config", "--color=never", "--path-separator=/"];
  if (scope.showHidden) args.push("--hidden");
  if (scope.includeIgnored) args.push("--no-ignore");
  else {
    args.push("--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-global");
    // In a repository only its own rules apply, not those of folders above it.
    if (!scope.above) args.push("--no-ignore-parent", "--no-require-git");
    args.push("--glob=!.git");
  }
  const { path } = scope.access.platform;
  for (const closed of scope.leftOut) {
    const relative = path.relative(scope.folder, closed).replaceAll(path.sep, "/");
    if (relative !== "") args.push(`--glob=!/${relative.replace(/[*?[\]{}\\!]/g, "\\$&")}`);
  }
  return args;
}

/** Flags for the format of lines; the benchmark uses them too. */
export const LINE_FLAGS: readonly string[] = [
  "--null",
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--column",
  "--byte-offset",
  "--line-buffered",
  "--crlf",
  `--max-columns=${LINE_BYTES}`,
  "--max-columns-preview",
];

function lineArguments(query: LineQuery, scope: Scope): string[] {
  const args = [...LINE_FLAGS];
  if (query.literal) args.push("--fixed-strings");
  else args.push("--engine=auto");
  if (query.caseInsensitive) args.push("--ignore-case");
  if (query.multiline) args.push("--multiline", "--multiline-dotall", `--max-filesize=${MULTILINE_BYTES}`);
  if (query.before > 0) args.push(`--before-context=${query.before}`);
  if (query.after > 0) args.push(`--after-context=${query.after}`);
  if (query.firstOnly) args.push("--max-count=1");
  if (query.ordered) args.push("--sort=path");
  // A file given as path is searched even if it is binary.
  if (scope.file !== undefined) args.push("--text");
  else if (query.include) args.push(...typeArguments(query.include));
  args.push(`--regexp=${query.pattern}`);
  return args;
}

/** By type, because a glob would include ignored files again. */
function typeArguments({ nameHints }: FileChoice): string[] {
  if (nameHints.length === 0) return [];
  return [...nameHints.map((hint) => `--type-add=matrx:${hint}`), "--type=matrx"];
}

function withoutDot(path: Buffer): Buffer {
  return path[0] === 46 && path[1] === 47 ? path.subarray(2) : path;
}

/** Whether a record is the first part of a path with a line break in it; all paths begin with a dot. */
function isBegunPath(record: Buffer): boolean {
  return record[0] === 46 && record.length < LONGEST_PATH && !record.includes(NUL);
}

/** What it writes about a file with a NUL after a match: it searches no further there. */
const STOP_AT_NUL =
  /: WARNING: stopped searching binary file after match \(found "\\0" byte around offset (\d+)\)$/;

function placeOfNul(record: Buffer): { path: Buffer; at: number } | undefined {
  const found = isBegunPath(record) ? STOP_AT_NUL.exec(record.toString("latin1")) : null;
  return found ? { path: withoutDot(record.subarray(0, found.index)), at: Number(found[1]) } : undefined;
}

function isClosed(relative: Buffer, { access, folder }: Scope): boolean {
  return access.isClosed(access.platform.path.join(folder, textOfName(relative)));
}

/**
 * path NUL line:column:offset:text, or path NUL line-offset-text; for an empty match at the end of a file
 * path NUL line:offset:text. Undefined: a separator between groups of lines. `file`: the only one that was searched.
 */
function hitOf(record: Buffer, file: Buffer | undefined): Hit | undefined {
  const end = record.indexOf(NUL);
  if (end < 0) return undefined;
  const head = record.toString("latin1", end + 1, end + 64);
  const found = /^(\d+)(?::(\d+):(\d+):|:(\d+):|-(\d+)-)/.exec(head);
  if (!found) return undefined;
  const [all, line, column, offset, offsetAtEnd, contextOffset] = found;
  // With --crlf it ends every line with CR LF, even the last one of a file.
  const until = record.at(-1) === CARRIAGE_RETURN ? record.length - 1 : record.length;
  const text = record.subarray(end + 1 + all.length, until);
  const mayBeCut = text.length >= LINE_BYTES / 2 && text.at(-1) === CLOSING_BRACKET;
  const cut = mayBeCut ? CUT.exec(text.toString("latin1", text.length - 64)) : null;
  return {
    path: file ?? withoutDot(record.subarray(0, end)),
    line: Number(line),
    offset: Number(offset ?? offsetAtEnd ?? contextOffset),
    column: contextOffset === undefined ? Number(column ?? until - end - all.length) : undefined,
    text: cut ? text.subarray(0, text.length - cut[0].length) : text,
    whole: cut === null,
  };
}

/** What it writes instead of the rest of a long line. */
const CUT = / \[\.\.\. (?:\d+ more match(?:es)?|omitted end of (?:long|context) line)\]$/;
