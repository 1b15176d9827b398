/** What `npm start` may be told. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { publicOrigin } from "../../shared/public-url.ts";
import { messageOf, Problem } from "../problem.ts";
import { DEFAULT_DATA } from "../tree.ts";

export interface StartOptions {
  /** 0: any free one. */
  port: number;
  /** Absolute path of the folder for keys, data and this machine's agent. */
  dataDir: string;
  /** The one address at which others reach the relay; undefined: this machine alone does. */
  publicUrl: string | undefined;
  /** `FORWARD_DOMAIN`: whose subdomains lead to the relay, for web servers of devices. The relay says if it is unusable. */
  forwardDomain: string | undefined;
}

export const START_USAGE = `npm start -- [--port 8787] [--data .matrx]

  --port <number>  where to listen; 0 takes any free port (env: PORT)
  --data <folder>  keys, data and this machine's agent (env: MATRX_DATA)
  MATRX_URL        the relay's address for others, behind a proxy that ends TLS: https://relay.example
  FORWARD_DOMAIN   a domain whose subdomains lead to the relay, for web servers of devices`;

/** Tells whether somebody only asks what there is to tell. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.includes("--help") || args.includes("-h");
}

/** Reads options, then the environment (`PORT`, `MATRX_DATA`, `MATRX_URL`, `FORWARD_DOMAIN`), then the defaults. Throws Problem. */
export function readOptions(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  usage: string = START_USAGE,
): StartOptions {
  const { port, data } = parse(args, usage);
  const folder = data || env.MATRX_DATA;
  return {
    port: portOf(port ?? env.PORT ?? "8787", usage),
    // npm runs scripts in the repository; a relative path is meant from where the person stands.
    dataDir: folder ? resolve(env.INIT_CWD ?? ".", folder) : DEFAULT_DATA,
    publicUrl: publicUrlOf(env),
    forwardDomain: env.FORWARD_DOMAIN || undefined,
  };
}

function parse(args: readonly string[], usage: string) {
  try {
    const options = { port: { type: "string" }, data: { type: "string" } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Problem(`${messageOf(error)}\nUsage: ${usage}`);
  }
}

/** `MATRX_URL` of an environment; undefined: there is none. Throws Problem. */
function publicUrlOf({ MATRX_URL: text, MATRX_HOSTS: hosts }: NodeJS.ProcessEnv): string | undefined {
  if (!text && hosts)
    throw new Problem(
      `MATRX_HOSTS is no longer used: give the relay's address instead, MATRX_URL=https://${hosts.split(/[\s,]+/)[0]}`,
    );
  if (!text) return undefined;
  const origin = publicOrigin(text);
  if (origin) return origin;
  throw new Problem(
    `MATRX_URL="${text}" is not a relay's address: give scheme and host only, such as https://relay.example (http works only on this machine).`,
  );
}

function portOf(text: string, usage: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new Problem(`"${text}" is not a port: give a number up to 65535.\nUsage: ${usage}`);
}
