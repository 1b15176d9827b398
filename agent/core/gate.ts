/**
 * The gate: decides whether a call may run, by its grant, the owner's policy at the relay, and the device's own. It checks
 * the tool's name first, then what the input needs: paths, an application, rights of further tools. Paths are checked once
 * more by descriptor where they are used, which rules out races (TOCTOU): that check is final.
 */
import { hash } from "node:crypto";
import type { BuiltInTool, PortTool } from "@matrx/shared/effects.ts";
import { agentError, type ErrorShape, MatrxError } from "@matrx/shared/errors.ts";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { isClosedTo, type Paused } from "@matrx/shared/paused.ts";
import {
  type AskedAbout,
  type Asking,
  askingRules,
  mayRunAnyProgram,
  needsSandbox,
  type Policy,
  refusalOf,
} from "@matrx/shared/policy.ts";
import {
  HOME_PATHS,
  REPOSITORY_PATHS,
  SECRET_PATHS,
  SYSTEM_PATHS,
  UNCHANGEABLE_PATHS,
} from "@matrx/shared/secret-paths.ts";
import { nameInUse, toolName } from "../text/tool-names.ts";
import { CallRates } from "./call-rates.ts";
import { pausedError } from "./pause.ts";

/** What is done at a path. `folder`: creating a folder where nothing is. `remove`: deleting, moving or replacing what is there. */
export type Intent = "read" | "write" | "folder" | "remove";

export interface PathNeed {
  /** As the caller named it. */
  readonly path: string;
  readonly intent: Intent;
  /** Whether a link at its end means the link itself, not its target. */
  readonly isEntry?: boolean;
  /** Whether the same is done to all that is in a folder there. */
  readonly isWhole?: boolean;
}

/** What a call needs besides its tool. */
export interface Needs {
  readonly paths?: readonly PathNeed[];
  /** Other tools whose rights it needs, and what it does with them, as the beginning of a sentence. */
  readonly tools?: readonly { readonly tool: BuiltInTool; readonly does: string }[];
  /** A port of this machine that it connects to. */
  readonly port?: { readonly number: number; readonly tool: PortTool };
  /** How the program that it reaches is confined (`shellOf`): it is for those alone whose own commands are confined in this way. */
  readonly shell?: string;
  /** An application that it starts. */
  readonly app?: { readonly name: string; isListedAs(name: string): boolean };
  /** What rules that ask are matched with besides the paths: a command, an address, an application. */
  readonly subjects?: readonly string[];
  /** For a step of another call (`Tool.continues`): whether a person allowed that one, and with it this step. */
  readonly isApproved?: boolean;
}

/** What a stream goes on needing after its call. */
export type StreamNeeds = Pick<Needs, "tools" | "port" | "shell">;

/** Folders that a call is confined to, and who set that limit. */
export interface FolderLimit {
  readonly by: string;
  readonly folders: readonly string[];
}

/** Globs of paths that are closed to a call, and who closed them. */
export interface PathClosure {
  readonly by: string;
  readonly globs: readonly string[];
}

/** Globs of paths that may be read, but not changed. */
export interface Unchangeable {
  readonly always: readonly string[];
  /** But for the paths that are named in these places. What is in the home is so in every person's. */
  readonly unlessNamed: readonly string[];
  /** Full paths. */
  readonly named: readonly string[];
  /** By file tools: commands have to. */
  readonly byTools: readonly string[];
}

/** What a call may do, as seen by tools. */
export interface Rights {
  /** Whether it may see the contents of files. */
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  /** Whether it may run any program without restriction. If not, nothing opened, started or changed may become a program. */
  readonly mayRunAnyProgram: boolean;
  /** How its commands run; `sandbox` enforces the limits below on them. */
  readonly shell: "free" | "sandbox";
  /** A path must be in one folder of each limit. */
  readonly folderLimits: readonly FolderLimit[];
  /** Neither readable nor writable, also in those folders. */
  readonly closedPaths: readonly PathClosure[];
  /** Paths that may be read, but not changed. */
  readonly unchangeable: Unchangeable;
  /** Domains that its commands may reach in the sandbox. */
  readonly network: readonly string[];
  /** Whether its terminals are recorded. */
  readonly recordsTerminals: boolean;
}

/** What path decisions depend on; a tool's context has it. */
export interface Caller {
  /** Commands with the same id and grant share a network; without an id, none is shared. */
  readonly session: { readonly cwd: string; readonly id?: string; readonly grant?: string };
  readonly rights: Rights;
}

