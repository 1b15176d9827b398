/** The screen of this machine: what is opened on it, and pictures of it. */
import { cleanEnvironment, loginPath } from "../jobs/environment.ts";
import { currentPlatform } from "../platform/current.ts";
import type { LaunchCommand } from "../platform/desktop.ts";
import type { Platform } from "../platform/platform.ts";
import { hasDesktopEntry } from "./desktop-entry.ts";
import { noDisplay } from "./errors.ts";
import { type Launched, launchFirst } from "./launch.ts";
import { Pictures } from "./pictures.ts";

export interface DesktopOptions {
  readonly platform?: Platform;
  readonly env?: NodeJS.ProcessEnv;
}

export class Desktop {
  readonly platform: Platform;
  readonly pictures = new Pictures();
  readonly #env: NodeJS.ProcessEnv;
  #environment: Promise<NodeJS.ProcessEnv> | undefined;

  constructor({ platform = currentPlatform(), env = process.env }: DesktopOptions = {}) {
    this.platform = platform;
    this.#env = env;
  }

  /** Opens a web address or an absolute path with the default handler. Throws MatrxError. */
  open(target: string, cwd: string): Promise<Launched> {
    return this.#launch(cwd, (env) => this.platform.desktop.openers(target, env));
  }

  /** Starts an application by its name. Throws MatrxError. */
  startApp(app: string, args: readonly string[], cwd: string): Promise<Launched> {
    const { launchers } = this.platform.desktop;
    return this.#launch(cwd, (env) => launchers(app, args, env, (id) => hasDesktopEntry(id, env)));
  }

  /** What programs of the desktop are started with: without the agent's secrets. */
  environment(): Promise<NodeJS.ProcessEnv> {
    this.#environment ??= loginPath(this.#env).then((path) => ({
      ...cleanEnvironment(this.#env),
      ...(path && { PATH: path }),
    }));
    return this.#environment;
  }

  /** Throws MatrxError, reason `NO_DISPLAY`. */
  requireDisplay(): void {
    const { hasDisplay, displayHint } = this.platform.desktop;
    if (!hasDisplay(this.#env)) throw noDisplay("The agent has no display on this machine", displayHint);
  }

  /** Removes the pictures. */
  close(): void {
    this.pictures.close();
  }

  async #launch(
    cwd: string,
    commands: (env: NodeJS.ProcessEnv) => readonly LaunchCommand[],
  ): Promise<Launched> {
    this.requireDisplay();
    const env = await this.environment();
    return await launchFirst(commands(env), { env, cwd });
  }
}
