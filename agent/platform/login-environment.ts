/**
 * The environment that the user has after a login. An agent that no shell started, such as a service, has another one: it
 * lacks what the user's profile sets. So a login shell is asked for it, once.
 */
import { spawn } from "node:child_process";
import { userInfo } from "node:os";
import { delimiter } from "node:path";
import { cleanEnvironment } from "./environment.ts";

/** A profile that takes longer is left out, in milliseconds. */
const PATIENCE_MS = 5000;
/** Longer is no environment, in characters. */
const MOST_CHARS = 4 * 1024 * 1024;
const MARK = "__matrx_environment__";
/** Of the shell that tells it. */
const OF_SHELL: ReadonlySet<string> = new Set(["_", "SHLVL", "PWD", "OLDPWD"]);

const taken = new WeakMap<NodeJS.ProcessEnv, Promise<NodeJS.ProcessEnv>>();

/** Of the user whose agent has this environment: what commands get. Without the agent's secrets. */
export function loginEnvironment(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const own = cleanEnvironment(env);
  if (isOfLogin(env)) return Promise.resolve(withLanguage(own));
  const known = taken.get(env);
  if (known !== undefined) return known;
  const asked = askShell(withUser(own)).then((login) => withLanguage(login ?? own));
  taken.set(env, asked);
  return asked;
}

/** Whether a shell started the agent: all of them count how deep they are. Those on a desktop are services too. */
function isOfLogin(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === "win32") return true;
  const isService = Boolean(env.INVOCATION_ID) || (env.XPC_SERVICE_NAME ?? "0") !== "0";
  return !isService && env.SHLVL !== undefined;
}

/** What a login knows of its user before any profile is read. */
function withUser(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { username, homedir, shell } = userInfo();
  const known = { HOME: homedir, USER: username, LOGNAME: username, ...(shell && { SHELL: shell }) };
  const isSet = ([, value]: [string, string | undefined]) => value !== undefined && value !== "";
  return { ...known, ...Object.fromEntries(Object.entries(env).filter(isSet)) };
}

/** With UTF-8, unless the user chose otherwise: without any choice, programs take each byte for a character. */
function withLanguage(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.LC_ALL || env.LC_CTYPE || env.LANG) return env;
  return { ...env, LANG: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8" };
}

/** Undefined if it does not tell in time. What its profile starts may live on. */
function askShell(own: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv | undefined> {
  const { SHELL: shell } = own;
  if (shell === undefined) return Promise.resolve(undefined);
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const tell = `process.stdout.write(${JSON.stringify(MARK)} + JSON.stringify(process.env) + ${JSON.stringify(MARK)})`;
  const command = `${quoted(process.execPath)} -e ${quoted(tell)}`;
  // Interactive, as in a terminal: much is set in files that other shells do not read.
  const child = spawn(shell, ["-i", "-l", "-c", command], {
    ...{ env: own, cwd: "/", detached: true, stdio: ["ignore", "pipe", "ignore"] },
  });
  return new Promise((resolve) => {
    const end = (said: string | undefined) => {
      clearTimeout(late);
      child.stdout.destroy();
      resolve(said === undefined ? undefined : environmentIn(said, own));
    };
    const late = setTimeout(() => {
      end(undefined);
      killGroup(child.pid);
    }, PATIENCE_MS);
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.split(MARK).length > 2) end(said);
      else if (said.length > MOST_CHARS) end(undefined);
    });
    child.once("error", () => end(undefined)).once("close", () => end(said));
  });
}

function environmentIn(said: string, own: NodeJS.ProcessEnv): NodeJS.ProcessEnv | undefined {
  const [, told, after] = said.split(MARK);
  if (told === undefined || after === undefined) return undefined;
  const login: NodeJS.ProcessEnv = JSON.parse(told);
  const kept = Object.entries(login).filter(([name]) => !OF_SHELL.has(name));
  return { ...cleanEnvironment(Object.fromEntries(kept)), PATH: joined(login.PATH, own.PATH) };
}

/** A profile may set the PATH anew, without the folders that the agent was given. */
function joined(...paths: readonly (string | undefined)[]): string {
  const folders = paths.flatMap((path) => path?.split(delimiter) ?? []);
  return [...new Set(folders.filter((folder) => folder !== ""))].join(delimiter);
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
