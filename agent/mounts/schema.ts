/** JSON Schemas that somebody else wrote: what is announced of them, and how an input is checked by them. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { isDeeper } from "@matrx/shared/json-input.ts";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker";
import type { JsonSchema, JsonSchemaInput } from "../core/tool.ts";

export const SCHEMA_BYTES = 16 * 1024;
const SCHEMA_DEPTH = 32;
const MESSAGE_CHARS = 300;

/** The schema to announce, or why it cannot be. */
export function announcedSchema(schema: unknown): { schema: JsonSchema } | { problem: string } {
  if (!isRecord(schema) || schema.type !== "object") return { problem: "its schema describes no object" };
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch {
    return { problem: "its schema is too deep" };
  }
  if (Buffer.byteLength(text) > SCHEMA_BYTES)
    return { problem: `its schema has more than ${SCHEMA_BYTES} bytes` };
  if (isDeeper(text, SCHEMA_DEPTH)) return { problem: "its schema is too deep" };
  return { schema: mapped(schema, withoutHeaders) as JsonSchema };
}

/** An input that is checked by this schema. */
export function inputOf(tool: string, schema: JsonSchema): JsonSchemaInput {
  let validate: ((input: unknown) => { valid: boolean; errorMessage: string | undefined }) | undefined;
  return {
    json_schema: schema,
    parse(input) {
      let problem: string | undefined;
      try {
        validate ??= new CfWorkerJsonSchemaValidator({ shortcircuit: false }).getValidator(
          mapped(schema, withoutPatterns) as never,
        );
        problem = validate(input).errorMessage;
      } catch {
        // A schema that cannot be used: the server itself checks what it is sent.
        return input;
      }
      if (problem !== undefined) throw wrongInput(tool, schema, problem);
      return input;
    },
  };
}

function wrongInput(tool: string, schema: JsonSchema, problem: string): MatrxError {
  const first = mostSpecific(problem);
  const parameters = isRecord(schema.properties) ? Object.keys(schema.properties).slice(0, 50) : [];
  return toolError("INVALID_PARAMETERS", first.field ? `${first.field}: ${first.message}` : first.message, {
    hint: `${tool} takes: ${parameters.join(", ").slice(0, 1000) || "no parameters"}`,
    details: { tool, ...(first.field && { field: first.field }) },
  });
}

/** The validator lists what is wrong from the outside in, as `#/field: message; ...`. */
function mostSpecific(problem: string): { field: string; message: string } {
  const problems = problem.split(/; (?=#)/).map((one) => {
    const [, pointer = "", message = one] = /^#(\S*): ([\s\S]*)$/.exec(one) ?? [];
    const field = pointer.slice(1).split("/").map(unescaped).join(".");
    return { field, message: message.slice(0, MESSAGE_CHARS) };
  });
  const depth = (field: string) => (field === "" ? 0 : field.split(".").length);
  return problems.reduce((best, one) => (depth(one.field) > depth(best.field) ? one : best));
}

function unescaped(name: string): string {
  const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

type Schema = Record<string, unknown>;

/** Asks our HTTP client to send a parameter as a header; it means nothing to callers. */
function withoutHeaders({ "x-mcp-header": _, ...schema }: Schema): Schema {
  return schema;
}

/** A regular expression of somebody else could keep this program busy for ever. */
function withoutPatterns({ pattern: _, format: __, patternProperties, ...schema }: Schema): Schema {
  if (patternProperties === undefined) return schema;
  const { additionalProperties: ___, unevaluatedProperties: ____, ...open } = schema;
  return open;
}

const OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const LITERAL = new Set(["const", "enum", "default", "examples", "required"]);

/** Changes a schema and all schemas in it; names of properties and literal values stay as they are. */
function mapped(schema: unknown, change: (schema: Schema) => Schema): unknown {
  if (Array.isArray(schema)) return schema.map((one) => mapped(one, change));
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(change(schema)).map(([key, value]) => {
    if (LITERAL.has(key)) return [key, value];
    if (!OF_SCHEMAS.has(key) || !isRecord(value)) return [key, mapped(value, change)];
    return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one, change)]))];
  });
  return Object.fromEntries(entries);
}

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