/** Throws MatrxError `PERMISSION_DENIED` if one of the paths may not be touched. */
export type PathCheck = (paths: readonly PathNeed[], caller: Caller) => Promise<void>;

/** Who makes a call. */
export interface Asker {
  readonly grant: GrantScope;
  /** The owner's policy for this device at the relay; applies in addition to the device's own. */
  readonly relayPolicy?: Policy | undefined;
}

export interface GateOptions {
  /** The device's own policy. */
  readonly policy: { current(): Policy };
  readonly checkPaths: PathCheck;
  /** Whom the machine is closed to just now; absent: it cannot be paused. */
  readonly pause?: { readonly current: Paused | undefined } | undefined;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #rates = new CallRates();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Whether a call of this tool could run, while the machine is not paused. Throws MatrxError while the policy is damaged. */
  mayCall(tool: string, asker: Asker): boolean {
    return this.#admission(asker).refusal(tool) === undefined;
  }

  /** Why what a call of this tool began, and needs, may not go on; undefined if it may. A damaged policy ends nothing. */
  refusalNow(tool: string, asker: Asker, needs: StreamNeeds = {}): ErrorShape | undefined {
    let admission: Admission;
    try {
      admission = this.#admission(asker);
    } catch (error) {
      if (error instanceof MatrxError) return undefined;
      throw error;
    }
    return admission.refusal(tool, needs.port?.number) ?? admission.refusalOfNeeds(needs);
  }

  /** Admits a call by its tool's name, and counts it. Throws MatrxError. */
  admit(tool: string, asker: Asker): Admission {
    const admission = this.examine(tool, asker);
    this.#rates.count(asker.grant.id, admission.devicePolicy, performance.now());
    return admission;
  }

  /** Decides as `admit` about a call that is not to run yet, so that it is counted only once. Throws MatrxError. */
  examine(tool: string, asker: Asker): Admission {
    const paused = this.#options.pause?.current;
    if (paused && isClosedTo(paused, asker.grant)) throw pausedError(paused);
    const admission = this.#admission(asker);
    const refusal = admission.refusal(tool);
    if (refusal) throw new MatrxError(refusal);
    return admission;
  }

  #admission(asker: Asker): Admission {
    return new Admission(asker, this.#options.policy.current(), this.#options.checkPaths);
  }
}

interface NamedPolicy {
  readonly by: string;
  readonly policy: Policy;
}

/** An admitted call, with the policies that applied when it arrived. */
export class Admission {
  readonly devicePolicy: Policy;
  readonly rights: Rights;
  readonly #grant: GrantScope;
  readonly #policies: readonly NamedPolicy[];
  readonly #checkPaths: PathCheck;

  constructor({ grant, relayPolicy = {} }: Asker, devicePolicy: Policy, checkPaths: PathCheck) {
    this.devicePolicy = devicePolicy;
    this.#grant = grant;
    this.#checkPaths = checkPaths;
    this.#policies = [
      { by: "the device's policy", policy: devicePolicy },
      { by: "the owner's policy at the relay", policy: relayPolicy },
    ];
    this.rights = rightsOf(grant, this.#policies);
  }

