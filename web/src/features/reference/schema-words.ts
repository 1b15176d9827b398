/** The type of a schema in words. What a program would type is in backticks. */
import { visibleJson } from "../../ui/visible-text.ts";
import type { OpenApi, Schema } from "./openapi.ts";
import { DEEPEST, whole } from "./schema.ts";

export function typeWords(schema: Schema, api: OpenApi, depth = 0): string {
  if (depth > DEEPEST) return "…";
  const merged = whole(schema, api);
  const { anyOf, oneOf, items = {}, type = "anything" } = merged;
  const choices = anyOf ?? oneOf;
  if (choices) return choices.map((choice) => typeWords(choice, api, depth + 1)).join(" or ");
  if (merged.const !== undefined) return code(merged.const);
  if (merged.enum) return merged.enum.map(code).join(", ");
  if (type === "array") return `list of ${typeWords(items, api, depth + 1)}${limits(merged)}`;
  return `${[type].flat().join(" or ")}${limits(merged)}`;
}

function limits(schema: Schema): string {
  const { format, pattern, default: preset } = schema;
  const said = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " entries"),
    format,
    pattern !== undefined && format === undefined && `like \`${pattern}\``,
    preset !== undefined && `else ${code(preset)}`,
  ].filter(Boolean);
  return said.length > 0 ? ` (${said.join("; ")})` : "";
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && least === most) return `${least}${unit}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? "" : `at most ${most}${unit}`;
}

function code(value: unknown): string {
  return `\`${visibleJson(value)}\``;
}
