/** What a device announces about its tools. */
import * as z from "zod";
import { effectSchema } from "./effects.ts";
import { policyAskRuleSchema } from "./policy.ts";

/** JSON Schema (draft 2020-12) of a tool's input, passed on unchanged. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown());

const parameters = z.array(z.string().max(128)).max(128);

export const toolDescriptionSchema = z.object({
  name: z.string().min(1).max(128),
  title: z.string().min(1).max(128).optional().describe("The name for people"),
  description: z
    .string()
    .max(8192)
    .describe("For people and models. Of built-in tools, a name in backticks is another tool of the device"),
  details: z.string().max(8192).optional().describe("Additional text for people"),
  effect: effectSchema,
  input_schema: jsonSchemaSchema,
  output_schema: jsonSchemaSchema
    .optional()
    .describe(
      "What an answer's `structured` fits, or without that its `metadata`; then that says all that `output` does",
    ),
  /** Its time limit in milliseconds if the caller sets no deadline. */
  timeout_ms: z.int().positive().optional(),
  unavailable: z
    .string()
    .max(1000)
    .optional()
    .describe("Why it cannot work there now, and what would help; models are not offered it then"),
  model: z
    .object({
      omit: parameters
        .optional()
        .describe("Parameters that are not listed to models, and taken all the same"),
      require: parameters.optional().describe("Parameters that a model must give"),
      hidden: z.boolean().optional().describe("For programs: models are not offered it"),
    })
    .optional()
    .describe("How a model's view of the input differs"),
});
export type ToolDescription = z.infer<typeof toolDescriptionSchema>;

export const manifestSchema = z.object({
  hash: z.string().min(1).max(128),
  tools: z.array(toolDescriptionSchema).max(512),
  /** What the policy file on the device asks about, so that the relay knows which calls to prepare. */
  ask: z.array(policyAskRuleSchema).max(64).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
