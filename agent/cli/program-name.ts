/** How this program was started, and therefore how its commands are typed. */
import { basename, delimiter, dirname } from "node:path";
import { CLONE_FOLDER, namedToNpx } from "../config/program.ts";

interface Started {
  /** The path by which it was started. */
  path: string;
  env: NodeJS.ProcessEnv;
  isClone: boolean;
  /** The package that npx is given. */
  npxTarget: string;
}

/** `matrx` if it is on the PATH, else its npx command. */
export function programName({ path, env, isClone, npxTarget }: Started = startedHere()): string {
  const byNpx = `npx ${npxTarget}`;
  if (env.npm_command === "exec") return byNpx;
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter);
  const isOnPath = /^matrx(\.cmd|\.ps1)?$/.test(basename(path)) && folders.includes(dirname(path));
  return isOnPath || !isClone ? "matrx" : byNpx;
}

/** Replaces `matrx ...` in one of our texts by the command as it is typed here, over the end of a line of the help, too. */
export function asTyped(text: string, name: string = programName()): string {
  return text.replace(/(?<![\w@/.-]|npx )matrx(?=(?: |\n {8,})[[<]?(?:--?)?[a-z])/g, name);
}

function startedHere(): Started {
  const isClone = CLONE_FOLDER !== undefined;
  return {
    path: process.argv[1] ?? "",
    env: process.env,
    isClone,
    npxTarget: isClone ? "matrx" : namedToNpx(),
  };
}
