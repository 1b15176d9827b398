/** zod schemas as components of an OpenAPI document: each named one appears once, and only if it is used. */
import * as z from "zod";

export type JsonSchema = Record<string, unknown>;
type Direction = "input" | "output";

const SCHEMAS = "#/components/schemas/";

export class Components {
  readonly #names = new Map<z.ZodType, string>();
  readonly #registry = z.registry<{ id: string }>();
  readonly #used = new Map<string, JsonSchema>();
  readonly #converted: Partial<Record<Direction, Record<string, JsonSchema>>> = {};

  /** `schemas` by the names of their constants; anything else among them is ignored. */
  constructor(schemas: Readonly<Record<string, unknown>>) {
    for (const [constant, schema] of Object.entries(schemas)) {
      if (!(schema instanceof z.ZodType)) continue;
      const id = constant.replace(/^./, (first) => first.toUpperCase()).replace(/Schema$/, "");
      this.#names.set(schema, id);
      this.#registry.add(schema, { id });
    }
  }

  /** A schema as it appears in the document: a reference if it has a name. `direction` as the server sees it. */
  of(schema: z.ZodType, direction: Direction): JsonSchema {
    const name = this.#names.get(schema);
    // Refer to each choice by name, so that a generated client has one type for it.
    if (!name && schema instanceof z.ZodUnion) {
      return { anyOf: schema.options.map((option) => this.of(option as z.ZodType, direction)) };
    }
    if (!name) return plain(z.toJSONSchema(schema, { io: direction, override }));
    this.#use(name, direction);
    return { $ref: SCHEMAS + name };
  }

  /** All schemas that were used, sorted by name. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #use(name: string, direction: Direction): void {
    this.#converted[direction] ??= convert(this.#registry, direction);
    const schema = this.#converted[direction][name];
    if (!schema) throw new Error(`There is no schema ${name}`);
    const before = this.#used.get(name);
    if (before && JSON.stringify(before) !== JSON.stringify(schema)) {
      throw new Error(`${name} is sent and received in different shapes: give each a schema of its own`);
    }
    if (before) return;
    this.#used.set(name, schema);
    for (const [, inner = ""] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      this.#use(inner, direction);
    }
  }
}

function convert(registry: z.core.$ZodRegistry<{ id: string }>, io: Direction): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => SCHEMAS + id, override });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)]));
}

/** Removes keys that only make sense in a standalone schema. */
function plain({ $schema: _, $id: __, id: ___, "~standard": ____, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/**
 * Answers may gain fields, so only strict schemas forbid additional ones. Drops the pattern of a time, whose format says
 * more, and the bounds of JavaScript's integers, which say nothing.
 */
function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod;
  if (def.type === "object" && def.catchall === undefined) delete jsonSchema.additionalProperties;
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
