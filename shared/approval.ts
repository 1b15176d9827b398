/** Approvals as people, callers and programs see them. Times are ISO 8601 in UTC. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";
import { questionSchema } from "./question.ts";

const time = z.iso.datetime();

export const approvalStateSchema = z.enum(["pending", "allowed", "denied", "expired", "cancelled"]);

/** How far a yes reaches: this call, the same call for an hour, or this tool for this grant from now on. */
export const reachSchema = z.enum(["once", "hour", "always"]);
export type Reach = z.infer<typeof reachSchema>;

/** One approval in a list, and in the frames of the account link. */
export const approvalViewSchema = z.object({
  id: z.string(),
  device: z.string(),
  call: z.string(),
  grant: z.string().describe("The grant that made the call"),
  grant_name: z.string().nullable().describe("Its name, if the account still has it"),
  tool: z.string(),
  effect: effectSchema,
  summary: z.string(),
  state: approvalStateSchema,
  at: z.literal("machine").nullable().describe("`machine`: only somebody at the machine can decide"),
  created: time,
  expires: time,
  decided: time.nullable(),
  decided_by: z.string().nullable(),
  for: reachSchema.nullable().describe("How far the yes reaches"),
  edited: z.boolean().describe("The person changed the input before allowing it"),
  note: z.string().nullable().describe("What the person told the caller"),
  caller_gone: z
    .boolean()
    .optional()
    .describe("Cancelled because its caller left and could not come back for it"),
});
export type ApprovalView = z.infer<typeof approvalViewSchema>;

/** `GET /v1/devices/{device}/approvals/{approval}` */
export const approvalDetailSchema = approvalViewSchema.extend({
  question: questionSchema,
  binding: z.string().describe("SHA-256 of what the decision covers"),
});
export type ApprovalDetail = z.infer<typeof approvalDetailSchema>;

/** `GET /v1/approvals`: those that wait for a decision, oldest first. */
export const approvalListSchema = z.object({ approvals: z.array(approvalViewSchema) });

/** `POST /v1/devices/{device}/approvals/{approval}` */
export const newDecisionSchema = z
  .strictObject({
    decision: z.enum(["allow", "deny"]),
    for: reachSchema.optional().describe("How far a yes reaches; if absent, `once`"),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Replaces the caller's input; only with `allow`, once"),
    note: z.string().max(1000).optional().describe("A word to the caller; only with `deny`"),
  })
  .superRefine(({ decision, for: reach = "once", input, note }, { addIssue }) => {
    const wrong = (field: string, message: string) => addIssue({ code: "custom", path: [field], message });
    if (decision === "allow" && note !== undefined) wrong("note", "only a call that is denied gets one");
    if (decision === "deny" && input) wrong("input", "only a call that is allowed can be edited");
    if (decision === "deny" && reach !== "once") wrong("for", "a call is denied only once");
    if (input && reach !== "once") wrong("for", "an edited input can be allowed only once");
  });
export type Decision = z.infer<typeof newDecisionSchema>;

/** What a call waits for, or was allowed by; in its record and in 202 answers. */
export const callApprovalSchema = z.object({
  id: z.string(),
  state: approvalStateSchema,
  expires: time,
  summary: z.string(),
  edited: z.boolean().describe("The person changed the input before allowing it"),
});
export type CallApproval = z.infer<typeof callApprovalSchema>;
