/** The environment of commands: the agent's own, without its secrets and its launcher's variables. */
import { execFile } from "node:child_process";
import { delimiter, sep } from "node:path";

/** The relay's secrets, which `npm start` may have in its environment. */
export const SECRETS: ReadonlySet<string> = new Set(["RELAY_KEYS", "CLAIM_SECRET"]);
const OF_SERVICE_MANAGER: ReadonlySet<string> = new Set([
  "NOTIFY_SOCKET",
  "LISTEN_FDS",
  "LISTEN_PID",
  "LISTEN_FDNAMES",
  "WATCHDOG_PID",
  "WATCHDOG_USEC",
  "NODE_CHANNEL_FD",
  "NODE_UNIQUE_ID",
]);

/** The variable that identifies a process's job, even if the process left its group and session. */
const MARK = "MATRX_JOB";

export function markOf(job: string): string {
  return `${MARK}=${job}`;
}

/** Whether this program runs in a job, and so for somebody's call. */
export function isInJob(env: NodeJS.ProcessEnv): boolean {
  return jobIn(env) !== undefined;
}

/** The job that this program runs in. */
export function jobIn(env: NodeJS.ProcessEnv): string | undefined {
  return env[MARK];
}

export function commandEnvironment(
  env: NodeJS.ProcessEnv,
  job: string,
  path: string | undefined,
): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(env), ...(path && { PATH: path }), ...markedEnvironment(job) };
}

/** Variables of commands in a sandbox, which must not hold secrets; without PATH. */
export function confinedEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const isPlain = (name: string) =>
    /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|USER|LOGNAME)$/.test(name);
  const plain = Object.entries(env).filter(([name, value]) => isPlain(name) && value !== undefined);
  return Object.fromEntries(plain) as Record<string, string>;
}

/** The variables that identify a job's processes. */
export function markedEnvironment(job: string): Record<string, string> {
  return { [MARK]: job };
}

/** Without what is for the agent alone: secrets, its own settings, and variables of its service manager or npx. */
export function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    name.startsWith("MATRX_") || SECRETS.has(name) || OF_SERVICE_MANAGER.has(name);
  const own = env.npm_command === undefined ? env : withoutNpm(env);
  return Object.fromEntries(Object.entries(own).filter(([name]) => !isOurs(name)));
}

/** For programs that need nothing of ours, nor of the user's; Windows programs need to know where Windows is. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}

const OF_NPM = /^(npm_|INIT_CWD$|NODE$|COLOR$)/;

/** The environment before npm or npx: without their variables and their folders on the PATH. */
export function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !OF_NPM.test(name));
  const path = env.PATH?.split(delimiter).filter((folder) => !isOfNpm(folder));
  return { ...Object.fromEntries(own), ...(path && { PATH: path.join(delimiter) }) };
}

function isOfNpm(folder: string): boolean {
  return folder.endsWith(`node_modules${sep}.bin`) || folder.endsWith("node-gyp-bin");
}

const BEGIN = "__matrx_path_begin__";
const END = "__matrx_path_end__";

/**
 * The PATH of the user's login shell, if a service manager started the agent: a service's own PATH lacks what the user
 * installed. Undefined if the agent's own PATH is right.
 */
export function loginPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const isService = Boolean(env.INVOCATION_ID) || (env.XPC_SERVICE_NAME ?? "0") !== "0";
  const shell = env.SHELL;
  if (!isService || !shell || process.platform === "win32") return Promise.resolve(undefined);
  const script = `printf '%s' '${BEGIN}'; printenv PATH; printf '%s' '${END}'`;
  // The user's profile runs too, and must not see our secrets.
  const options = { env: cleanEnvironment(env), timeout: 3000, killSignal: "SIGKILL" } as const;
  return new Promise((resolve) => {
    execFile(shell, ["-l", "-c", script], options, (_error, stdout) => {
      const begin = stdout.indexOf(BEGIN);
      const end = stdout.indexOf(END, begin);
      const found = begin === -1 || end === -1 ? "" : stdout.slice(begin + BEGIN.length, end).trim();
      resolve(found || undefined);
    });
  });
}
