/** The sandbox of this machine: whether it works, and how a caller's commands run in it. */
import { randomUUID } from "node:crypto";
import { agentError, type MatrxError } from "@matrx/shared/errors.ts";
import type { Caller } from "../core/gate.ts";
import type { Lack } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import { confinedEnvironment } from "../platform/environment.ts";
import { loginEnvironment } from "../platform/login-environment.ts";
import type { Wrap, Wrapped } from "../platform/platform.ts";
import type { SandboxBackend } from "./backend.ts";
import { RulesCompiler } from "./compile.ts";
import type { DomainProxies } from "./domain-proxies.ts";
import { findBackend } from "./find-backend.ts";
import { Networks } from "./networks.ts";
import { isIn } from "./paths.ts";
import { type Tried, tryOut } from "./probe.ts";
import { mayRead, type SandboxRules } from "./rules.ts";

export interface SandboxOptions {
  readonly files: Files;
  /** The agent's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly home?: string;
  /** For commands that may reach domains. */
  readonly proxies: DomainProxies;
  /** Absent: what this machine has. */
  readonly findBackend?: typeof findBackend;
}

/** A command's place in the sandbox. */
export interface Confinement {
  readonly rules: SandboxRules;
  /** Whether it can make no socket to another program of this machine. */
  readonly closesSockets: boolean;
  readonly wrap: Wrap;
  /** The same for a program on a terminal of its own, which finds the folder `scripts` at `SCRIPTS_INSIDE`. */
  wrapOnTerminal(command: readonly string[], scripts: string): Wrapped;
  /** Whether a folder is one that the caller was granted. */
  isGranted(folder: string): boolean;
}

export class Sandbox {
  readonly #compiler: RulesCompiler;
  readonly #env: NodeJS.ProcessEnv;
  readonly #findBackend: typeof findBackend;
  readonly #proxies: DomainProxies;
  readonly #networks = new Networks();
  #tried: Promise<Tried> | undefined;

  constructor({ files, env = process.env, home, proxies, findBackend: find = findBackend }: SandboxOptions) {
    this.#proxies = proxies;
    this.#compiler = new RulesCompiler(files, home);
    this.#env = env;
    this.#findBackend = find;
  }

  /** Why it does not work here; undefined if it does. */
  async lack(): Promise<Lack | undefined> {
    return (await this.#try()).lack;
  }

  /** Once: a machine is not repaired while its agent runs. */
  #try(): Promise<Tried> {
    this.#tried ??= tryOut((isStaged) => this.#findBackend(confinedEnvironment(this.#env), isStaged));
    return this.#tried;
  }

  /** Prepares a command of a caller. Throws MatrxError `UNAVAILABLE` if it could not be confined. */
  async confine(caller: Caller): Promise<Confinement> {
    const confined = await this.#confined(caller);
    if ("why" in confined) throw withoutSandbox(confined);
    return confined;
  }

  /**
   * The same for a command that only reads, whoever calls: nothing on the machine is writable, it reaches nobody, and shares
   * nothing with other commands of its session.
   */
  async confineReader({ session: { cwd }, rights }: Caller): Promise<Confinement> {
    const reading = { ...rights, shell: "sandbox", mayWrite: false, network: [] } as const;
    const confined = await this.#confined({ session: { cwd }, rights: reading });
    if ("why" in confined) throw withoutReader(confined);
    if (!confined.closesSockets) throw withoutReader(NO_FILTER);
    return confined;
  }

  /** Throws MatrxError. */
  async #confined(caller: Caller): Promise<Confinement | Lack> {
    const { isStaged, lack } = await this.#try();
    if (lack) return lack;
    const login = await loginEnvironment(this.#env);
    const { PATH: searchPath = "" } = login;
    const environment = { ...confinedEnvironment(login), PATH: searchPath };
    const backend = this.#findBackend(environment, isStaged);
    if (!("wrap" in backend)) return backend;
    const rules = await this.#compiler.compile(caller, searchPath);
    const network = await this.#networkFor(caller, rules.network, backend);
    return {
      rules,
      closesSockets: backend.closesSockets,
      wrap: (command) => backend.wrap(command, rules, { network }),
      wrapOnTerminal: (command, scripts) => backend.wrap(command, rules, { network, terminal: { scripts } }),
      isGranted: (folder) => rules.granted.some((root) => isIn(folder, root)) && mayRead(rules, folder),
    };
  }

  /** Who has no session shares none, and needs one only to reach domains. */
  async #networkFor({ session }: Caller, domains: readonly string[], backend: SandboxBackend) {
    if (session.id === undefined && domains.length === 0) return undefined;
    const name = JSON.stringify([session.grant, session.id ?? randomUUID(), [...domains].sort()]);
    return this.#networks.of(name, async () => {
      const proxy = domains.length > 0 ? await this.#proxies.socketFor(domains) : undefined;
      return backend.makeNetwork(proxy);
    });
  }

  /** Gives up the networks; commands that run keep theirs, without a way to domains. */
  close(): Promise<void> {
    return this.#networks.close();
  }
}

function withoutSandbox({ why, help }: Lack): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `This token's commands must run in a sandbox, and it does not work here: ${why}`,
    {
      hint: help,
    },
  );
}

const NO_FILTER: Lack = {
  why: `no filter of system calls is known for ${process.arch}`,
  help: "Use the file tools",
};

function withoutReader({ why, help }: Lack): MatrxError {
  return agentError(
    "UNAVAILABLE",
    `A read-only command runs in a sandbox, and it does not work here: ${why}`,
    { hint: `${help}. Without read_only, a command runs as the token allows` },
  );
}
