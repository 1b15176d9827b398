/** The policy decision as one pure function, asked by the relay before it sends a call and by the agent before it runs one. */
import * as z from "zod";
import {
  type AskedCall,
  type AskRule,
  askRuleSchema,
  fitsTool,
  folderSchema,
  mustAsk,
  pathGlobSchema,
  toolGlobSchema,
} from "./access-rules.ts";
import { CONFINABLE } from "./built-in-tools.ts";
import {
  BUILT_IN_TOOLS,
  type BuiltInTool,
  type Effect,
  effectOf,
  isPortTool,
  nearestName,
  toolNameOf,
} from "./effects.ts";
import type { ErrorShape, Hop } from "./errors.ts";
import type { GrantScope } from "./grant.ts";
import type { GrantId } from "./ids.ts";
import { portEntryFor, portEntrySchema } from "./ports.ts";

/** A policy's rule may also ask for confirmation at the machine itself: then nobody can confirm from elsewhere. */
export const policyAskRuleSchema = askRuleSchema.extend({ at: z.literal("machine").optional() });
export type PolicyAskRule = z.infer<typeof policyAskRuleSchema>;

/** What one device allows. `allowed_*` absent: no limit on this side; `[]`: nothing. Unknown keys are refused: a misspelt limit must not count as absent. */
export const policySchema = z.strictObject({
  allowed_tools: z.array(toolGlobSchema).optional(),
  denied_tools: z.array(toolGlobSchema).optional(),
  allowed_paths: z.array(folderSchema).optional(),
  denied_paths: z.array(pathGlobSchema).optional(),
  allowed_apps: z.array(z.string().min(1)).optional(),
  /** Absent: the owner's own calls may use any port, others none. */
  allowed_ports: z.array(portEntrySchema).max(256).optional(),
  ask: z.array(policyAskRuleSchema).max(64).optional(),
  sandbox: z.literal("always").optional().describe("Runs the owner's commands in the sandbox too"),
  record_terminals: z.literal(true).optional().describe("Records what terminals show, on the device"),
  rates: z
    .strictObject({
      messages_per_second: z.int().min(1).max(100_000).optional(),
      calls_per_minute: z.int().min(1).max(1_000_000).optional(),
    })
    .optional(),
});
export type Policy = z.infer<typeof policySchema>;

/** A policy as it was stored, perhaps by an earlier release. What no tool or path fits allows nothing, so it is let through. */
export const storedPolicySchema = policySchema.extend({
  allowed_tools: z.array(z.string()).optional(),
  allowed_paths: z.array(z.string()).optional(),
});

/** The part of a policy that a call's frame carries. */
export const policyLimitsSchema = storedPolicySchema.omit({ rates: true });

/** In force instead of a policy that cannot be read: nothing is allowed until it is set again. */
export const CLOSED_POLICY: Policy = {
  allowed_tools: [],
  allowed_paths: [],
  allowed_apps: [],
  allowed_ports: [],
};

/** The policy as it was set; `warnings` lists the allowed tools that the device does not have. */
export const policySetSchema = policySchema.extend({ warnings: z.array(z.string()).optional() });

/** A warning for each tool of a list that is neither built in nor announced, and so probably misspelt. */
export function policyWarnings(
  { allowed_tools = [], denied_tools = [] }: Policy,
  announced: readonly string[],
): string[] {
  const known = [...new Set([...BUILT_IN_TOOLS, ...announced])];
  return Object.entries({ allowed_tools, denied_tools }).flatMap(([list, tools]) =>
    tools
      .filter((tool) => !known.some((name) => fitsTool([tool], name)))
      .map((tool) => {
        const near = nearestName(toolNameOf(tool), known);
        return `${list}: the device has no tool "${tool}"${near ? `; did you mean "${near}"?` : ""}`;
      }),
  );
}

export interface Question {
  tool: string;
  /** The name that the caller used; absent if it is the tool's own name. */
  called?: string | undefined;
  grant: GrantScope;
  policy: Policy;
  /** The port that a call of a port tool names; absent: not known yet, or not its tool. */
  port?: number | undefined;
  /** Whether the device could confine commands by a sandbox; it checks that it works when it runs one. */
  confinesCommands: boolean;
}

/**
 * Tools that can be confined to folders: they see and change only what is in them, or what the grant itself began. Under
 * folder limits all others are refused: those that reach beyond, and unknown ones.
 */
const CONFINED: ReadonlySet<string> = new Set(Object.keys(CONFINABLE));

/**
 * Decides whether a grant may call a tool on a device under its policy. Returns the refusal, or undefined.
 * Paths and arguments are checked by the agent alone.
 */
