/** `GET /approvals`, and `POST /approvals/{id}`: decides on a call that only somebody at this machine may allow. */
import { agentError } from "@matrx/shared/errors.ts";
import { questionSchema } from "@matrx/shared/question.ts";
import type { Context } from "hono";
import * as z from "zod";
import type { MachineApprovals, WaitingCall } from "../core/machine-approvals.ts";
import type { ControlRoutes } from "./app.ts";

/** A waiting call, as the control routes tell it. */
const waitingCallSchema = z.object({
  id: z.string(),
  call: z.string(),
  grant: z.object({ id: z.string(), owner: z.boolean() }),
  question: questionSchema,
  asked: z.iso.datetime(),
  expires: z.iso.datetime(),
});
export type WaitingView = z.infer<typeof waitingCallSchema>;

/** Calls that wait, oldest first. */
export const waitingListSchema = z.object({ approvals: z.array(waitingCallSchema) });

const decisionSchema = z.strictObject({
  allow: z.boolean(),
  /** To the caller of a call that is denied. */
  note: z.string().max(1000).optional(),
});

/** What was decided. */
export const decidedSchema = z.object({ id: z.string(), allow: z.boolean(), note: z.string().optional() });

export function approvalRoutes(approvals: MachineApprovals): ControlRoutes {
  return (app) => {
    app.get("/approvals", (c) => c.json({ approvals: approvals.waiting().map(viewOf) }));
    app.post("/approvals/:id", async (c) => {
      const { id, decision } = approvals.decide(c.req.param("id"), await decisionOf(c));
      return c.json({ id, ...decision } satisfies z.infer<typeof decidedSchema>);
    });
  };
}

function viewOf({ id, call, grant, question, asked, expires }: WaitingCall): WaitingView {
  const times = { asked: new Date(asked).toISOString(), expires: new Date(expires).toISOString() };
  return { id, call, grant: { id: grant.id, owner: grant.owner }, question, ...times };
}

/** Throws MatrxError. */
async function decisionOf(c: Context): Promise<z.infer<typeof decisionSchema>> {
  const decision = decisionSchema.safeParse(await c.req.json().catch(() => undefined));
  if (decision.success) return decision.data;
  throw agentError("INVALID_PARAMETERS", "allow: true or false, and note at most 1000 characters", {
    details: { field: decision.error.issues[0]?.path.join(".") },
  });
}
