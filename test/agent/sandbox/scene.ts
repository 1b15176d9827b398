/** What there is to be reached by a command that leaves its sandbox. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ListenOptions, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import path from "node:path";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../helpers/folder.ts";
import { isAlive, Workbench } from "../tools/workbench.ts";

export const SECRET = "s3cret-canary";

export interface Scene {
  /** What is granted: everything of a device; its state is closed, its program not to be changed. */
  readonly root: string;
  readonly home: string;
  /** A folder in it, where commands run. */
  readonly work: string;
  readonly state: string;
  readonly program: string;
  readonly outside: string;
  /** Another process of the same user. */
  readonly helper: number;
  /** A port of this machine, and another of its addresses. */
  readonly port: number;
  readonly address: string;
  /** A socket of another program in the granted folder. */
  readonly socket: string;
  isHelperAlive(): boolean;
  hasLeftProcess(): boolean;
  hasSetuid(name: string): boolean;
  /** Whether something that must stay as it was did not. */
  hasChanged(): boolean;
  /** Runs commands as an AI grant, in the sandbox; returns what they wrote. */
  confined(commands: readonly string[]): Promise<string>;
  /** The same, each as part of one read-only command. */
  reading(commands: readonly string[]): Promise<string>;
  /** The same as the owner, without one. */
  free(commands: readonly string[]): Promise<string>;
}

/** For names and descriptions alone. */
export const NO_SCENE = new Proxy({} as Scene, { get: () => "" });

export async function openScene(): Promise<Scene> {
  const bench = await Workbench.open({ env: { ...process.env, SOME_API_KEY: SECRET } });
  const { home, state, program } = bench;
  const root = path.dirname(home);
  const work = path.join(home, "work");
  const outside = temporaryFolder();
  arrange(bench, outside);
  const helper = await startHelper(outside);
  const port = portOf(await serve({ host: "::", port: 0 }));
  const socket = path.join(work, "host.sock");
  await serve({ path: socket });
  await serve({ path: `\0matrx-escape-${port}` });
  onTestFinished(() => {
    for (const left of [`${root}.old`, `${root}.beside`]) rmSync(left, { recursive: true, force: true });
  });

  const policy: Policy = { denied_paths: [path.join(work, "deep/er/closed")] };
  const grant: GrantScope = {
    id: makeGrantId(),
    owner: false,
    effects: ["read", "write", "execute"],
    paths: [root],
  };
  const session = bench.newSession(grant);
  const own = bench.newSession();
  for (const one of [session, own]) one.cwd = work;
  const before = stateOf({ root, home, state, program, outside });
  const run = async (commands: readonly string[], options: Parameters<Workbench["call"]>[2]) => {
    let output = "";
    for (const command of commands) output += (await bench.call("Bash", { command }, options)).output;
    return output;
  };
  return {
    ...{ root, home, work, state, program, outside, port, socket, address: ownAddress() },
    helper: helper.pid ?? 0,
    isHelperAlive: () => isAlive(helper.pid ?? 0),
    hasLeftProcess: () => runningCommands().includes(`sleep 9${port}`),
    hasSetuid: (name) =>
      ((statSync(path.join(work, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o6000) !== 0,
    hasChanged: () => stateOf({ root, home, state, program, outside }) !== before,
    confined: (commands) => run(commands, { grant, session, policy }),
    async reading(commands) {
      const command = commands.map((one) => `(\n${one}\n)`).join("\n");
      return (await bench.call("Bash", { command, read_only: true }, { grant, session, policy })).output;
    },
    free: (commands) => run(commands, { session: own }),
  };
}

function arrange(bench: Workbench, outside: string): void {
  const { state, program } = bench;
  const put = (file: string, content: string) => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  put(path.join(outside, "secret"), SECRET);
  put(path.join(state, "key"), SECRET);
  put(path.join(program, "agent.js"), "export {};\n");
  put(bench.at("work", ".env"), SECRET);
  put(bench.at("work", "deep/er/closed/key"), SECRET);
  put(bench.at("work", "repo/.git/config"), "[core]\n");
  put(bench.at("work", "repo/.git/hooks/sample"), "#!/bin/sh\n");
  put(bench.at("work", "repo/new-config"), "[core]\nfsmonitor = evil\n");
  symlinkSync(path.join(outside, "secret"), bench.at("work", "link"));
  linkSync(path.join(state, "key"), bench.at("work", "other-name"));
  linkSync(path.join(program, "agent.js"), bench.at("work", "linked.js"));
}

type Places = Pick<Scene, "root" | "home" | "state" | "program" | "outside">;

function stateOf({ root, home, state, program, outside }: Places): string {
  const read = (file: string) => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return undefined;
    }
  };
  const list = (folder: string) => {
    try {
      return readdirSync(folder);
    } catch {
      return undefined;
    }
  };
  return JSON.stringify([
    [root, home].map((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()),
    [path.join(state, "key"), path.join(program, "agent.js"), path.join(home, "work/repo/.git/config")].map(
      read,
    ),
    [state, program, outside, path.join(home, "work/repo/.git/hooks")].map(list),
    [path.join(home, ".bashrc"), `${root}.beside`].map(read),
  ]);
}

async function startHelper(cwd: string): Promise<ChildProcess> {
  const helper = spawn("sleep", ["2000"], { cwd, env: { PATH: process.env.PATH, SECRET }, stdio: "ignore" });
  onTestFinished(() => void helper.kill("SIGKILL"));
  await once(helper, "spawn");
  return helper;
}

/** A server that tells the secret to whoever connects. */
async function serve(where: ListenOptions): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(SECRET);
  });
  server.listen(where);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

export function runningCommands(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
      } catch {
        return "";
      }
    });
}