export function refusalOf(question: Question, hop: Hop): ErrorShape | undefined {
  const { tool, called } = question;
  const refusal = refusalByName(question, called ?? tool);
  return refusal && { code: "PERMISSION_DENIED", ...refusal, hop, details: { tool, ...refusal.details } };
}

/** `name` is what the message calls the tool. */
function refusalByName(question: Question, name: string): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(question, name)?.refusal;
    if (refusal) return refusal;
  }
  return undefined;
}

/** What one field of a grant or policy says about a call; without `refusal` it allows the call. */
export interface Ruling {
  readonly by: "grant" | "policy";
  readonly field: keyof GrantScope | keyof Policy;
  /** The entry of the field that fits the call. */
  readonly entry?: string | undefined;
  readonly refusal?: Refusal | undefined;
}

/** Undefined if the field is absent, or does not concern the call. */
type Rule = (question: Question, name: string) => Ruling | undefined;

/** The first that refuses decides; none of them lifts what another refuses. */
const RULES: readonly Rule[] = [
  ({ tool, grant: { effects } }, name) => {
    const effect = effectOf(tool);
    const refusal = effects.includes(effect) ? undefined : deniedEffect(name, effect, effects);
    return { by: "grant", field: "effects", entry: effect, refusal };
  },
  ({ tool, grant: { tools } }, name) => allowing("grant", "tools", tools, tool, name),
  ({ tool, policy: { allowed_tools: tools } }, name) =>
    allowing("policy", "allowed_tools", tools, tool, name),
  ({ tool, policy: { denied_tools = [] } }, name) => {
    // Whoever denies connections to ports does not mean only those of one tool.
    const names = isPortTool(tool) ? [tool, PORTS] : [tool];
    const entry = denied_tools.find((glob) => names.some((one) => fitsTool([glob], one)));
    if (entry === undefined) return undefined;
    return { by: "policy", field: "denied_tools", entry, refusal: deniedTool(name, POLICY) };
  },
  (question, name) => {
    const limit = limitOf(question);
    if (!limit) return undefined;
    const { tool, policy, confinesCommands } = question;
    const isConfined = isConfinable(tool, policy) || (RUNS_COMMANDS.has(tool) && confinesCommands);
    return { ...limit, refusal: isConfined ? undefined : deniedBeyondFolders(name, WORDS[limit.by]) };
  },
  ({ tool, grant: { ports }, port }, name) => {
    if (!isPortTool(tool) || !ports) return undefined;
    const isOther = port !== undefined && !ports.includes(port);
    const refusal = isOther ? deniedOtherPort(name, port, ports) : undefined;
    return { by: "grant", field: "ports", entry: String(ports), refusal };
  },
  ({ tool, grant, policy: { allowed_ports: ports }, port }, name) => {
    if (!isPortTool(tool)) return undefined;
    const by = { by: "policy", field: "allowed_ports" } as const;
    // A grant that names ports was made for them by a person who may use any.
    if (!ports) return grant.owner || grant.ports ? undefined : { ...by, refusal: deniedAllPorts(name) };
    const entry = port === undefined ? ports[0] : portEntryFor(ports, port);
    if (entry === undefined) return { ...by, refusal: deniedPort(name, port) };
    return { ...by, entry: port === undefined ? undefined : String(entry) };
  },
  ({ tool, grant, confinesCommands }, name) => {
    if (!RUNS_COMMANDS.has(tool) || grant.owner) return undefined;
    return { by: "grant", field: "owner", refusal: confinesCommands ? undefined : deniedShell(name) };
  },
];

/** What each rule says about a call that concerns it, in the order in which they are asked. */
export function rulingsOn(question: Question): Ruling[] {
  const name = question.called ?? question.tool;
  return RULES.flatMap((rule) => rule(question, name) ?? []);
}

function allowing(
  by: Ruling["by"],
  field: Ruling["field"],
  tools: readonly string[] | undefined,
  tool: string,
  name: string,
): Ruling | undefined {
  if (!tools) return undefined;
  const entry = tools.find((glob) => fitsTool([glob], tool));
  return { by, field, entry, refusal: entry === undefined ? deniedTool(name, WORDS[by]) : undefined };
}

/** The first field that limits a call to certain paths. */
function limitOf({ grant, policy }: Question): Pick<Ruling, "by" | "field"> | undefined {
  if (grant.paths) return { by: "grant", field: "paths" };
  if (grant.denied_paths) return { by: "grant", field: "denied_paths" };
  if (policy.allowed_paths) return { by: "policy", field: "allowed_paths" };
  return policy.denied_paths && { by: "policy", field: "denied_paths" };
}

type Refusal = Pick<ErrorShape, "message" | "hint" | "details">;

