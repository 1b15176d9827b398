/** Which sandbox this machine has. */
import type { Lack } from "../core/tool.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";
import { findProgram } from "../platform/run-program.ts";
import type { SandboxBackend } from "./backend.ts";
import { Bwrap } from "./bwrap.ts";
import { installCommand } from "./install-command.ts";
import { systemPaths } from "./system-paths.ts";

/** `env`: the environment of commands. `isStaged`: see `BwrapOptions`. */
export function findBackend(env: Readonly<Record<string, string>>, isStaged: boolean): SandboxBackend | Lack {
  if (process.platform !== "linux")
    return { why: `there is none yet for ${process.platform}`, help: ELSEWHERE };
  const bwrap = findProgram("bwrap", { PATH: SYSTEM_PATH });
  if (bwrap === undefined)
    return { why: "bubblewrap is not installed", help: `Install it: ${installCommand()}` };
  const prlimit = findProgram("prlimit", { PATH: SYSTEM_PATH });
  const socat = findProgram("socat", { PATH: SYSTEM_PATH });
  const nsenter = findProgram("nsenter", { PATH: SYSTEM_PATH });
  return new Bwrap({ bwrap, prlimit, nsenter, socat, env, system: systemPaths(), isStaged });
}

const ELSEWHERE = "Use the file tools, or the owner's own token";
