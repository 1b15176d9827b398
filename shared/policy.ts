/** The gate: one pure function, asked by the relay before a call leaves and by the agent before it runs. */
import * as z from "zod";
import { type Effect, effectOf } from "./effects.ts";
import type { ErrorShape, Hop } from "./errors.ts";
import type { GrantScope } from "./grant.ts";

/** What one device allows. `allowed_*` absent: not limited by this side; `[]`: nothing. Unknown keys are refused: a misspelt limit must not be an absent one. */
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

export interface Question {
  tool: string;
  grant: GrantScope;
  policy: Policy;
}

/** Tools that run commands: no path limit binds them unless a sandbox does. */
const SHELL_TOOLS: ReadonlySet<string> = new Set(["Bash"]);

/** Tools that see or act beyond folders: a grant that is held to folders does not get them. */
const BEYOND_FOLDERS: ReadonlySet<string> = new Set([
  "Screenshot",
  "ListProcesses",
  "StopProcess",
  "open_app",
]);

/**
 * Decides whether a grant may call a tool on a device under its policy. Returns the refusal, or undefined.
 * Paths and arguments are checked by the agent alone.
 */
export function refusalOf({ tool, grant, policy }: Question, hop: Hop): ErrorShape | undefined {
  const effect = effectOf(tool);
  if (!grant.effects.includes(effect)) return deniedEffect(tool, effect, grant.effects, hop);
  if (grant.tools && !grant.tools.includes(tool)) return deniedTool(tool, "the token's grant", hop);
  if (policy.allowed_tools && !policy.allowed_tools.includes(tool)) {
    return deniedTool(tool, "the device's policy", hop);
  }
  if (grant.paths && BEYOND_FOLDERS.has(tool)) return deniedBeyondFolders(tool, hop);
  if (SHELL_TOOLS.has(tool)) return shellRefusal(tool, grant, policy, hop);
  return undefined;
}

/**
 * Tells whether a grant may run any program, unheld: what is opened or started for it needs no further look. All policies
 * that hold are asked at once, each as for Bash.
 */
export function mayRunAnyProgram(grant: GrantScope, policies: readonly Policy[]): boolean {
  const mayCall = (tools: readonly string[] | undefined) => tools === undefined || tools.includes("Bash");
  if (!grant.owner || grant.paths || !mayCall(grant.tools)) return false;
  return policies.every((policy) => !policy.allowed_paths && mayCall(policy.allowed_tools));
}

function shellRefusal(tool: string, grant: GrantScope, policy: Policy, hop: Hop): ErrorShape | undefined {
  const limitedBy = policy.allowed_paths
    ? "the device's policy"
    : grant.paths
      ? "the token's grant"
      : undefined;
  if (!limitedBy && grant.owner) return undefined;
  return {
    code: "PERMISSION_DENIED",
    message: limitedBy
      ? `${tool} is refused: ${limitedBy} limits paths, and a shell can't be confined to folders`
      : `${tool} is refused: this token is not the owner's, and there is no sandbox to run it in`,
    hint: "Use the file tools, or an owner's token on a device without path limits",
    hop,
    details: { tool },
  };
}

function deniedBeyondFolders(tool: string, hop: Hop): ErrorShape {
  return {
    code: "PERMISSION_DENIED",
    message: `${tool} is refused: this token is limited to folders, and ${tool} sees or acts beyond them`,
    hint: "Use the file tools in those folders, or ask the owner for a token without path limits",
    hop,
    details: { tool },
  };
}

function deniedEffect(tool: string, effect: Effect, effects: readonly Effect[], hop: Hop): ErrorShape {
  return {
    code: "PERMISSION_DENIED",
    message: `${tool} needs the permission "${effect}"; this token has ${effects.length ? effects.join(", ") : "none"}`,
    hint: "Ask the owner for a token that has it",
    hop,
    details: { tool, effect },
  };
}

function deniedTool(tool: string, by: string, hop: Hop): ErrorShape {
  return {
    code: "PERMISSION_DENIED",
    message: `${tool} is not among the tools that ${by} allows`,
    hint: "Ask the owner to allow it",
    hop,
    details: { tool },
  };
}
