/**
 * The environment and folder of desktop programs, by who calls. For callers who may run any program they are the user's own.
 * For others, nothing that they may write says what runs: programs of the system alone, in the root folder, with no
 * variable of the user's.
 */
import os from "node:os";
import path from "node:path";
import type { Caller } from "../core/gate.ts";
import type { Files } from "../fs/access.ts";
import { screenEnvironment } from "../platform/environment.ts";
import type { Platform } from "../platform/platform.ts";
import { ROOT } from "../platform/run-program.ts";
import { toolName } from "../text/tool-names.ts";
import { deniedError } from "./errors.ts";
import { steeredPlace } from "./steering.ts";

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Where a desktop's programs run for one caller. */
export interface CallerSurroundings {
  /** Of programs that read no settings: for pictures and the clipboard. */
  forHelpers(): Promise<Surroundings>;
  /** Of those that hand over to the user's programs. Throws MatrxError `PERMISSION_DENIED` if the caller could choose them. */
  forOpeners(): Promise<Surroundings>;
}

/** `own`: the user's. */
export function surroundingsOf(
  own: () => Promise<Surroundings>,
  env: NodeJS.ProcessEnv,
  files: Files,
  caller: Caller,
): CallerSurroundings {
  if (caller.rights.mayRunAnyProgram) return { forHelpers: own, forOpeners: own };
  const { platform } = files;
  const home = env.HOME ?? os.homedir();
  const steered = async () => {
    if (!caller.rights.mayWrite) return undefined;
    return steeredPlace(await files.as(caller), platform.desktop.handlerPlaces(env, home), home);
  };
  return {
    async forHelpers() {
      const screen = helperEnvironment(env, platform, home);
      // The session's bus starts programs that lie in the user's folders.
      if ((await steered()) !== undefined) screen.DBUS_SESSION_BUS_ADDRESS = "disabled:";
      return { env: screen, cwd: ROOT };
    },
    async forOpeners() {
      const place = await steered();
      if (place !== undefined) throw choosesHandlers(place);
      return { env: openerEnvironment(env, platform, home), cwd: ROOT };
    },
  };
}

/** No home: programs there would find settings that name others, or libraries to load. */
const NO_HOME = "/nonexistent";

function helperEnvironment(env: NodeJS.ProcessEnv, platform: Platform, home: string): NodeJS.ProcessEnv {
  const screen = { ...screenEnvironment(env), PATH: platform.systemPath(env) };
  if (platform.name !== "Linux") return screen;
  const XAUTHORITY = env.XAUTHORITY || path.posix.join(home, ".Xauthority");
  return { ...screen, HOME: NO_HOME, XAUTHORITY };
}

const OF_HOME = /^(?:HOME|XDG_(?:CONFIG|DATA)_(?:HOME|DIRS)|XDG_(?:CACHE|STATE)_HOME)$/;

function openerEnvironment(env: NodeJS.ProcessEnv, platform: Platform, home: string): NodeJS.ProcessEnv {
  const users = Object.fromEntries(Object.entries(env).filter(([name]) => OF_HOME.test(name)));
  return { ...screenEnvironment(env), ...users, HOME: home, PATH: platform.systemPath(env) };
}

function choosesHandlers(place: string) {
  return deniedError(
    "This caller can't open things: it may write where the programs are chosen that open them, and so could run any",
    `Ask the owner to open it, or to close that place to writing (denied_paths); ${toolName("Read")} shows a file's content`,
    { reason: "CHOOSES_HANDLERS", place },
  );
}
