/** Sandbox by bubblewrap: an empty root, into which only what the rules name is bound. The only network is a proxy. */
import { lstatSync } from "node:fs";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Wrapped } from "../platform/platform.ts";
import { type SandboxBackend, SCRIPTS_INSIDE, type Surroundings } from "./backend.ts";
import { installCommand } from "./install-command.ts";
import { limited } from "./limits.ts";
import { type HiddenPath, type SandboxRules, SCRATCH } from "./rules.ts";
import { seccompFilter } from "./seccomp.ts";
import type { SystemPaths } from "./system-paths.ts";

export interface BwrapOptions {
  /** The path of `bwrap`. */
  readonly bwrap: string;
  readonly prlimit: string | undefined;
  /** Needed for domains only. */
  readonly socat: string | undefined;
  readonly system: SystemPaths;
  /** The environment of commands, but for HOME and TMPDIR. */
  readonly env: Readonly<Record<string, string>>;
}

/** Descriptors that the command's shell leaves free. */
const ARGS_FD = 6;
const FILTER_FD = 7;
/** bwrap takes 9000 arguments; a hidden folder takes four. */
const MOST_MOUNTS = 2000;
/** The home folder of commands that may not read the real one. */
const PRIVATE_HOME = "/run/home";
const SHARED_MEMORY = "/dev/shm";
const PROXY_SOCKET = "/run/proxy.sock";
const PROXY_PORT = 3128;
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;
const PROXY_ENVIRONMENT = {
  ...{ HTTP_PROXY: PROXY_URL, HTTPS_PROXY: PROXY_URL, http_proxy: PROXY_URL, https_proxy: PROXY_URL },
  ...{ NO_PROXY: "localhost,127.0.0.1,::1", no_proxy: "localhost,127.0.0.1,::1" },
  NODE_USE_ENV_PROXY: "1",
};
const FORWARDER = `
socat=$1; shift
"$socat" TCP-LISTEN:${PROXY_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${PROXY_SOCKET} < /dev/null > /dev/null 2>&1 &
until grep -qs ':${PROXY_PORT.toString(16).toUpperCase().padStart(4, "0")} .* 0A ' /proc/net/tcp; do kill -0 $! || exit 126; sleep 0.01; done
exec "$@"`;

/**
 * All namespaces and no capabilities: as root, a command could otherwise unmount what hides a folder. It dies with the
 * program that starts it: a job's shell, or the holder of terminals, and not the agent.
 */
const ISOLATION = [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--disable-userns",
  ...["--cap-drop", "ALL"],
  "--die-with-parent",
];
/** So that a command has no terminal of ours. On one of its own it needs that session for job control. */
const WITHOUT_TERMINAL = "--new-session";
const TERMINAL_ENVIRONMENT = { TERM: "xterm-256color", COLORTERM: "truecolor" };

export class Bwrap implements SandboxBackend {
  readonly name = "bubblewrap";
  readonly #options: BwrapOptions;
  readonly #filter = seccompFilter({ unixSockets: false });
  /** The way to the proxy is a socket, too. */
  readonly #filterWithProxy = seccompFilter({ unixSockets: true });

  constructor(options: BwrapOptions) {
    this.#options = options;
  }

  wrap(command: readonly string[], rules: SandboxRules, { proxy, terminal }: Surroundings = {}): Wrapped {
    const { bwrap, prlimit, socat, env } = this.#options;
    if (proxy !== undefined && socat === undefined) throw noSocat(rules.network);
    const filter = proxy === undefined ? this.#filter : this.#filterWithProxy;
    const proxied = proxy === undefined ? {} : PROXY_ENVIRONMENT;
    const inside = {
      ...{ ...env, ...proxied, HOME: rules.home ?? PRIVATE_HOME, TMPDIR: SCRATCH },
      ...(terminal && TERMINAL_ENVIRONMENT),
    };
    const args = [
      ...ISOLATION,
      ...(terminal ? [] : [WITHOUT_TERMINAL]),
      ...this.#mounts(rules),
      ...(proxy === undefined ? [] : ["--ro-bind", proxy, PROXY_SOCKET]),
      ...(terminal ? ["--ro-bind", terminal.scripts, SCRIPTS_INSIDE] : []),
      // Last: until then, bwrap creates mount points there.
      ...["--remount-ro", "/dev", "--remount-ro", "/"],
      ...["--chdir", rules.cwd],
      ...Object.entries(inside).flatMap(([name, value]) => ["--setenv", name, value]),
      ...(filter ? ["--seccomp", `${FILTER_FD}`] : []),
    ];
    const start = proxy === undefined || socat === undefined ? [] : withForwarder(socat);
    const fds: Wrapped["fds"][number][] = [{ fd: ARGS_FD, content: Buffer.from(args.join("\0")) }];
    if (filter) fds.push({ fd: FILTER_FD, content: filter });
    return {
      file: bwrap,
      args: ["--args", `${ARGS_FD}`, "--", ...start, ...limited(command, rules.limits, prlimit)],
      env: {},
      fds,
    };
  }

  #mounts({ readable, writable, hidden, limits }: SandboxRules): string[] {
    const scratch = (folder: string) => [
      "--size",
      `${limits.scratchBytes}`,
      "--perms",
      "0700",
      "--tmpfs",
      folder,
    ];
    const binds = [
      ...readable.map((path) => ({ path, how: "--ro-bind-try" })),
      ...writable.map((path) => ({ path, how: "--bind-try" })),
    ].sort((a, b) => a.path.length - b.path.length);
    const present = hidden.filter(isStillThere);
    if (binds.length + present.length > MOST_MOUNTS) throw tooManyMounts(binds.length + present.length);
    const { links, kernelSettings, kernelMemory } = this.#options.system;
    return [
      ...links.flatMap(([link, target]) => ["--symlink", target, link]),
      ...["--proc", "/proc", "--dev", "/dev"],
      ...kernelSettings.flatMap((path) => ["--ro-bind-try", path, path]),
      ...kernelMemory.flatMap((path) => ["--ro-bind", "/dev/null", path]),
      ...scratch(SHARED_MEMORY),
      ...scratch(PRIVATE_HOME),
      ...scratch(SCRATCH),
      ...binds.flatMap(({ path, how }) => [how, path, path]),
      ...present.flatMap(maskOf),
    ];
  }
}

/** What stands over a hidden path refuses to be read, written, moved or removed. */
function maskOf({ path, isFolder }: HiddenPath): string[] {
  return isFolder ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** bwrap would create what is missing. */
function isStillThere({ path }: HiddenPath): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Starts the way to the proxy, waits until it listens, and goes on with the command. */
function withForwarder(socat: string): string[] {
  return ["/bin/sh", "-c", FORWARDER, "matrx-network", socat];
}

function noSocat(domains: readonly string[]): MatrxError {
  return agentError("UNAVAILABLE", `Commands can't reach ${domains.join(", ")}: socat is not installed`, {
    hint: `Install it: ${installCommand()}`,
    details: { network: [...domains] },
  });
}

function tooManyMounts(mounts: number): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `The granted folders hold too many closed paths (${mounts}) for the sandbox`,
    {
      hint: "Ask the owner for smaller folders, or to close whole folders instead of single files in them",
      details: { limit: MOST_MOUNTS, mounts },
    },
  );
}
