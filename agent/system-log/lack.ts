/** Whether this machine has a log that the agent may read, as far as that shows without reading it. */
import { accessSync, constants, existsSync } from "node:fs";
import { findProgram } from "../platform/find-program.ts";
import type { Platform } from "../platform/platform.ts";
import type { LogSource } from "../platform/system-log.ts";
import type { Lack } from "../tool.ts";

/** Undefined: there is one. */
export function lackOfSystemLog(
  { systemLog }: Pick<Platform, "systemLog">,
  env: NodeJS.ProcessEnv,
): Lack | undefined {
  if (systemLog.some((source) => hasSomething(source, env))) return undefined;
  const places = systemLog.flatMap((source) =>
    source.by === "program" ? (source.kept ?? source.file) : source.place,
  );
  return {
    why: "There is no system log that the agent may read",
    help: `It would be in one of: ${places.join(", ")}`,
  };
}

function hasSomething(source: LogSource, env: NodeJS.ProcessEnv): boolean {
  if (source.by === "program")
    return (
      findProgram(source.file, env) !== undefined &&
      (source.kept?.some((folder) => existsSync(folder)) ?? true)
    );
  try {
    accessSync(source.place, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
