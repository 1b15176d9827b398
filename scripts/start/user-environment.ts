/** The environment that the person had before npm: what this machine's agent, and the commands it runs, should see. */
import { delimiter, sep } from "node:path";

const NPM = /^(npm_|INIT_CWD$|NODE$|COLOR$|MATRX_DATA$)/;

/** Without npm's variables, its folders on the PATH, and the relay's secrets. */
export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !NPM.test(name) && !SECRET.has(name));
  const path = env.PATH?.split(delimiter).filter((folder) => !isOfNpm(folder));
  return { ...Object.fromEntries(own), ...(path && { PATH: path.join(delimiter) }) };
}

const SECRET: ReadonlySet<string> = new Set(["RELAY_KEYS", "CLAIM_SECRET"]);

function isOfNpm(folder: string): boolean {
  return folder.endsWith(`node_modules${sep}.bin`) || folder.endsWith("node-gyp-bin");
}
