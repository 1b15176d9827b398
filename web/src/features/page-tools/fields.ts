/** What a page tool takes: one definition gives the JSON Schema that is announced, the check of what comes, and its type. */
import { invalid } from "./failure.ts";

type Rules = Readonly<Record<string, string | number>>;

export interface Field<T> {
  readonly schema: Rules;
  readonly isOptional: boolean;
  /** Undefined: nothing is wrong with it. */
  problem(value: unknown): string | undefined;
  /** Only types have use for it. */
  readonly type?: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

export type InputOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export function text(description: string, maxLength: number): Field<string> {
  return {
    schema: { type: "string", minLength: 1, maxLength, description },
    isOptional: false,
    problem(value) {
      if (typeof value !== "string") return "has to be a string";
      if (value === "") return "can't be empty";
      if (/\p{Surrogate}/u.test(value)) return "can't have half a character";
      return value.length > maxLength ? `can have at most ${maxLength} characters` : undefined;
    },
  };
}

export function whole(description: string, minimum: number, maximum: number): Field<number> {
  return {
    schema: { type: "integer", minimum, maximum, description },
    isOptional: false,
    problem(value) {
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return "has to be a whole number";
      return value < minimum || value > maximum ? `has to be from ${minimum} to ${maximum}` : undefined;
    },
  };
}

export function optional<T>(field: Field<T>): Field<T | undefined> {
  const { schema, problem } = field;
  return { schema, isOptional: true, problem: (value) => (value === undefined ? undefined : problem(value)) };
}

export function schemaOf(fields: Fields): object {
  const named = Object.entries(fields);
  const required = named.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(named.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Throws PageToolError `INVALID_PARAMETERS`. Nothing at all is an object without fields. */
export function readInput<F extends Fields>(fields: F, given: unknown = {}): InputOf<F> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid("The parameters have to be one object");
  // What a getter says first is what counts.
  const input: Readonly<Record<string, unknown>> = { ...given };
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw invalid(`${unknown.slice(0, 100)}: the tool has no such parameter`);
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    const problem = value === undefined && !field.isOptional ? "is required" : field.problem(value);
    if (problem !== undefined) throw invalid(`${name} ${problem}`);
  }
  return input as InputOf<F>;
}
