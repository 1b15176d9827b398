/** Tries the sandbox out: runs a real command in it, which attempts what it must not do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Lack } from "../core/tool.ts";
import type { Wrapped } from "../platform/platform.ts";
import { posixShell, SYSTEM_PATH } from "../platform/posix.ts";
import { ROOT } from "../platform/run-program.ts";
import type { SandboxBackend } from "./backend.ts";
import { realDisk } from "./disk.ts";
import { installCommand } from "./install-command.ts";
import { defaultLimits } from "./limits.ts";
import { outliving } from "./outliving.ts";
import { compileRules, type SandboxRules } from "./rules.ts";
import { systemPaths } from "./system-paths.ts";

/** A command must answer within this time, in milliseconds. */
const WITHIN = 20_000;
/** How the folder is called in which it is tried. */
const SCENE = "matrx-sandbox-";
/** No attempt takes so long, in milliseconds. */
const ABANDONED_AFTER = 10 * WITHIN;

/**
 * Arguments: a granted folder, one outside, and a port of this machine. Each line says what a command could do; the first
 * is all it should.
 */
const ATTEMPTS = `
echo written > "$1/file" && read -r word < "$1/file" && echo "can $word"
read -r word 2> /dev/null < "$1/closed/canary" && echo "reads what is closed"
read -r word 2> /dev/null < "$2/canary" && echo "reads what is outside"
{ echo x > "$2/new"; } 2> /dev/null && [ -e "$2/canary" ] && echo "writes outside"
{ : <> "/dev/tcp/127.0.0.1/$3"; } 2> /dev/null && echo "reaches this machine's ports"
exit 7`;

export interface Tried {
  readonly isStaged: boolean;
  /** Why it does not work. */
  readonly lack: Lack | undefined;
}

/** In a stage where the system allows that; else without one, which takes a bubblewrap that no link leads outside. */
export async function tryOut(find: (isStaged: boolean) => SandboxBackend | Lack): Promise<Tried> {
  const lack = await lackOf(find(true));
  return lack ? { isStaged: false, lack: await lackOf(find(false)) } : { isStaged: true, lack };
}

/** Why the sandbox does not work, or undefined. */
export async function lackOf(backend: SandboxBackend | Lack): Promise<Lack | undefined> {
  if (!("wrap" in backend)) return backend;
  await removeAbandoned();
  const scene = await realpath(await mkdtemp(path.join(tmpdir(), SCENE)));
  try {
    const [granted, outside] = [path.join(scene, "granted"), path.join(scene, "outside")];
    for (const folder of [outside, path.join(granted, "closed"), path.join(granted, "turned/made")]) {
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, "canary"), "canary\n");
    }
    return (await attempt(backend, granted, outside)) ?? (await attemptByLink(backend, granted, outside));
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  } finally {
    await rm(scene, { recursive: true, force: true });
  }
}

/** What programs that were killed meanwhile left of this user's. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(SCENE)) continue;
    const folder = path.join(tmpdir(), name);
    const stat = await lstat(folder).catch(() => undefined);
    if (!stat?.isDirectory() || stat.uid !== process.geteuid?.()) continue;
    if (Date.now() - stat.mtimeMs < ABANDONED_AFTER) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function attempt(backend: SandboxBackend, granted: string, outside: string): Promise<Lack | undefined> {
  await using server = createServer((socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const command = [...shell(), ATTEMPTS, "probe", granted, outside, String(port)];
  const network = await backend.makeNetwork(undefined);
  const { code, out, err } = await run(backend.wrap(command, rulesOf(granted), { network }));
  await network?.close();
  if (code === 7 && out === "can written\n") return undefined;
  const holes = out.split("\n").filter((line) => line !== "" && line !== "can written");
  return failed(holes.length > 0 ? `a command in it ${holes.join(", ")}` : err.trim() || `exit code ${code}`);
}

/** As if another command had put a link in the place of a folder, just before it is mounted. */
async function attemptByLink(
  backend: SandboxBackend,
  granted: string,
  outside: string,
): Promise<Lack | undefined> {
  const turned = path.join(granted, "turned");
  const wrapped = backend.wrap([...shell(), "echo ran"], rulesOf(granted));
  await rename(turned, `${turned}.old`);
  await symlink(path.join("/oldroot", outside), turned);
  const { out } = await run(wrapped);
  if (existsSync(path.join(outside, "made")))
    return { why: "a link leads bubblewrap outside", help: OUTDATED };
  return out === "" ? undefined : failed("a command in it runs where a folder was exchanged");
}

const OUTDATED = `Install bubblewrap 0.12 or newer, or one in which CVE-2026-87766 is mended: ${installCommand()}`;

function rulesOf(granted: string): SandboxRules {
  return compileRules(
    {
      folderLimits: [[granted]],
      ...{ mayRead: true, mayWrite: true, network: [], unchangeable: [], opened: [], sealed: [] },
      closed: [path.join(granted, "closed"), path.join(granted, "turned/made")],
      cwd: granted,
      home: granted,
      limits: defaultLimits(),
      system: systemPaths().folders,
    },
    realDisk,
  );
}

function shell(): string[] {
  return [posixShell({ PATH: SYSTEM_PATH }, existsSync).file, "-c"];
}

async function run({ file, args, env, fds }: Wrapped) {
  const highest = Math.max(2, ...fds.map(({ fd }) => fd));
  const stdio = Array.from({ length: highest + 1 }, (_, fd) =>
    fd === 1 || fd === 2 || fds.some((one) => one.fd === fd) ? ("pipe" as const) : ("ignore" as const),
  );
  const [program = "", ...words] = outliving([file, ...args]);
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...env, PATH: SYSTEM_PATH },
    stdio,
    timeout: WITHIN,
    killSignal: "SIGKILL",
  });
  for (const { fd, content } of fds) {
    const pipe = child.stdio[fd];
    if (!(pipe instanceof Writable)) continue;
    // A bwrap that fails at once reads nothing.
    pipe.on("error", () => undefined);
    pipe.end(content);
  }
  const [out, err, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : "",
    child.stderr ? text(child.stderr) : "",
    once(child, "close"),
  ]);
  return { code, out, err };
}

function failed(said: string): Lack {
  const why = said.split("\n").at(-1)?.slice(0, 300) ?? said;
  return { why, help: helpFor(why) };
}

function helpFor(why: string): string {
  if (/unknown option/i.test(why)) return `bubblewrap 0.8 or newer is needed: ${installCommand()}`;
  if (!/namespace|uid map|Permission denied|Operation not permitted|ENOSPC|No space/i.test(why))
    return "Run: matrx doctor";
  if (isSet("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
    return "AppArmor keeps bubblewrap from making user namespaces: add a profile for /usr/bin/bwrap that allows userns, or run: sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  if (isSet("/proc/sys/kernel/unprivileged_userns_clone", "0"))
    return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1";
  if (isSet("/proc/sys/user/max_user_namespaces", "0"))
    return "Allow user namespaces: sysctl user.max_user_namespaces=15000";
  return "Allow this program to create user namespaces; a container must be started with a seccomp profile that permits it";
}

function isSet(file: string, value: string): boolean {
  try {
    return readFileSync(file, "utf8").trim() === value;
  } catch {
    return false;
  }
}
