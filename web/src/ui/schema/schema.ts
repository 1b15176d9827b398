/** A tool's JSON Schema as it comes from a machine: nothing about it is sure. */

export type Schema = Readonly<Record<string, unknown>>;

/** Steps from one `$ref` to the next. */
const MOST_STEPS = 8;

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What `$ref` leads to within the same schema; itself where it leads nowhere. */
export function resolved(schema: Schema, root: Schema): Schema {
  let found = schema;
  for (let step = 0; step < MOST_STEPS; step++) {
    const target = typeof found.$ref === "string" ? valueAt(root, found.$ref) : undefined;
    if (!isSchema(target)) return found;
    const { $ref: _, ...own } = found;
    found = { ...target, ...own };
  }
  return found;
}

/** What stands at a JSON pointer in a fragment (`#/$defs/x`). */
export function valueAt(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith("#")) return undefined;
  let found = root;
  for (const part of partsOf(pointer)) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return undefined;
    found = Reflect.get(found, part);
  }
  return found;
}

export function partsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `anyOf: [X, null]` and `type: ["X", "null"]` are X, left out when empty. */
export function withoutNull(schema: Schema, root: Schema): Schema {
  const choices = choicesOf(schema, root).filter(({ type }) => type !== "null");
  const [only] = choices;
  const { anyOf: _, oneOf: __, ...rest } = schema;
  const one = only && choices.length === 1 ? { ...rest, ...only } : schema;
  if (!Array.isArray(one.type)) return one;
  const types = one.type.filter((type) => type !== "null");
  return types.length === 1 ? { ...one, type: types[0] } : one;
}

/** The schemas of `anyOf` or `oneOf`. */
export function choicesOf({ anyOf, oneOf }: Schema, root: Schema): Schema[] {
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return choices.filter(isSchema).map((choice) => resolved(choice, root));
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
