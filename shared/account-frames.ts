/** The account link: what the relay tells a person's open screens, and what they send. */
import * as z from "zod";
import { approvalViewSchema } from "./approval.ts";
import { ERROR_CODES, HOPS } from "./errors.ts";

/** What a screen sends. */
export const personActionSchema = z.object({ action: z.literal("ping") });

export const toPersonSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hello"), protocol: z.literal(1), account: z.string() }),
  /** A call waits for a decision, or what became of one. */
  z.object({ type: z.literal("approval"), approval: approvalViewSchema }),
  z.object({ type: z.literal("pong") }),
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
