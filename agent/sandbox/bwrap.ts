/** Sandbox by bubblewrap: an empty root, into which only what the rules name is bound. */
import { readFileSync, realpathSync } from "node:fs";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Wrapped } from "../platform/platform.ts";
import { type Network, type SandboxBackend, SCRIPTS_INSIDE, type Surroundings } from "./backend.ts";
import { cacheEnvironment } from "./caches.ts";
import { installCommand } from "./install-command.ts";
import { limited, type SandboxLimits } from "./limits.ts";
import { checked, expectationOf, expectationText, FIRST_OF_SYSTEM } from "./mount-check.ts";
import { parseMounts } from "./mount-table.ts";
import { bindOf, maskOf, type Parts, partsOf } from "./mounts.ts";
import { makeNetwork, PROXY_PORT } from "./network.ts";
import { distinctRoots, isIn } from "./paths.ts";
import { type SandboxRules, SCRATCH } from "./rules.ts";
import { seccompFilter } from "./seccomp.ts";
import type { SystemPaths } from "./system-paths.ts";

export interface BwrapOptions {
  /** The path of `bwrap`. */
  readonly bwrap: string;
  readonly prlimit: string | undefined;
  /** Needed for networks that are shared. */
  readonly nsenter: string | undefined;
  /** Needed for domains. */
  readonly socat: string | undefined;
  readonly system: SystemPaths;
  /** The environment of commands, but for HOME and TMPDIR. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Whether the sandbox is made within another one. bubblewrap before 0.12 creates a mount point wherever a link leads it
   * (CVE-2026-87766): then there is nothing outside the granted folders. The system must allow a namespace in a namespace.
   */
  readonly isStaged: boolean;
}

