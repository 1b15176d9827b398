/** The screen of this machine: opens things on it, takes pictures of it, and shares its clipboard. */
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Caller } from "../core/gate.ts";
import type { Lack } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { Pictures } from "../pictures/pictures.ts";
import { currentPlatform } from "../platform/current.ts";
import { loginEnvironment } from "../platform/login-environment.ts";
import type { LaunchCommand, Platform } from "../platform/platform.ts";
import { findProgram } from "../platform/run-program.ts";
import { ClipboardServer } from "./clipboard-server.ts";
import { noDisplayError } from "./errors.ts";
import { type Launched, launchFirst } from "./launch.ts";
import { type CallerSurroundings, type Surroundings, surroundingsOf } from "./surroundings.ts";

/** What to do if no picture can be taken. */
export const CAMERA_HINT = "On Linux, install ffmpeg (X11), or grim, gnome-screenshot or spectacle (Wayland)";

/** What to do if no program for the clipboard is there. */
export const CLIPBOARD_HINT = "On Linux, install xclip or xsel (X11), or wl-clipboard (Wayland)";

export interface DesktopOptions {
  readonly platform?: Platform;
  readonly env?: NodeJS.ProcessEnv;
  readonly pictures?: Pictures;
}

export class Desktop {
  readonly platform: Platform;
  readonly pictures: Pictures;
  readonly clipboardServer = new ClipboardServer();
  readonly #env: NodeJS.ProcessEnv;

  constructor({
    platform = currentPlatform(),
    env = process.env,
    pictures = new Pictures(),
  }: DesktopOptions = {}) {
    this.platform = platform;
    this.pictures = pictures;
    this.#env = env;
  }

  /** Opens a web address or an absolute path with the default handler. Throws MatrxError. */
  open(target: string, surroundings: Surroundings): Promise<Launched> {
    return this.#launch(surroundings, (env) => this.platform.desktop.openers(target, env));
  }

  /** Starts an application by its name. Throws MatrxError. */
  startApp(app: string, args: readonly string[], surroundings: Surroundings): Promise<Launched> {
    const { launchers } = this.platform.desktop;
    return this.#launch(surroundings, (env) => launchers(app, args, env, (id) => hasDesktopEntry(id, env)));
  }

  /** In what surroundings programs run for a caller. */
  surroundingsOf(files: Files, caller: Caller): CallerSurroundings {
    return surroundingsOf(() => this.ownSurroundings(), this.#env, files, caller);
  }

  /** Those of callers who may run any program: the user's, without the agent's secrets. */
  async ownSurroundings(): Promise<Surroundings> {
    return { env: await loginEnvironment(this.#env), cwd: os.homedir() };
  }

  /** Throws MatrxError, reason `NO_DISPLAY`. */
  requireDisplay(): void {
    const { hasDisplay, displayHint } = this.platform.desktop;
    if (!hasDisplay(this.#env)) throw noDisplayError("The agent has no display on this machine", displayHint);
  }

  /** What is missing to show something on the screen, as far as can be told. */
  lackOfDisplay(): Lack | undefined {
    const { hasDisplay, isDisplayThere, displayHint } = this.platform.desktop;
    if (!hasDisplay(this.#env)) return { why: "The agent has no display on this machine", help: displayHint };
    if (isDisplayThere(this.#env, isSocketThere)) return undefined;
    return { why: "The agent's display is gone", help: displayHint };
  }

  /** What is missing to open web addresses and files. */
  async lackOfOpener(): Promise<Lack | undefined> {
    const openers = (env: NodeJS.ProcessEnv) => this.platform.desktop.openers("", env);
    return (
      this.lackOfDisplay() ??
      (await this.#lackOfProgram(openers, {
        why: "No program was found to open things with",
        help: "On Linux, install xdg-utils",
      }))
    );
  }

  /** What is missing to take pictures of the screen. */
  async lackOfCamera(): Promise<Lack | undefined> {
    const cameras = (env: NodeJS.ProcessEnv) => this.platform.desktop.cameras(undefined, env);
    const lack = this.lackOfDisplay();
    if (lack || isInstalled("node-screenshots")) return lack;
    return await this.#lackOfProgram(cameras, {
      why: "No screenshot program was found",
      help: CAMERA_HINT,
    });
  }

  /** What is missing to read and write the clipboard. */
  async lackOfClipboard(): Promise<Lack | undefined> {
    const readers = (env: NodeJS.ProcessEnv) =>
      this.platform.desktop
        .clipboards(env)
        .filter(({ writer }) => findProgram(writer.program, env) !== undefined)
        .map(({ reader }) => reader);
    return (
      this.lackOfDisplay() ??
      (await this.#lackOfProgram(readers, {
        why: "No program for the clipboard was found",
        help: CLIPBOARD_HINT,
      }))
    );
  }

  async #lackOfProgram(
    programs: (env: NodeJS.ProcessEnv) => readonly { program: string }[],
    lack: Lack,
  ): Promise<Lack | undefined> {
    const env = await loginEnvironment(this.#env);
    const isThere = programs(env).some(({ program }) => findProgram(program, env) !== undefined);
    return isThere ? undefined : lack;
  }

  /** Removes the pictures; a text that was put on the clipboard goes from there where the agent kept it. */
  close(): void {
    this.clipboardServer.close();
    this.pictures.close();
  }

  async #launch(
    surroundings: Surroundings,
    commands: (env: NodeJS.ProcessEnv) => readonly LaunchCommand[],
  ): Promise<Launched> {
    this.requireDisplay();
    return await launchFirst(commands(surroundings.env), surroundings);
  }
}

/** A socket file, or a name in Linux's abstract socket namespace. */
function isSocketThere(path: string): boolean {
  if (existsSync(path)) return true;
  try {
    return readFileSync("/proc/net/unix", "latin1").includes(` @${path}\n`);
  } catch {
    return false;
  }
}

function isInstalled(library: string): boolean {
  try {
    import.meta.resolve(library);
    return true;
  } catch {
    return false;
  }
}

/** Whether a desktop entry with this id is installed (XDG base directories). */
function hasDesktopEntry(id: string, env: NodeJS.ProcessEnv): boolean {
  const own = env.XDG_DATA_HOME || path.join(env.HOME ?? "/", ".local", "share");
  const system = (env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":");
  return [own, ...system].some((folder) => existsSync(path.join(folder, "applications", `${id}.desktop`)));
}
