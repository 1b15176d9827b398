/**
 * Input schemas within what the APIs of Anthropic, OpenAI and Gemini all take: one tool that one of them refuses makes it
 * refuse the whole request. What has no keyword there is said in the description, or left to the device, which checks the
 * input by its own schema. docs/decisions/0046-model-schemas.md says what each takes.
 */

type Schema = Record<string, unknown>;

/** What is known of a value of any kind. */
const ANY: readonly Schema[] = ["string", "number", "boolean", "object"].map((type) => ({ type }));
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const VALUES_SAID = 20;

/** The schema of a tool's input. */
export function modelSchema(schema: Schema): Schema & { type: "object" } {
  const whole = withBranches(merged(schema));
  const { description } = whole;
  return { ...(typeof description === "string" && { description }), type: "object", ...members(whole) };
}

/** One parameter; undefined if no value fits it. */
function simple(schema: unknown, isNeeded: boolean): Schema | undefined {
  if (schema === false) return undefined;
  const whole = merged(isRecord(schema) ? schema : {});
  const kinds = kindsOf(whole).filter(isDistinct);
  const others = kinds.filter(({ type }) => type !== "null");
  const [only, ...more] = isNeeded || others.length === 0 ? kinds : others;
  if (!only) return undefined;
  const { title, description, default: fallback } = whole;
  const words = {
    ...(typeof title === "string" && typeof description !== "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
  const hasDefault = fallback !== undefined && fallback !== null && more.length === 0;
  const first = described({ ...only, ...words, ...(hasDefault && { default: fallback }) });
  // Gemini takes nothing beside anyOf.
  return more.length === 0 ? first : { anyOf: [first, ...more.map(described)] };
}

/** One schema for each kind of value that it allows, without what is said of all. */
function kindsOf(schema: Schema): Schema[] {
  const { anyOf, oneOf, title: _, description: __, default: ___, ...base } = schema;
  const branches = [anyOf, oneOf].find(isFilled);
  if (!branches) {
    const types = typesOf(base);
    return types.length === 0 ? [...ANY] : types.map((type) => kindOf(type, base));
  }
  if (HOLD_OTHERS.some((key) => key in base)) return kindsOf(withBranches(schema));
  const kinds = branches
    .filter((branch) => branch !== false)
    .flatMap((branch) => {
      const whole = both(merged(recordOf(branch)), base);
      const { description } = whole;
      return kindsOf(whole).map((kind) => ({
        ...kind,
        ...(typeof description === "string" && { description }),
      }));
    });
  return oneChoice(kinds);
}

/** Repeated in each branch, they would grow without end. */
const HOLD_OTHERS = ["properties", "items", "prefixItems", "additionalProperties"];

/** Several texts to choose from are one choice. */
function oneChoice(kinds: readonly Schema[]): Schema[] {
  const texts = kinds.filter((kind) => Array.isArray(kind.enum));
  if (texts.length < 2) return [...kinds];
  const values = texts.flatMap((kind) => kind.enum as string[]);
  return [{ type: "string", enum: [...new Set(values)] }, ...kinds.filter((kind) => !texts.includes(kind))];
}

function typesOf(schema: Schema): string[] {
  const said = [schema.type].flat().filter((type): type is string => TYPES.has(String(type)));
  if (said.length > 0) return [...new Set(said)];
  const values = valuesOf(schema);
  if (values) return [...new Set(values.map(typeOf))];
  if ("properties" in schema || "additionalProperties" in schema) return ["object"];
  if ("items" in schema || "prefixItems" in schema) return ["array"];
  if ("minimum" in schema || "maximum" in schema || "multipleOf" in schema) return ["number"];
  return "pattern" in schema || "minLength" in schema || "maxLength" in schema ? ["string"] : [];
}

function kindOf(type: string, schema: Schema): Schema {
  const values = valuesOf(schema)?.filter((value) => fits(value, type));
  switch (type) {
    case "string":
      return { type, ...choice(values), ...texts(schema) };
    case "integer":
    case "number":
      return { type, ...bounds(schema, type), [SAID]: oneOfThese(values) };
    case "boolean":
      return { type, [SAID]: oneOfThese(values) };
    case "array":
      return { type, items: itemsOf(schema), ...counts(schema, "minItems", "maxItems") };
    case "object":
      return { type, ...members(schema), [SAID]: ofFreeNames(schema) };
    default:
      return { type };
  }
}

/** What is added to the description. */
const SAID = Symbol("said");

function described(schema: Schema & { [SAID]?: unknown }): Schema {
  const { [SAID]: said, description, ...rest } = schema;
  const words = [description, said].filter((one) => typeof one === "string" && one !== "").join(". ");
  return words === "" ? rest : { ...rest, description: words };
}

function choice(values: readonly unknown[] | undefined): Schema {
  const texts = [...new Set(values)].filter((value) => value !== "");
  return texts.length > 0 ? { enum: texts } : {};
}

function texts(schema: Schema): Schema {
  const { pattern, format } = schema;
  return {
    ...counts(schema, "minLength", "maxLength"),
    ...(typeof pattern === "string" && isPlain(pattern) && { pattern }),
    ...(format === "date-time" ? { format } : typeof format === "string" && { [SAID]: `Format: ${format}` }),
  };
}

/** Some APIs refuse what looks around, and names. */
function isPlain(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") !== undefined && !/\(\?(?!:)|\\[1-9kpP]/.test(pattern);
  } catch {
    return false;
  }
}

/** An exclusive bound has no keyword; that of whole numbers is the next one. */
function bounds(schema: Schema, type: string): Schema {
  const step = type === "integer" ? 1 : 0;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const least = isNumber(exclusiveMinimum) ? Math.floor(exclusiveMinimum) + step : minimum;
  const most = isNumber(exclusiveMaximum) ? Math.ceil(exclusiveMaximum) - step : maximum;
  return {
    ...(isNumber(least) && least !== Number.MIN_SAFE_INTEGER && { minimum: least }),
    ...(isNumber(most) && most !== Number.MAX_SAFE_INTEGER && { maximum: most }),
  };
}

function counts(schema: Schema, ...keys: readonly string[]): Schema {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = schema[key];
      return isNumber(value) && value > 0 && value < Number.MAX_SAFE_INTEGER ? [[key, value]] : [];
    }),
  );
}

