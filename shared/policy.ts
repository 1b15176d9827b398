/** The policy decision as one pure function, asked by the relay before it sends a call and by the agent before it runs one. */
import * as z from "zod";
import { BUILT_IN_TOOLS, type Effect, effectOf, nearestName, toolNameOf } from "./effects.ts";
import type { ErrorShape, Hop } from "./errors.ts";
import type { GrantScope } from "./grant.ts";

/** What one device allows. `allowed_*` absent: no limit on this side; `[]`: nothing. Unknown keys are refused: a misspelt limit must not count as absent. */
export const policySchema = z.strictObject({
  allowed_tools: z.array(z.string().min(1)).optional(),
  allowed_paths: z.array(z.string().min(1)).optional(),
  allowed_apps: z.array(z.string().min(1)).optional(),
  rates: z
    .strictObject({
      messages_per_second: z.int().min(1).max(100_000).optional(),
      calls_per_minute: z.int().min(1).max(1_000_000).optional(),
    })
    .optional(),
});
export type Policy = z.infer<typeof policySchema>;

/** The policy as it was set; `warnings` lists the allowed tools that the device does not have. */
export const policySetSchema = policySchema.extend({ warnings: z.array(z.string()).optional() });

/** A warning for each of `allowed_tools` that is neither built in nor announced, and so probably misspelt. */
export function policyWarnings({ allowed_tools = [] }: Policy, announced: readonly string[]): string[] {
  const known = [...new Set([...BUILT_IN_TOOLS, ...announced])];
  return allowed_tools
    .filter((tool) => !known.includes(tool))
    .map((tool) => {
      const near = nearestName(toolNameOf(tool), known);
      return `allowed_tools: the device has no tool "${tool}"${near ? `; did you mean "${near}"?` : ""}`;
    });
}

interface Question {
  tool: string;
  /** The name that the caller used; absent if it is the tool's own name. */
  called?: string | undefined;
  grant: GrantScope;
  policy: Policy;
}

/**
 * Tools that can be confined to folders: they see and change only what is in them, or what the grant itself began. Under
 * folder limits all others are refused: those that reach beyond, and unknown ones.
 */
const CONFINABLE: ReadonlySet<string> = new Set([
  "Read",
  "Glob",
  "Grep",
  "ListDirectory",
  "DirectoryTree",
  "search_files",
  "Write",
  "Edit",
  "ApplyPatch",
  "Move",
  "create_directory",
  "Delete",
  "delete_directory",
  "OpenPath",
  "OpenUrl",
  "SystemInfo",
  "SystemLog",
  "BashOutput",
  "TaskStop",
]);

/**
 * Decides whether a grant may call a tool on a device under its policy. Returns the refusal, or undefined.
 * Paths and arguments are checked by the agent alone.
 */
export function refusalOf(question: Question, hop: Hop): ErrorShape | undefined {
  const { tool, called, grant, policy } = question;
  const refusal = refusalByName({ tool, grant, policy }, called ?? tool);
  return refusal && { code: "PERMISSION_DENIED", ...refusal, hop, details: { tool, ...refusal.details } };
}

/** `name` is what the message calls the tool. */
function refusalByName({ tool, grant, policy }: Question, name: string): Refusal | undefined {
  const effect = effectOf(tool);
  if (!grant.effects.includes(effect)) return deniedEffect(name, effect, grant.effects);
  if (grant.tools && !grant.tools.includes(tool)) return deniedTool(name, GRANT);
  if (policy.allowed_tools && !policy.allowed_tools.includes(tool)) return deniedTool(name, POLICY);
  const limitedBy = grant.paths ? GRANT : policy.allowed_paths ? POLICY : undefined;
  if (limitedBy && !isConfinable(tool, policy)) return deniedBeyondFolders(name, limitedBy);
  if (tool === SHELL && !grant.owner) return deniedShell(name);
  return undefined;
}

type Refusal = Pick<ErrorShape, "message" | "hint" | "details">;

/** It runs any command, so nothing can confine it. */
const SHELL = "Bash";

const GRANT = "the token's grant";
const POLICY = "the device's policy";

/** If the policy names applications, that is the owner's choice; they get documents in the folders, and no options. */
function isConfinable(tool: string, { allowed_apps }: Policy): boolean {
  return CONFINABLE.has(tool) || (tool === "open_app" && allowed_apps !== undefined);
}

/**
 * Whether a grant may run any program without restriction, so that what is opened or started for it needs no further
 * check. All policies that apply must allow it, each as for Bash.
 */
export function mayRunAnyProgram(grant: GrantScope, policies: readonly Policy[]): boolean {
  const mayCall = (tools: readonly string[] | undefined) => tools === undefined || tools.includes(SHELL);
  if (!grant.owner || grant.paths || !mayCall(grant.tools)) return false;
  return policies.every((policy) => !policy.allowed_paths && mayCall(policy.allowed_tools));
}

function deniedShell(tool: string): Refusal {
  return {
    message: `${tool} is refused: this token is not the owner's, and there is no sandbox to run it in`,
    hint: "Use the file tools, or an owner's token on a device without path limits",
  };
}

function deniedBeyondFolders(tool: string, limitedBy: string): Refusal {
  return {
    message: `${tool} is refused: ${limitedBy} is limited to folders, and ${tool} can't be confined to them`,
    hint: "Use the file tools in those folders, or ask the owner for access without folder limits",
  };
}

function deniedEffect(tool: string, effect: Effect, effects: readonly Effect[]): Refusal {
  return {
    message: `${tool} needs the permission "${effect}"; this token has ${effects.length ? effects.join(", ") : "none"}`,
    hint: "Ask the owner for a token that has it",
    details: { effect },
  };
}

function deniedTool(tool: string, by: string): Refusal {
  return {
    message: `${tool} is not allowed by ${by}`,
    hint: "Ask the owner to allow it",
  };
}