  /** The rules that ask a person about a call; without subjects, those that may. */
  asking(call: AskedAbout, subjects?: readonly string[]): Asking[] {
    const policies = this.#policies.map(({ policy }) => policy);
    return askingRules({ ...call, grant: this.#grant, policies }, subjects);
  }

  /** What grant and policies allow and deny: a change of it makes an approval void. What is asked and how often is left out. */
  get limits(): unknown {
    const policies = this.#policies.map(({ policy: { ask: _ask, rates: _rates, ...limits } }) => limits);
    return { policies, rights: this.rights };
  }

  /** `port`: the one that the call names. */
  refusal(tool: string, port?: number): ErrorShape | undefined {
    const call = { tool, called: nameInUse(tool), grant: this.#grant, port, confinesCommands: true };
    for (const { policy } of this.#policies) {
      const refusal = refusalOf({ ...call, policy }, "agent");
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** Decides by what the call's input needs. Throws MatrxError `PERMISSION_DENIED`. */
  async check({ app, paths = [], ...needs }: Needs, session: Caller["session"]): Promise<void> {
    const refusal = this.refusalOfNeeds(needs);
    if (refusal) throw new MatrxError(refusal);
    if (app) this.#checkApp(app);
    if (paths.length > 0) await this.#checkPaths(paths, { session, rights: this.rights });
  }

  refusalOfNeeds({ tools = [], port, shell }: StreamNeeds): ErrorShape | undefined {
    for (const { tool, does } of tools) {
      const refusal = this.refusal(tool);
      if (!refusal) continue;
      const message = `${does}, which needs the same permission as ${toolName(tool)}. ${refusal.message}`;
      return { ...refusal, message };
    }
    if (shell !== undefined && shell !== shellOf(this.rights)) return otherShell().shape();
    return port && this.refusal(port.tool, port.number);
  }

  #checkApp({ name, isListedAs }: NonNullable<Needs["app"]>): void {
    const lists = this.#policies.flatMap(({ by, policy: { allowed_apps: apps } }) =>
      apps ? [{ by, apps }] : [],
    );
    for (const { by, apps } of lists) {
      if (apps.some(isListedAs)) continue;
      throw denied(
        `Starting ${name} is not allowed by ${by}`,
        apps.length > 0 ? `Allowed: ${apps.slice(0, 20).join(", ")}` : "No application is allowed",
        { app: name, allowed_apps: apps.slice(0, 64) },
      );
    }
    if (lists.length > 0 || this.rights.mayRunAnyProgram) return;
    throw denied(
      `Starting ${name} is refused: this call may not run programs, and no policy lists the applications it may start`,
      "Ask the owner to list it in allowed_apps of the device's policy",
      { app: name },
    );
  }
}

function rightsOf(grant: GrantScope, named: readonly NamedPolicy[]): Rights {
  const policies = named.map(({ policy }) => policy);
  const sides = [
    ...named.map(({ by, policy }) => ({ by, folders: policy.allowed_paths, globs: policy.denied_paths })),
    { by: GRANT, folders: grant.paths, globs: grant.denied_paths },
    { by: BY_DEFAULT, folders: undefined, globs: secretsOf(grant) },
  ];
  return {
    mayRead: grant.effects.includes("read"),
    mayWrite: grant.effects.includes("write"),
    mayRunAnyProgram: mayRunAnyProgram(grant, policies),
    shell: needsSandbox(grant, policies) ? "sandbox" : "free",
    folderLimits: sides.flatMap(({ by, folders }) => (folders ? [{ by, folders }] : [])),
    closedPaths: sides.flatMap(({ by, globs }) => (globs ? [{ by, globs }] : [])),
    unchangeable: secretsOf(grant) ? unchangeableBut(grant.paths) : NOTHING,
    network: grant.network ?? [],
    recordsTerminals: policies.some(({ record_terminals }) => record_terminals === true),
  };
}

/** What nobody but the owner changes, unless the owner named it. */
export function unchangeableBut(named: readonly string[] = []): Unchangeable {
  return {
    always: UNCHANGEABLE_PATHS,
    unlessNamed: [...HOME_PATHS, ...SYSTEM_PATHS],
    named,
    byTools: REPOSITORY_PATHS,
  };
}

const NOTHING: Unchangeable = { always: [], unlessNamed: [], named: [], byTools: [] };
const GRANT = "the token's grant";
const BY_DEFAULT = "default, because it may hold secrets or start programs";

/** The built-in list of closed paths, if it binds this grant. */
function secretsOf({ owner, secrets }: GrantScope): readonly string[] | undefined {
  return owner || secrets === "open" ? undefined : SECRET_PATHS;
}

/** How commands run under these rights: `free`, or a text that differs for other limits, and for terminals that are recorded. */
export function shellOf({ shell, ...limits }: Rights): string {
  if (shell === "free") return limits.recordsTerminals ? "free, recorded" : shell;
  return hash("sha256", JSON.stringify(limits));
}

/** The error for a terminal that is not recorded where the policy wants that. */
export function notRecorded(): MatrxError {
  return denied(
    "This terminal is not recorded, and the policy now wants that",
    "Close it, and open another one",
    { reason: "NOT_RECORDED" },
  );
}

/** The error for a terminal that was opened under other limits. */
export function otherShell(): MatrxError {
  return denied(
    "This terminal was opened under other limits than this call's",
    "Leave out terminal to get another, or open one",
    { reason: "OTHER_LIMITS" },
  );
}

function denied(message: string, hint: string, details: Record<string, unknown>): MatrxError {
  return agentError("PERMISSION_DENIED", message, { hint, details });
}