/** Each place of a tuple may have any of its kinds. */
function itemsOf({ items, prefixItems }: Schema): Schema {
  const places = Array.isArray(prefixItems) ? prefixItems : [];
  const all = [...places, ...(isRecord(items) || places.length === 0 ? [items] : [])];
  return simple(all.length === 1 ? all[0] : { anyOf: all }, true) ?? { type: "string" };
}

function members(schema: Schema): Schema {
  const { properties, required } = schema;
  const needed = Array.isArray(required) ? required : [];
  const entries = Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, one]) => {
    const seen = NAME.test(name) ? simple(one, needed.includes(name)) : undefined;
    return seen ? [[name, seen] as const] : [];
  });
  const names = entries.map(([name]) => name).filter((name) => needed.includes(name));
  return { properties: Object.fromEntries(entries), ...(names.length > 0 && { required: names }) };
}

function ofFreeNames({ additionalProperties: free }: Schema): string | undefined {
  if (!isRecord(free)) return undefined;
  const types = typesOf(merged(free));
  return `Other names may be given${types.length > 0 ? `, each with: ${types.join(" or ")}` : ""}`;
}

function oneOfThese(values: readonly unknown[] | undefined): string | undefined {
  if (!values || values.length === 0) return undefined;
  const [only, ...more] = values.slice(0, VALUES_SAID).map(String);
  return more.length === 0 ? `Always ${only}` : `One of ${[only, ...more].join(", ")}`;
}

function valuesOf(schema: Schema): unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return isFilled(schema.enum) ? schema.enum : undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function fits(value: unknown, type: string): boolean {
  return typeOf(value) === type || (type === "integer" && Number.isInteger(value));
}

/** With what `allOf` says, in one. */
function merged(schema: Schema): Schema {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return rest;
  return allOf.reduce<Schema>((whole, one) => (isRecord(one) ? both(whole, merged(one)) : whole), rest);
}

/** What both say; where they differ, the first. */
function both(first: Schema, second: Schema): Schema {
  const properties = membersOf([first, second], "allOf");
  const required = [...new Set([...listOf(first.required), ...listOf(second.required)])];
  return {
    ...second,
    ...first,
    ...(properties && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** Where no choice can be offered: what any branch takes, and what all need. */
function withBranches(schema: Schema): Schema {
  const { anyOf, oneOf, required, ...base } = schema;
  const branches = [anyOf, oneOf].flatMap(listOf).filter(isRecord);
  const each = branches.map((branch) => withBranches(merged(branch)));
  const inAll = listOf(each[0]?.required).filter((name) =>
    each.every((one) => listOf(one.required).includes(name)),
  );
  const properties = membersOf([base, { properties: membersOf(each, "anyOf") }], "allOf");
  return {
    ...base,
    ...(properties && { properties }),
    required: [...new Set([...listOf(required), ...inAll])],
  };
}

/** Properties of all; those that differ as one of them, or as all. */
function membersOf(schemas: readonly Schema[], how: "allOf" | "anyOf"): Schema | undefined {
  const found = new Map<string, unknown[]>();
  for (const { properties } of schemas) {
    for (const [name, one] of Object.entries(recordOf(properties))) {
      const others = found.get(name) ?? [];
      const isNew = others.every((other) => JSON.stringify(other) !== JSON.stringify(one));
      found.set(name, isNew ? [...others, one] : others);
    }
  }
  if (found.size === 0) return undefined;
  const entries = [...found].map(([name, all]) => [name, all.length === 1 ? all[0] : { [how]: all }]);
  return Object.fromEntries(entries);
}

function isDistinct(schema: Schema, index: number, all: readonly Schema[]): boolean {
  const text = JSON.stringify(schema);
  return all.findIndex((one) => JSON.stringify(one) === text) === index;
}

function recordOf(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

function isFilled(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
