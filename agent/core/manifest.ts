/** What this device announces about its tools. */
import { createHash } from "node:crypto";
import { effectOf } from "@matrx/shared/effects.ts";
import type { PolicyAskRule } from "@matrx/shared/policy.ts";
import type { Manifest, ToolDescription } from "@matrx/shared/tool.ts";
import * as z from "zod";
import type { JsonSchema, Lack, Tool } from "./tool.ts";

/**
 * The manifest of these tools in the machine's current state, and of the rules by which its own policy asks; any change to
 * it changes the hash.
 */
export async function manifestOf(
  tools: readonly Tool[],
  ask: readonly PolicyAskRule[] = [],
): Promise<Manifest> {
  const described = (await Promise.all(tools.map(describe))).sort((a, b) => (a.name < b.name ? -1 : 1));
  const announced = ask.length > 0 ? { tools: described, ask: [...ask] } : { tools: described };
  const hash = createHash("sha256").update(JSON.stringify(announced)).digest("hex");
  return { hash, ...announced };
}

/** Generated once per schema: this takes a millisecond or two. */
const schemas = new WeakMap<object, JsonSchema>();

/** What is announced of a schema. */
export function jsonSchemaOf(
  schema: NonNullable<Tool["input" | "output"]>,
  io: "input" | "output",
): JsonSchema {
  if ("json_schema" in schema) return schema.json_schema;
  const known = schemas.get(schema) ?? z.toJSONSchema(schema, { io });
  schemas.set(schema, known);
  return known;
}

async function describe(tool: Tool): Promise<ToolDescription> {
  const { name, title, description, details, input, output, timeoutMs, model = {} } = tool;
  const { omit = [], require = [], hidden = false } = model;
  const lack = await lackOf(tool);
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(details !== undefined && { details }),
    effect: tool.effect ?? effectOf(name),
    input_schema: jsonSchemaOf(input, "input"),
    ...(output && { output_schema: jsonSchemaOf(output, "output") }),
    timeout_ms: timeoutMs,
    ...(lack && { unavailable: `${lack.why}. ${lack.help}` }),
    ...((omit.length > 0 || require.length > 0 || hidden) && {
      model: { omit: [...omit], require: [...require], ...(hidden && { hidden }) },
    }),
  };
}

/** What the tool lacks; if that cannot be checked now, a call will find out. */
async function lackOf(tool: Tool): Promise<Lack | undefined> {
  try {
    return await tool.unavailable?.();
  } catch {
    return undefined;
  }
}