const PORTS = "ConnectPort" satisfies BuiltInTool;
const SHELL = "Bash";
/** They run any command, so only a sandbox can confine them. */
export const RUNS_COMMANDS: ReadonlySet<string> = new Set([
  SHELL,
  "TerminalCreate",
  "TerminalAttach",
  "TerminalExecute",
  "TerminalInput",
] satisfies BuiltInTool[]);

const POLICY = "the device's policy";
const WORDS: Record<Ruling["by"], string> = { grant: "the grant", policy: POLICY };

/**
 * If the policy names applications or ports, that is the owner's choice; applications get documents in the folders, and no
 * options.
 */
function isConfinable(tool: string, { allowed_apps, allowed_ports }: Policy): boolean {
  if (isPortTool(tool)) return allowed_ports !== undefined;
  return CONFINED.has(tool) || (tool === "open_app" && allowed_apps !== undefined);
}

/** Whether commands must run in the sandbox, so that limits on paths bind them too. */
export function needsSandbox(grant: GrantScope, policies: readonly Policy[]): boolean {
  if (!grant.owner || grant.paths || grant.denied_paths) return true;
  return policies.some(
    ({ allowed_paths, denied_paths, sandbox }) => allowed_paths || denied_paths || sandbox === "always",
  );
}

/**
 * Whether a grant may run any program without restriction, so that what is opened or started for it needs no further
 * check. All policies that apply must allow it, each as for Bash.
 */
export function mayRunAnyProgram(grant: GrantScope, policies: readonly Policy[]): boolean {
  if (needsSandbox(grant, policies)) return false;
  return policies.every(
    (policy) => !refusalByName({ tool: SHELL, grant, policy, confinesCommands: false }, SHELL),
  );
}

/** Whether a changed grant takes away from its commands anything that they could do or reach. */
export function narrowsCommands(former: GrantScope, now: GrantScope): boolean {
  return (
    losesFolders(former.paths, now.paths) ||
    loses(former.effects, now.effects) ||
    loses(former.network, now.network) ||
    loses(now.denied_paths, former.denied_paths) ||
    (former.secrets === "open" && now.secrets !== "open")
  );
}

/** The same of a changed policy, whoever runs the commands. */
export function policyNarrowsCommands(former: Policy, now: Policy): boolean {
  const mayRun = (policy: Policy, tool: string) =>
    !refusalByName({ tool, grant: ANY_GRANT, policy, confinesCommands: true }, tool);
  return (
    losesFolders(former.allowed_paths, now.allowed_paths) ||
    loses(now.denied_paths, former.denied_paths) ||
    (now.sandbox === "always" && former.sandbox !== "always") ||
    (now.record_terminals === true && former.record_terminals !== true) ||
    [...RUNS_COMMANDS].some((tool) => mayRun(former, tool) && !mayRun(now, tool))
  );
}

/** Refuses nothing by itself. */
const ANY_GRANT: GrantScope = { id: "" as GrantId, owner: true, effects: ["read", "write", "execute"] };

function loses(some: readonly string[] = [], others: readonly string[] = []): boolean {
  return some.some((one) => !others.includes(one));
}

function losesFolders(former: readonly string[] | undefined, now: readonly string[] | undefined): boolean {
  return now !== undefined && (former === undefined || loses(former, now));
}

/** A rule that asks a person about a call, and who made it. */
export interface Asking {
  readonly by: "grant" | "policy";
  readonly rule: PolicyAskRule;
}

/** What every call of a tool does besides, as another tool would: a rule that asks about that tool asks about it too. */
const ALWAYS_DOES: Readonly<Record<string, BuiltInTool>> = {
  FetchPort: "ConnectPort",
  TerminalCreate: SHELL,
  TerminalAttach: SHELL,
  TerminalExecute: SHELL,
  TerminalInput: SHELL,
} satisfies Partial<Record<BuiltInTool, BuiltInTool>>;

/** What only some calls of a tool do besides: their input tells. */
const MAY_ALSO: Readonly<Record<string, BuiltInTool>> = {
  ApplyPatch: "Delete",
} satisfies Partial<Record<BuiltInTool, BuiltInTool>>;

/** What a call does besides its own tool's work, as another tool would; `subjects` as for `askingRules`. */
export interface AlsoDoes {
  readonly tool: string;
  readonly subjects: readonly string[] | undefined;
}

/** What a rule is asked about. */
export interface AskedAbout {
  readonly tool: string;
  /** What the call does (`effectOfCall`); default: what the tool may do. */
  readonly effect?: Effect | undefined;
  /** Default: what calls of this tool may do. */
  readonly also?: readonly AlsoDoes[] | undefined;
}