/** Descriptors that the command's shell leaves free. */
const CHECK_FD = 4;
const ARGS_FD = 6;
const FILTER_FD = 7;
const STAGE_FD = 9;
/** The home folder of commands that may not read the real one. */
const PRIVATE_HOME = "/run/home";
/** Folders that each command has for itself. */
const FRESH = [PRIVATE_HOME, SCRATCH];
/** bubblewrap's own process tells when the command ends: nobody writes into it. */
const OWN_PROCESS = [...["--ro-bind", "/dev/null", "/proc/1/mem"], ...["--tmpfs", "/proc/1/task"]];
const SHARED_MEMORY = "/dev/shm";
const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`;
const PROXY_ENVIRONMENT = {
  ...{ HTTP_PROXY: PROXY_URL, HTTPS_PROXY: PROXY_URL, http_proxy: PROXY_URL, https_proxy: PROXY_URL },
  ...{ NO_PROXY: "localhost,127.0.0.1,::1", no_proxy: "localhost,127.0.0.1,::1" },
  NODE_USE_ENV_PROXY: "1",
};
/**
 * Namespaces and no capabilities: as root, a command could otherwise unmount what hides a folder. It dies with the
 * program that starts it: a job's shell, or the holder of terminals, and not the agent.
 */
const ISOLATION = [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
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
  readonly #filter = seccompFilter();

  constructor(options: BwrapOptions) {
    this.#options = options;
  }

  get closesSockets(): boolean {
    return this.#filter !== undefined;
  }

  async makeNetwork(proxy: string | undefined): Promise<Network | undefined> {
    const { system, bwrap, nsenter, socat, isStaged } = this.#options;
    if (!isStaged || nsenter === undefined) return undefined;
    return makeNetwork({ system, bwrap, nsenter, socat }, proxy);
  }

  wrap(command: readonly string[], rules: SandboxRules, surroundings: Surroundings = {}): Wrapped {
    const { bwrap, prlimit, env, isStaged } = this.#options;
    const { network, terminal } = surroundings;
    if (rules.network.length > 0 && !network?.hasProxy) throw this.#noWayTo(rules.network);
    const inside = {
      ...{ ...env, ...(network?.hasProxy && PROXY_ENVIRONMENT) },
      ...{ HOME: rules.home ?? PRIVATE_HOME, TMPDIR: SCRATCH },
      ...cacheEnvironment(rules),
      ...(terminal && TERMINAL_ENVIRONMENT),
    };
    const parts = partsOf(rules);
    const host = parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
    const sandbox = [
      ...ISOLATION,
      ...(network ? [] : ["--unshare-net"]),
      ...(isStaged && isRoot() ? ["--uid", "0", "--gid", "0"] : []),
      ...(terminal ? [] : [WITHOUT_TERMINAL]),
      ...this.#mounts(parts, rules.limits),
      ...(terminal ? ["--ro-bind", isStaged ? SCRIPTS_INSIDE : terminal.scripts, SCRIPTS_INSIDE] : []),
      // Last: until then, bwrap creates mount points there.
      ...["--remount-ro", "/dev", "--remount-ro", "/"],
      ...["--chdir", rules.cwd],
      ...Object.entries(inside).flatMap(([name, value]) => ["--setenv", name, value]),
      ...(this.#filter ? ["--seccomp", `${FILTER_FD}`] : []),
    ];
    const expected = expectationOf(
      {
        bound: parts.first.map(({ path }) => path),
        ...{ masks: parts.firstMasks, fresh: FRESH, searched: rules.searched },
      },
      host,
    );
    const fds: Wrapped["fds"][number][] = [
      { fd: CHECK_FD, content: Buffer.from(expectationText(expected)) },
      { fd: ARGS_FD, content: Buffer.from(sandbox.join("\0")) },
    ];
    if (this.#filter) fds.push({ fd: FILTER_FD, content: this.#filter });
    if (isStaged)
      fds.push({ fd: STAGE_FD, content: Buffer.from(this.#stage(rules, surroundings).join("\0")) });
    const [file = bwrap, ...args] = [
      ...(network?.enter ?? []),
      ...(isStaged ? [bwrap, "--args", `${STAGE_FD}`, "--"] : []),
      ...[realpathSync(bwrap), "--args", `${ARGS_FD}`, "--"],
      ...checked(limited(command, rules.limits, prlimit), CHECK_FD),
    ];
    return { file, args, env: {}, fds };
  }

  #noWayTo(domains: readonly string[]): MatrxError {
    const { isStaged, nsenter, socat } = this.#options;
    const missing = [nsenter ? [] : ["nsenter"], socat ? [] : ["socat"]].flat();
    const why = isStaged
      ? `${missing.join(" and ")} is not installed`
      : "the system allows no namespace in a namespace";
    return agentError("UNAVAILABLE", `Commands can't reach ${domains.join(", ")}: ${why}`, {
      hint: isStaged ? `Install it: ${installCommand()}` : "Run: matrx doctor",
      details: { network: [...domains] },
    });
  }

  /**
   * The room in which the sandbox is made: whatever a path leads to while it is mounted, nothing is there but what the caller
   * was granted, and what programs need.
   */
  #stage({ readable, writable }: SandboxRules, { terminal }: Surroundings): string[] {
    const tops = distinctRoots([...readable, ...writable]);
    const isWritten = (top: string) => writable.some((path) => isIn(path, top));
    return [
      ...["--unshare-user", "--cap-drop", "ALL", "--die-with-parent"],
      // The kernel lets nobody map root's number into a further namespace.
      ...(isRoot() ? ["--uid", "1000", "--gid", "1000"] : []),
      ...this.#links(),
      // A namespace gets a new /proc only where it sees a whole one.
      ...["--bind", "/proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],
      ...tops.flatMap((path) => [isWritten(path) ? "--bind-try" : "--ro-bind-try", path, path]),
      ...(terminal ? ["--ro-bind", terminal.scripts, SCRIPTS_INSIDE] : []),
      ...["--remount-ro", "/"],
    ];
  }

  #mounts({ first, firstMasks, last, lastMasks }: Parts, limits: SandboxLimits): string[] {
    const { kernelSettings, kernelMemory } = this.#options.system;
    const scratch = (folder: string) => [
      ...["--size", `${limits.scratchBytes}`, "--perms", "0700", "--tmpfs", folder],
    ];
    return [
      ...this.#links(),
      ...FRESH.flatMap(scratch),
      ...first.flatMap(bindOf),
      ...firstMasks.flatMap(maskOf),
      // From here on, no path is in a folder that commands can change: what was mounted in these places is covered.
      ...["--proc", FIRST_OF_SYSTEM, "--dev", "/dev"],
      ...OWN_PROCESS,
      ...kernelSettings.flatMap((path) => ["--ro-bind-try", path, path]),
      ...kernelMemory.flatMap((path) => ["--ro-bind", "/dev/null", path]),
      ...scratch(SHARED_MEMORY),
      ...last.flatMap(bindOf),
      ...lastMasks.flatMap(maskOf),
    ];
  }

  #links(): string[] {
    return this.#options.system.links.flatMap(([link, target]) => ["--symlink", target, link]);
  }
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}
