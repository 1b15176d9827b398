/** Calls as those who watch them see them, as they happen. Nothing here is kept: the record is in `audit.ts`. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";
import { ERROR_CODES } from "./errors.ts";
import { credentialSchema } from "./grant.ts";

/** What is known of a call before its end. */
export const observedCallSchema = z.object({
  at: z.iso.datetime(),
  call: z.string(),
  tool: z.string().describe("Empty if the relay no longer knows"),
  effect: effectSchema,
  input: z.record(z.string(), z.string()).describe("The parameters, shortened and without secrets"),
});

/** How a call ended. */
export const callEndSchema = z.object({
  ms: z.number(),
  code: z.enum(ERROR_CODES).optional(),
  preview: z.string().describe("The beginning of its output, or why there is none; without secrets"),
});

const ofDevice = observedCallSchema.extend({
  device: z.string(),
  grant: z.object({
    id: z.string(),
    name: z.string().optional(),
    credential: credentialSchema.optional(),
  }),
});

/** `unknown`: nobody knows its outcome. */
export const endStatusSchema = z.enum(["success", "error", "cancelled", "unknown"]);

export const startedCallSchema = ofDevice.extend({ type: z.literal("started") });

/** A call on one of the account's devices. */
export const activityEntrySchema = z.discriminatedUnion("type", [
  startedCallSchema,
  ofDevice.extend({
    type: z.literal("finished"),
    status: endStatusSchema,
    exit: z.int().optional(),
    ...callEndSchema.shape,
  }),
  /** Nothing ran. */
  ofDevice.extend({ type: z.literal("refused"), ...callEndSchema.shape }),
]);
export type ActivityEntry = z.infer<typeof activityEntrySchema>;
export type StartedCall = z.infer<typeof startedCallSchema>;