interface AskedUnder extends AskedAbout {
  readonly grant: GrantScope;
  readonly policies: readonly Policy[];
}

/** The rules that ask about a call. An owner is asked only by policies: who made the policy makes the call too. */
export function askingRules(
  { tool, effect = effectOf(tool), grant, policies, also = mayAlso(tool) }: AskedUnder,
  subjects?: readonly string[],
): Asking[] {
  const deeds = deedsOf({ tool, effect, subjects }, also);
  const asking = (by: Asking["by"], rules: readonly AskRule[] = []): Asking[] =>
    rules.filter((rule) => deeds.some((deed) => asksAbout(rule, deed))).map((rule) => ({ by, rule }));
  return [
    ...(grant.owner ? [] : asking("grant", grant.ask)),
    ...policies.flatMap((policy) => asking("policy", policy.ask)),
  ];
}

/** Calls of a tool that do this, and this besides. */
export interface Excepted {
  readonly tool: string;
  /** Default: what the tool may do. */
  readonly effect?: Effect | undefined;
  readonly also: readonly string[];
}

/** The rule with an exception for such calls, and for none that do more. */
export function excepting(rule: AskRule, { tool, effect = effectOf(tool), also }: Excepted): AskRule {
  const deeds = deedsOf(
    { tool, effect },
    also.map((other) => ({ tool: other, subjects: undefined })),
  );
  const excepted = deeds.filter((deed) => asksAbout(rule, deed)).map(({ exception }) => exception);
  if (excepted.length === 0) return rule;
  return { ...rule, except: [...new Set([...(rule.except ?? []), ...excepted])] };
}

/** One of the things that a call does, as the tool that is for it. */
interface Deed extends AskedCall {
  /** The entry of `except` that stands for it: an exception of a tool does not hold for what only some of its calls do. */
  readonly exception: string;
}

function deedsOf({ tool, effect, subjects }: AskedCall, also: readonly AlsoDoes[]): readonly Deed[] {
  const always = ALWAYS_DOES[tool];
  const own = { tool, effect, subjects, exception: effect === effectOf(tool) ? tool : `${tool}/${effect}` };
  const besides = always === undefined ? [] : [{ tool: always, subjects }];
  const others = [...besides, ...also].map((call) => {
    const exception = call.tool === tool || call.tool === always ? tool : `${tool}/${call.tool}`;
    return { ...call, effect: effectOf(call.tool), exception };
  });
  return [own, ...others];
}

function asksAbout(rule: AskRule, deed: Deed): boolean {
  return mustAsk(rule, deed) && !fitsTool(rule.except ?? [], deed.exception);
}

function mayAlso(tool: string): readonly AlsoDoes[] {
  const other = MAY_ALSO[tool];
  return other === undefined ? [] : [{ tool: other, subjects: undefined }];
}

function deniedShell(tool: string): Refusal {
  return {
    message: `${tool} is refused: the caller is not the owner, and the device has no sandbox to run it in`,
    hint: "Use the file tools, or run the Matrx agent there",
  };
}

function deniedBeyondFolders(tool: string, limitedBy: string): Refusal {
  return {
    message: `${tool} is refused: ${limitedBy} is limited to folders, and ${tool} can't be confined to them`,
    hint: "Use the file tools in those folders, or ask the owner for access without folder limits",
  };
}

function deniedOtherPort(tool: string, port: number, ports: readonly number[]): Refusal {
  return {
    message: `${tool} is refused: the token's grant is for port ${ports.join(", ")}, not for ${port}`,
    hint: "Make a link for that port",
    details: { port },
  };
}

function deniedAllPorts(tool: string): Refusal {
  return {
    message: `${tool} is refused: the caller is not the owner, and ${POLICY} lists no ports for it`,
    hint: "Ask the owner to list the port in allowed_ports of the device's policy.json and of its policy at the relay",
  };
}

function deniedPort(tool: string, port: number | undefined): Refusal {
  return {
    message:
      port === undefined
        ? `${tool} is refused: ${POLICY} allows no port`
        : `Port ${port} is not allowed by ${POLICY}`,
    hint: "Ask the owner to list it in allowed_ports",
    ...(port !== undefined && { details: { port } }),
  };
}

function deniedEffect(tool: string, effect: Effect, effects: readonly Effect[]): Refusal {
  return {
    message: `${tool} needs the permission "${effect}"; granted: ${effects.length ? effects.join(", ") : "none"}`,
    hint: "Ask the owner to grant it",
    details: { effect },
  };
}

function deniedTool(tool: string, by: string): Refusal {
  return {
    message: `${tool} is not allowed by ${by}`,
    hint: "Ask the owner to allow it",
  };
}
