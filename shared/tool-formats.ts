/** Tool definitions in the formats of model APIs. */
import * as z from "zod";
import { type Effect, effectOf } from "./effects.ts";
import type { ModelTool } from "./model-view.ts";
import { jsonSchemaSchema } from "./tool.ts";

/** `openai`: Chat Completions; `openai-responses`: the Responses API, whose functions are flat. */
export const TOOL_FORMATS = ["anthropic", "openai", "openai-responses", "mcp"] as const;
export const toolFormatSchema = z.enum(TOOL_FORMATS);
export type ToolFormat = z.infer<typeof toolFormatSchema>;

const named = { name: z.string(), description: z.string() };

/** Anthropic, Messages API. */
const anthropicToolSchema = z.strictObject({ ...named, input_schema: jsonSchemaSchema });

/** OpenAI, Chat Completions, and compatible APIs. */
const openaiToolSchema = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({ ...named, parameters: jsonSchemaSchema }),
});

/** OpenAI, Responses. Not `strict`: that allows no optional parameter. */
const openaiResponsesToolSchema = z.strictObject({
  type: z.literal("function"),
  ...named,
  parameters: jsonSchemaSchema,
  strict: z.literal(false),
});

/** Model Context Protocol, `tools/list`. */
const mcpToolSchema = z.strictObject({
  ...named,
  inputSchema: jsonSchemaSchema,
  annotations: z.strictObject({
    readOnlyHint: z.boolean(),
    openWorldHint: z.literal(false).optional(),
  }),
});

export const toolDefinitionSchema = z.union([
  anthropicToolSchema,
  openaiToolSchema,
  openaiResponsesToolSchema,
  mcpToolSchema,
]);
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;

/** OpenAI's limit on a function's description, in characters. */
const OPENAI_DESCRIPTION_CHARS = 1024;

/** One tool in the shape of one API. */
export function toolDefinition(tool: ModelTool, format: ToolFormat): ToolDefinition {
  const { model_name: name, description, input_schema: schema } = tool;
  const short = cut(description, OPENAI_DESCRIPTION_CHARS);
  switch (format) {
    case "anthropic":
      return { name, description, input_schema: schema };
    case "openai":
      return { type: "function", function: { name, description: short, parameters: schema } };
    case "openai-responses":
      return { type: "function", name, description: short, parameters: schema, strict: false };
    case "mcp":
      return { name, description, inputSchema: schema, annotations: mcpAnnotations(effectOf(tool.name)) };
  }
}

/**
 * Hints of the Model Context Protocol, derived from the effect, which the gate enforces. Defaults are left out: a tool
 * that is not read-only may destroy, and any may reach the world outside.
 */
export function mcpAnnotations(effect: Effect): z.infer<typeof mcpToolSchema>["annotations"] {
  return { readOnlyHint: effect === "read", ...(effect !== "execute" && { openWorldHint: false }) };
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .toWellFormed()
    .replace(/\s+\S*$/, "")}…`;
}
