/** How a system is asked to show things to the person before it. macOS and Windows: written from documents, not run. */

/** A program to start, apart from the agent. */
export interface LaunchCommand {
  /** An absolute path, or a name to be found on the PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** It is watched this long for an early failure, in milliseconds. */
  readonly watchMs: number;
  /** It only passes things on, and ends at once when that worked. */
  readonly handsOver: boolean;
  /** In a group of its own. */
  readonly detached: boolean;
}

/** A monitor by index or by name; absent: the primary one, or all where the program knows no other. */
export type MonitorChoice = number | string | undefined;

/** A program that writes a picture of the screen into a file, and ends. */
export interface Camera {
  readonly program: string;
  argsFor(file: string, format: "png" | "jpeg"): readonly string[];
}

export interface DesktopCommands {
  /** Tells whether there may be a screen. */
  hasDisplay(env: NodeJS.ProcessEnv): boolean;
  /** Tells whether that screen is there at this moment; `exists` asks for a socket. */
  isDisplayThere(env: NodeJS.ProcessEnv, exists: (path: string) => boolean): boolean;
  /** What to do when there is none. */
  readonly displayHint: string;
  /** What a picture of one colour all over probably means. */
  readonly blankHint: string;
  /** Programs that open a web address or an absolute path with the default handler, best first. */
  openers(target: string, env: NodeJS.ProcessEnv): readonly LaunchCommand[];
  /** Ways to start an application, best first; `hasEntry` asks for a desktop entry by its id. */
  launchers(
    app: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    hasEntry: (id: string) => boolean,
  ): readonly LaunchCommand[];
  /** Programs that take a picture, best first; those that cannot choose this monitor are left out. */
  cameras(monitor: MonitorChoice, env: NodeJS.ProcessEnv): readonly Camera[];
  /** A folder of this name may be more than a folder: a program, or what the system acts on when it is opened. */
  isMoreThanFolder(name: string): boolean;
}
