/** The environment that the person had before npm: what this machine's agent, and the commands it runs, should see. */
import { SECRETS, withoutNpm } from "../../agent/platform/environment.ts";

const OURS: ReadonlySet<string> = new Set([...SECRETS, "MATRX_DATA"]);

/** Without npm's variables, its folders on the PATH, and the relay's settings and secrets. */
export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(withoutNpm(env)).filter(([name]) => !OURS.has(name)));
}
