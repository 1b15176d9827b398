/**
 * JSON Schemas of any draft as one of draft 2020-12 that stands for itself: no references, no keywords of before, none that
 * is wrong. What cannot be said so is left open: the server itself checks what it is sent.
 */
import { isRecord, type Schema, SchemaReferences } from "./schema-references.ts";

const OF_ONE = [
  ...["additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames", "contains"],
  ...["items", "not", "if", "then", "else"],
];
const OF_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const OF_MAPS = ["properties", "patternProperties", "dependentSchemas"];

/** They name schemas or point at them, or mean nothing to callers. */
const LEFT_OUT = new Set([
  ...["$schema", "$id", "id", "$anchor", "$defs", "definitions", "$comment", "$vocabulary", "$ref"],
  ...["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"],
  // Asks an HTTP client to send a parameter as a header.
  "x-mcp-header",
]);

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Names of types in other languages, as servers written by hand have them. */
const TYPES_MEANT: Readonly<Record<string, string>> = {
  ...{ str: "string", text: "string", int: "integer", long: "integer", float: "number", double: "number" },
  ...{ decimal: "number", bool: "boolean", dict: "object", map: "object", list: "array", none: "null" },
};

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown) => typeof value === "boolean";

/** What a keyword's value must be. */
const VALUES: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...{ title: isText, description: isText, format: isText, pattern: isExpression },
  ...{ minimum: isNumber, maximum: isNumber, exclusiveMinimum: isNumber, exclusiveMaximum: isNumber },
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  ...{ minLength: isCount, maxLength: isCount, minItems: isCount, maxItems: isCount },
  ...{ minProperties: isCount, maxProperties: isCount, minContains: isCount, maxContains: isCount },
  ...{ uniqueItems: isFlag, deprecated: isFlag, readOnly: isFlag, writeOnly: isFlag },
  ...{ enum: isFilled, examples: Array.isArray },
};

/** The schema, and which references are left open, if any. */
export function plainSchema(root: Schema, maxBytes: number): { schema: Schema; open: readonly string[] } {
  const references = new SchemaReferences(root, maxBytes);

  const plain = (schema: unknown, within: readonly string[]): Schema | boolean => {
    if (typeof schema === "boolean") return schema;
    if (!isRecord(schema)) return {};
    const found = references.of(schema, within);
    if (!found) return { ...own(schema, within), ...references.typeOf(schema) };
    if (!found.target) return own(schema, within);
    const target = plain(found.target, [...within, found.reference]);
    if (!isRecord(target)) return target;
    const beside = own(schema, within);
    const isSaidTwice = Object.keys(beside).some((key) => key in target && !ANNOTATIONS.has(key));
    return isSaidTwice ? { ...beside, allOf: [target] } : { ...target, ...beside };
  };

  /** Without what it refers to. */
  const own = (schema: Schema, within: readonly string[]): Schema => {
    const now = upgraded(schema);
    const inner = (value: unknown) => plain(value, within);
    const entries = Object.entries(now).flatMap(([key, value]): [string, unknown][] => {
      if (LEFT_OUT.has(key)) return [];
      if (OF_ONE.includes(key)) return [[key, inner(value)]];
      if (OF_LISTS.includes(key)) return isFilled(value) ? [[key, value.map(inner)]] : [];
      if (OF_MAPS.includes(key)) return isRecord(value) ? [[key, mapValues(value, inner)]] : [];
      return VALUES[key]?.(value) === false ? [] : [[key, value]];
    });
    return Object.fromEntries(entries);
  };

  const schema = plain(root, ["#"]);
  return { schema: isRecord(schema) ? schema : {}, open: references.open };
}

/** They may differ from those of a schema that is referred to. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples", "deprecated"]);

/** Keywords of earlier drafts in today's words. */
function upgraded(schema: Schema): Schema {
  const { type, required, items, additionalItems, dependencies, ...rest } = schema;
  const needed = [...(Array.isArray(required) ? required.filter(isText) : []), ...saidByProperties(schema)];
  const types = typesOf(type);
  return {
    ...(types !== undefined && { type: types }),
    ...exclusive(rest),
    ...(needed.length > 0 && { required: [...new Set(needed)] }),
    ...(Array.isArray(items)
      ? { prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
      : items !== undefined && { items }),
    ...(isRecord(dependencies) && dependent(dependencies)),
  };
}

function typesOf(type: unknown): unknown {
  const named = (one: unknown) => {
    const name = String(one).toLowerCase();
    return TYPES.has(name) ? name : TYPES_MEANT[name];
  };
  if (!Array.isArray(type)) return typeof type === "string" ? named(type) : undefined;
  const names = type.map(named);
  return names.includes(undefined) || names.length === 0 ? undefined : [...new Set(names)];
}

/** Draft 3: `required: true` within a property. */
function saidByProperties({ properties }: Schema): string[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).flatMap(([name, one]) =>
    isRecord(one) && one.required === true ? [name] : [],
  );
}

/** Draft 4: `exclusiveMinimum: true` beside `minimum`. */
function exclusive(schema: Schema): Schema {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, ...rest } = schema;
  return {
    ...rest,
    ...(exclusiveMinimum === true ? { exclusiveMinimum: minimum } : given({ minimum, exclusiveMinimum })),
    ...(exclusiveMaximum === true ? { exclusiveMaximum: maximum } : given({ maximum, exclusiveMaximum })),
  };
}

function given(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/** Before draft 2019-09: one keyword for names and schemas. */
function dependent(dependencies: Schema): Schema {
  const entries = Object.entries(dependencies);
  const names = entries.filter(([, value]) => Array.isArray(value) && value.every(isText));
  const schemas = entries.filter(([, value]) => isRecord(value));
  return {
    ...(names.length > 0 && { dependentRequired: Object.fromEntries(names) }),
    ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

function isFilled(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function isExpression(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") !== undefined;
  } catch {
    return false;
  }
}

function mapValues(map: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
