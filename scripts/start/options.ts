/** What `npm start` may be told. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, Problem } from "../problem.ts";
import { DEFAULT_DATA } from "../tree.ts";

export interface StartOptions {
  /** 0: any free one. */
  port: number;
  /** Absolute path of the folder for keys, data and this machine's agent. */
  dataDir: string;
  /** Host headers that a proxy in front passes on. */
  hosts: string[];
}

const USAGE = "npm start -- [--port 8787] [--data .matrx]";

/** Reads options, then the environment (`PORT`, `MATRX_DATA`, `MATRX_HOSTS`), then the defaults. */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): StartOptions {
  const { port, data } = parse(args);
  const folder = data || env.MATRX_DATA;
  return {
    port: portOf(port ?? env.PORT ?? "8787"),
    // npm runs scripts in the repository; a relative path is meant from where the person stands.
    dataDir: folder ? resolve(env.INIT_CWD ?? ".", folder) : DEFAULT_DATA,
    hosts: (env.MATRX_HOSTS ?? "").split(/[\s,]+/).filter(Boolean),
  };
}

function parse(args: readonly string[]) {
  try {
    const options = { port: { type: "string" }, data: { type: "string" } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Problem(`${messageOf(error)}\nUsage: ${USAGE}`);
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new Problem(`"${text}" is not a port: give a number up to 65535.\nUsage: ${USAGE}`);
}
