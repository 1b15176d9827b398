/** How this program was started, and so how its commands are typed. */
import { existsSync } from "node:fs";
import { basename, delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Its name at the npm registry. */
const PACKAGE = "@matrx-relay/agent";

/** It runs from its sources: then other commands of the repository are at hand, too. */
export const IS_CLONE = existsSync(fileURLToPath(new URL("../../scripts/start.ts", import.meta.url)));

interface Started {
  /** The path by which it was started. */
  path: string;
  env: NodeJS.ProcessEnv;
  isClone: boolean;
}

/** `matrx` where it is on the PATH, else by npx. */
export function programName({ path, env, isClone }: Started = startedHere()): string {
  const byNpx = isClone ? "npx matrx" : `npx ${PACKAGE}`;
  if (env.npm_command === "exec") return byNpx;
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter);
  const isOnPath = /^matrx(\.cmd|\.ps1)?$/.test(basename(path)) && folders.includes(dirname(path));
  return isOnPath || !isClone ? "matrx" : byNpx;
}

/** A text of ours, in which commands are written `matrx ...`, with commands as they are typed here. */
export function asTyped(text: string, name: string = programName()): string {
  return text.replace(/(?<![\w@/.-]|npx )matrx (?=[[<]?(?:--?)?[a-z])/g, `${name} `);
}

function startedHere(): Started {
  return { path: process.argv[1] ?? "", env: process.env, isClone: IS_CLONE };
}
