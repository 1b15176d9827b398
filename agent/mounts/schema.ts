/** JSON Schemas that somebody else wrote: what is announced of them, and how an input is checked by them. */
import { type MatrxError, toolError } from "@matrx/shared/errors.ts";
import { isDeeper } from "@matrx/shared/json-input.ts";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker";
import type { JsonSchema, JsonSchemaInput } from "../core/tool.ts";
import { ParameterNames } from "./parameter-names.ts";
import { plainSchema } from "./plain-schema.ts";
import { isRecord, type Schema, unescaped } from "./schema-references.ts";

export const SCHEMA_BYTES = 16 * 1024;
const SCHEMA_DEPTH = 32;
const MESSAGE_CHARS = 300;
const REFERENCE_CHARS = 60;

/** What is announced of a schema, and what of it is left open, in words. */
export interface Announced {
  readonly schema: JsonSchema;
  readonly open?: string | undefined;
}

/** The schema of an answer to announce, or why it cannot be. */
export function announcedSchema(schema: unknown): Announced | { problem: string } {
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
  const { schema: plain, open } = plainSchema(schema, SCHEMA_BYTES);
  if (isDeeper(JSON.stringify(plain), SCHEMA_DEPTH)) return { problem: "its schema is too deep" };
  const told = open.map((one) => one.slice(0, REFERENCE_CHARS)).join(", ");
  return {
    schema: plain as JsonSchema,
    ...(open.length > 0 && { open: `not followed in its schema: ${told}` }),
  };
}

/** An input that is announced, and checked, by the plain form of this schema; or why it cannot be. */
export function inputOf(
  tool: string,
  foreign: unknown,
): { input: JsonSchemaInput; open?: string | undefined } | { problem: string } {
  const announced = announcedSchema(foreign);
  if ("problem" in announced) return announced;
  const names = new ParameterNames(announced.schema);
  const schema = names.schema as JsonSchema;
  let validate: ((input: unknown) => { valid: boolean; errorMessage: string | undefined }) | undefined;
  const input: JsonSchemaInput = {
    json_schema: schema,
    parse(given) {
      const named = names.toNamed(given);
      let problem: string | undefined;
      try {
        validate ??= new CfWorkerJsonSchemaValidator({ shortcircuit: false }).getValidator(
          mapped(schema, withoutPatterns) as never,
        );
        problem = validate(named).errorMessage;
      } catch {
        // A schema that cannot be used: the server itself checks what it is sent.
      }
      if (problem !== undefined) throw wrongInput(tool, schema, problem);
      return names.toOwn(named);
    },
  };
  return { input, open: announced.open };
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
