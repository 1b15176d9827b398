/** The environment of commands: without the agent's secrets and its launcher's variables. */
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

const OF_SCREEN =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|XDG_SESSION_[A-Z]+|XDG_CURRENT_DESKTOP|DESKTOP_SESSION|KDE_FULL_SESSION|KDE_SESSION_VERSION|DBUS_SESSION_BUS_ADDRESS)$/;
const OF_WINDOWS =
  /^(?:SystemRoot|SystemDrive|windir|TEMP|TMP|USERNAME|USERPROFILE|APPDATA|LOCALAPPDATA|ProgramData|ProgramFiles(?:\(x86\))?)$/i;

/** What programs need to find the screen and its user; nothing that says what they run or load. */
export function screenEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => OF_SCREEN.test(name) || OF_WINDOWS.test(name)),
  );
}

/** For programs that need nothing of ours, nor of the user's; Windows programs need to know where Windows is. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}

const OF_NPM = /^(npm_|INIT_CWD$|NODE$|COLOR$)/;

/** What npm gives to programs of somebody who has chosen no editor. */
const EDITORS_OF_NPM: readonly unknown[] = ["vi", "notepad.exe"];

/** The environment before npm or npx: without their variables and their folders on the PATH. */
export function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOfNpmToo = (name: string) => name === "EDITOR" && EDITORS_OF_NPM.includes(env[name]);
  const own = Object.entries(env).filter(([name]) => !OF_NPM.test(name) && !isOfNpmToo(name));
  const path = env.PATH?.split(delimiter).filter((folder) => !isOfNpm(folder));
  return { ...Object.fromEntries(own), ...(path && { PATH: path.join(delimiter) }) };
}

function isOfNpm(folder: string): boolean {
  return folder.endsWith(`node_modules${sep}.bin`) || folder.endsWith("node-gyp-bin");
}
