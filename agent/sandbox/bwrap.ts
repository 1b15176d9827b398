/** Sandbox by bubblewrap: an empty root, into which only what the rules name is bound. No network at all. */
import { lstatSync } from "node:fs";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Wrapped } from "../platform/platform.ts";
import type { SandboxBackend } from "./backend.ts";
import { limited } from "./limits.ts";
import { type HiddenPath, type SandboxRules, SCRATCH } from "./rules.ts";
import { seccompFilter } from "./seccomp.ts";
import type { SystemPaths } from "./system-paths.ts";

export interface BwrapOptions {
  /** The path of `bwrap`. */
  readonly bwrap: string;
  readonly prlimit: string | undefined;
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

/**
 * All namespaces and no capabilities: as root, a command could otherwise unmount what hides a folder. New sessions, so that
 * it has no terminal of ours. It dies with the program that starts it, which is a job's shell and not the agent.
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
  "--new-session",
];

export class Bwrap implements SandboxBackend {
  readonly name = "bubblewrap";
  readonly #options: BwrapOptions;
  readonly #filter: Uint8Array | undefined = seccompFilter();

  constructor(options: BwrapOptions) {
    this.#options = options;
  }

  wrap(command: readonly string[], rules: SandboxRules): Wrapped {
    if (rules.network.length > 0) throw noDomains(rules.network);
    const { bwrap, prlimit, env } = this.#options;
    const filter = this.#filter;
    const inside = { ...env, HOME: rules.home ?? PRIVATE_HOME, TMPDIR: SCRATCH };
    const args = [
      ...ISOLATION,
      ...this.#mounts(rules),
      ...Object.entries(inside).flatMap(([name, value]) => ["--setenv", name, value]),
      ...(filter ? ["--seccomp", `${FILTER_FD}`] : []),
    ];
    const fds: Wrapped["fds"][number][] = [{ fd: ARGS_FD, content: Buffer.from(args.join("\0")) }];
    if (filter) fds.push({ fd: FILTER_FD, content: filter });
    return {
      file: bwrap,
      args: ["--args", `${ARGS_FD}`, "--", ...limited(command, rules.limits, prlimit)],
      env: {},
      fds,
    };
  }

  #mounts({ readable, writable, hidden, cwd, limits }: SandboxRules): string[] {
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
      // Last: until then, bwrap creates mount points there.
      ...["--remount-ro", "/dev", "--remount-ro", "/"],
      ...["--chdir", cwd],
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

function noDomains(domains: readonly string[]): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `This device can't yet limit commands to domains (${domains.join(", ")})`,
    {
      hint: "Ask the owner to remove the domains from the grant; its commands then run without a network",
      details: { network: [...domains] },
    },
  );
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
