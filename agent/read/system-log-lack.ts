/** Whether this machine has a log that the agent can read, as far as can be told without reading it. */
import { accessSync, constants, readdirSync } from "node:fs";
import type { Lack } from "../core/tool.ts";
import { hasCode } from "../fs/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { findProgram } from "../platform/run-program.ts";
import type { LogSource } from "../platform/system-log.ts";

/** Undefined if there is one. */
export function lackOfSystemLog({
  systemLog,
  systemPath,
}: Pick<Platform, "systemLog" | "systemPath">): Lack | undefined {
  const searchPath = systemPath(process.env);
  if (systemLog.some((source) => mayHaveLines(source, searchPath))) return undefined;
  const places = systemLog.flatMap((source) =>
    source.by === "program" ? (source.kept ?? source.file) : source.place,
  );
  return {
    why: "The agent can't read a system log here",
    help: `Expected in one of: ${places.join(", ")}`,
  };
}

function mayHaveLines(source: LogSource, searchPath: string): boolean {
  if (source.by === "file") return mayRead(source.place);
  const isThere = findProgram(source.file, { PATH: searchPath }) !== undefined;
  return isThere && (source.kept === undefined || source.kept.some(mayHaveEntries));
}

function mayRead(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A folder closed to the agent may have entries that the program can read. */
function mayHaveEntries(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch (error) {
    return !hasCode(error, "ENOENT", "ENOTDIR");
  }
}
