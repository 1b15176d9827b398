/** The program of a command line. */

/** A program's path may hold spaces: an application's is known by its end, others by the first word. */
export function programName(command: string): string {
  const inBundle = /^\/.*?\.app\/Contents\/MacOS\/([^/]+?)(?= -|$)/.exec(command)?.[1];
  return inBundle ?? command.split(" ", 1)[0]?.split("/").at(-1) ?? command;
}
