/** The account link: what the relay tells a person's open screens, and what they send. */
import * as z from "zod";
import { activityEntrySchema, startedCallSchema } from "./activity.ts";
import { approvalViewSchema } from "./approval.ts";
import { ERROR_CODES, HOPS } from "./errors.ts";
import { pauseViewSchema } from "./pause-api.ts";

/** What a screen sends. */
export const personActionSchema = z.discriminatedUnion("action", [
  z.object({ action: z.literal("ping") }),
  /** Continues with another token of the same session. */
  z.object({ action: z.literal("auth"), token: z.string().min(1).max(8192) }),
  /** Sends calls as they happen, until `watched` has passed or the screen asks again. */
  z.object({ action: z.literal("watch") }),
]);

export const toPersonSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("hello"),
    protocol: z.literal(1),
    account: z.string(),
    /** An older relay does not tell. */
    pause: pauseViewSchema.exactOptional(),
  }),
  /** A call waits for a decision, or what became of one. */
  z.object({ type: z.literal("approval"), approval: approvalViewSchema }),
  /** The account was paused or resumed, or more devices have confirmed it. */
  z.object({ type: z.literal("paused"), pause: pauseViewSchema }),
  /** The screen watches until then. */
  z.object({ type: z.literal("watching"), until: z.iso.datetime() }),
  /** What runs on a device now; null: it cannot be asked. */
  z.object({ type: z.literal("running"), device: z.string(), calls: z.array(startedCallSchema).nullable() }),
  /** Calls that began, ended or were refused; `missed`: entries left out before these, because the screen reads too slowly. */
  z.object({
    type: z.literal("activity"),
    entries: z.array(activityEntrySchema),
    missed: z.int().exactOptional(),
  }),
  z.object({ type: z.literal("pong") }),
  /** The link continues with the new token of an `auth`, until it expires. */
  z.object({ type: z.literal("authenticated"), expires: z.iso.datetime() }),
  /** A message could not be read. */
  z.object({
    type: z.literal("error"),
    output: z.string(),
    code: z.enum(ERROR_CODES),
    hint: z.string().exactOptional(),
    hop: z.enum(HOPS),
  }),
]);
export type ToPerson = z.infer<typeof toPersonSchema>;
