/** Checks an input against the tool's schema before it is sent. What it cannot check, the machine does. */
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import { NEEDED, type ToolInput } from "./draft.ts";
import { checkMessage } from "./messages.ts";
import { isSchema, partsOf, type Schema, valueAt } from "./schema.ts";

/** What is wrong, by field; the empty name is for what concerns no field. */
export type Check = (input: ToolInput) => ReadonlyMap<string, string>;

/** These only say that something in them is wrong, which is said too. */
const CONTAINERS = ["properties", "items", "prefixItems", "allOf", "$ref", "additionalProperties", "if"];
/** A repetition within a repetition: such a pattern may take a browser forever. */
const SLOW = /[+*}]\??\)[+*{]/;
const LONGEST_PATTERN = 1_000;

export function checkOf(schema: Schema): Check {
  const validator = validatorOf(schema);
  return (input) => {
    const problems = new Map<string, string>();
    for (const unit of unitsOf(validator, input)) {
      const { field, message } = told(unit, schema);
      if (!problems.has(field)) problems.set(field, message);
    }
    return problems;
  };
}

function validatorOf(schema: Schema): Validator | undefined {
  try {
    return new Validator(withoutSlowPatterns(schema) as Schema, "2020-12", false);
  } catch {
    return undefined;
  }
}

/** Nothing if the schema itself is wrong. */
function unitsOf(validator: Validator | undefined, input: ToolInput): OutputUnit[] {
  try {
    const { errors = [] } = validator?.validate(input) ?? {};
    return errors.filter(({ keyword }) => !CONTAINERS.includes(keyword));
  } catch {
    return [];
  }
}

function withoutSlowPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSlowPatterns);
  if (!isSchema(value)) return value;
  const kept = Object.entries(value).filter(([key, each]) => key !== "pattern" || !isSlow(each));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutSlowPatterns(each)]));
}

function isSlow(pattern: unknown): boolean {
  return typeof pattern === "string" && (pattern.length > LONGEST_PATTERN || SLOW.test(pattern));
}

interface Told {
  readonly field: string;
  readonly message: string;
}

function told(unit: OutputUnit, schema: Schema): Told {
  const [field = "", ...inner] = partsOf(unit.instanceLocation);
  const missing = unit.keyword === "required" ? /"([^"]*)"\.$/.exec(unit.error)?.[1] : undefined;
  if (field === "" && missing !== undefined) return { field: missing, message: NEEDED };
  if (missing !== undefined) return { field, message: `${[...inner, missing].join(".")} is missing.` };
  const where = inner.length === 0 ? "" : `${inner.join(".")}: `;
  return { field, message: where + checkMessage(unit, valueAt(schema, unit.keywordLocation)) };
}
