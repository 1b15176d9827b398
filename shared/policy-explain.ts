/** Explains the policy decision: every rule that concerns a call, in the order in which they are asked, and the one that decides. */
import * as z from "zod";
import { commandSubjects } from "./commands/command-subjects.ts";
import { effectOf, effectOfCall, effectSchema, isPortTool } from "./effects.ts";
import {
  type Asking,
  askingRules,
  needsSandbox,
  type Question,
  RUNS_COMMANDS,
  type Ruling,
  rulingsOn,
} from "./policy.ts";
import { portSchema } from "./ports.ts";
import { isReadOnlyCommand } from "./read-only.ts";

/** What a rule says about a call. `may ask`: it asks about some calls, by paths that the device resolves or by what else they do. */
const sayingSchema = z.enum(["allows", "confines", "asks", "may ask", "refuses"]);

export const explainedRuleSchema = z.object({
  by: z.enum(["grant", "policy"]),
  field: z.string(),
  entry: z
    .string()
    .optional()
    .describe("The entry of the field that fits; only shown to the owner if a policy made it"),
  says: sayingSchema,
  decides: z.boolean(),
});
export type ExplainedRule = z.infer<typeof explainedRuleSchema>;

export const explanationSchema = z.object({
  tool: z.string(),
  effect: effectSchema,
  decision: z.enum(["allowed", "asked", "refused"]),
  sandbox: z.boolean().describe("Whether it is a command that runs in the sandbox"),
  at: z.literal("machine").optional().describe("A person confirms it at the machine, and nowhere else"),
  reason: z.string().optional().describe("Why it is refused, as a caller would be told"),
  rules: z.array(explainedRuleSchema),
  notes: z.array(z.string()).describe("What is only decided when it runs"),
});
export type Explanation = z.infer<typeof explanationSchema>;

/** The call to explain. */
export const explainWishSchema = z.strictObject({
  tool: z.string().min(1).max(128),
  input: z.record(z.string(), z.unknown()).optional(),
  grant: z
    .string()
    .max(64)
    .optional()
    .describe("Another token's id, for a person; default: the caller's own"),
});
export type ExplainWish = z.infer<typeof explainWishSchema>;

/** Agrees with `refusalOf`, `askingRules` and `needsSandbox`; `input` gives what rules match, as far as it is known. */
export function explain(question: Question, input: Readonly<Record<string, unknown>>): Explanation {
  const { tool, grant, policy, confinesCommands } = question;
  const subjects = subjectsIn(tool, input);
  const rulings = rulingsOn({ ...question, port: portIn(input) });
  const effect = confinesCommands ? effectOfCall(tool, () => input) : effectOf(tool);
  const call = { tool, effect, grant, policies: [policy] };
  const askings = askingRules(call, subjects);
  const ofEveryCall = new Set(askingRules({ ...call, also: [] }, subjects).map(({ rule }) => rule));
  const isReader = confinesCommands && isReadOnlyCommand(tool, input);
  const sandbox = RUNS_COMMANDS.has(tool) && (isReader || needsSandbox(grant, [policy]));
  const rules = [
    ...rulings.map(ruled),
    ...(RUNS_COMMANDS.has(tool) && policy.sandbox ? [sandboxed(policy.sandbox)] : []),
    ...askings.map((asking) => asked(asking, ofEveryCall.has(asking.rule), subjects === undefined)),
  ];
  const reason = rulings.find(({ refusal }) => refusal)?.refusal?.message;
  const atMachine = reason === undefined && askings.some(({ rule }) => rule.at === "machine");
  return {
    tool,
    effect,
    decision: reason !== undefined ? "refused" : askings.length > 0 ? "asked" : "allowed",
    sandbox,
    ...(atMachine && { at: "machine" as const }),
    ...(reason !== undefined && { reason }),
    rules: withDecider(rules),
    notes: [],
  };
}

/** What a call is about, if its input tells; undefined if the device must resolve it first. */
function subjectsIn(tool: string, input: Readonly<Record<string, unknown>>): string[] | undefined {
  if (isPortTool(tool)) {
    const port = portIn(input);
    return port === undefined ? undefined : [`localhost:${port}`];
  }
  const field = { Bash: "command", TerminalExecute: "command", OpenUrl: "url", open_app: "app" }[tool];
  const value = field === undefined ? undefined : input[field];
  if (typeof value !== "string") return undefined;
  return field === "command" ? commandSubjects(tool, value) : [value];
}

/** The port that a call's input names. */
export function portIn({ port }: Readonly<Record<string, unknown>>): number | undefined {
  return portSchema.safeParse(port).data;
}

type Draft = Omit<ExplainedRule, "decides"> & { readonly isAtMachine?: boolean };

function ruled({ by, field, entry, refusal }: Ruling): Draft {
  const isLimit = LIMITS.has(field);
  const says = refusal ? "refuses" : isLimit ? "confines" : "allows";
  return { by, field, ...(entry !== undefined && { entry }), says };
}

/** Fields that confine what they do not refuse. */
const LIMITS: ReadonlySet<string> = new Set(["paths", "denied_paths", "allowed_paths", "owner"]);

function sandboxed(entry: string): Draft {
  return { by: "policy", field: "sandbox", entry, says: "confines" };
}

function asked({ by, rule }: Asking, isOfEveryCall: boolean, isUnknown: boolean): Draft {
  const says = !isOfEveryCall || (isUnknown && rule.match !== undefined) ? "may ask" : "asks";
  const isAtMachine = rule.at === "machine";
  return { by, field: "ask", entry: JSON.stringify(rule), says, isAtMachine };
}

/** The first that refuses; else the first that asks, at the machine before elsewhere. If none does, nothing decides against the call. */
function withDecider(rules: readonly Draft[]): ExplainedRule[] {
  const saying = (one: ExplainedRule["says"]) => rules.find(({ says }) => says === one);
  const atMachine = rules.find(({ isAtMachine }) => isAtMachine);
  const decider = saying("refuses") ?? atMachine ?? saying("asks") ?? saying("may ask");
  return rules.map((rule) => {
    const { isAtMachine: _, ...shown } = rule;
    return { ...shown, decides: rule === decider };
  });
}

/** Without what a policy names: its folders and applications stay hidden from tokens that are not the owner's. */
export function withoutPolicysEntries(explanation: Explanation): Explanation {
  const rules = explanation.rules.map((rule) => {
    const { entry: _, ...rest } = rule;
    return rule.by === "policy" ? rest : rule;
  });
  return { ...explanation, rules };
}
