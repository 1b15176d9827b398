/** What a device announces of its tools. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";

/** JSON Schema (draft 2020-12) of a tool's input, passed on as it came. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown());

export const toolDescriptionSchema = z.object({
  name: z.string().min(1).max(128),
  description: z.string().max(8192),
  effect: effectSchema,
  input_schema: jsonSchemaSchema,
  /** The longest that it takes, in milliseconds, when the caller sets no deadline. */
  timeout_ms: z.int().positive().optional(),
});
export type ToolDescription = z.infer<typeof toolDescriptionSchema>;

export const manifestSchema = z.object({
  hash: z.string().min(1).max(128),
  tools: z.array(toolDescriptionSchema).max(512),
});
export type Manifest = z.infer<typeof manifestSchema>;
