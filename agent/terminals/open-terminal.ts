/** Opens a terminal for a caller: with the shell and in the folder that its rights allow, confined as its commands are. */
import { realpath } from "node:fs/promises";
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { shellOf } from "../core/gate.ts";
import type { ToolContext } from "../core/tool.ts";
import { absolutePath } from "../platform/path-syntax.ts";
import type { Platform } from "../platform/platform.ts";
import { SYSTEM_PATH } from "../platform/posix.ts";
import { SCRIPTS_INSIDE } from "../sandbox/backend.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { findShell, shellStart } from "./shell.ts";
import type { Terminals } from "./terminals.ts";

export interface TerminalParts {
  readonly terminals: Terminals;
  readonly sandbox: Sandbox;
  readonly platform: Platform;
}

export interface WantedTerminal {
  readonly name?: string | undefined;
  readonly cwd?: string | undefined;
  readonly shell?: string | undefined;
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /** It is opened for one command. */
  readonly spare?: boolean;
}

type Opener = Pick<ToolContext, "session" | "grant" | "rights">;

/** The shell and the folder that a caller would get. Throws MatrxError. */
export async function planTerminal(parts: TerminalParts, { shell, cwd }: WantedTerminal, caller: Opener) {
  const { terminals, sandbox, platform } = parts;
  const { session, rights } = caller;
  const folder = cwd === undefined ? session.cwd : absolutePath(cwd, session.cwd, platform);
  if (rights.shell === "free")
    return {
      file: findShell(shell, await terminals.environment(), platform),
      cwd: folder,
      confinement: undefined,
    };
  const confinement = await sandbox.confine({
    session: { id: session.id, grant: session.grant, cwd: folder },
    rights,
  });
  if (cwd !== undefined && (await realpath(folder).catch(() => undefined)) !== confinement.rules.cwd)
    throw notGranted();
  return { file: systemShell(shell, platform), cwd: confinement.rules.cwd, confinement };
}

/** Throws MatrxError. */
export async function openTerminal(parts: TerminalParts, wanted: WantedTerminal, caller: Opener) {
  const { terminals } = parts;
  const { name, cols = 80, rows = 24, spare = false } = wanted;
  const { file, cwd, confinement } = await planTerminal(parts, wanted, caller);
  const { grant, session, rights } = caller;
  const scripts = terminals.shellScripts();
  const seen = confinement
    ? { scripts: SCRIPTS_INSIDE, env: {}, login: false }
    : { scripts, env: await terminals.environment(), login: true };
  const { env, ...start } = shellStart(file, seen);
  const id = await terminals.create({
    ...{ grant, session: session.id, name, file, cwd, cols, rows, spare, ...start },
    recorded: rights.recordsTerminals,
    env: { ...env, SHELL: file },
    ...(confinement && {
      confinement: {
        limits: shellOf(rights),
        wrapped: confinement.wrapOnTerminal([file, ...start.args], scripts),
      },
    }),
  });
  return { id, shell: file, cwd, cols, rows, ...(rights.recordsTerminals && { recorded: true }) };
}

/** In the sandbox there are the system's own shells; of others, a caller must not learn whether they exist. */
function systemShell(wanted = "bash", platform: Platform): string {
  if (/[/\\]/.test(wanted)) throw onlyByName();
  return findShell(wanted, { PATH: SYSTEM_PATH }, platform);
}

function onlyByName(): MatrxError {
  return toolError("INVALID_PARAMETERS", "shell: in the sandbox only the system's shells can be had", {
    hint: "Give a name, such as bash or zsh; or leave it out",
    details: { field: "shell" },
  });
}

function notGranted(): MatrxError {
  return toolError("PERMISSION_DENIED", "cwd: this folder is not one that the call may enter", {
    hint: "Give a folder that was granted; or leave it out",
    details: { field: "cwd" },
  });
}
