/** Names of parameters that every model API takes, for those of a server that some refuse. */
import { isRecord, type Schema } from "./schema-references.ts";

const NAME_CHARS = 64;
/** Gemini's rule, the narrowest: OpenAI has none, Anthropic also takes dots, dashes and a digit in front. */
const FITS = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export class ParameterNames {
  /** The server's schema in the new names. */
  readonly schema: Schema;
  readonly #named = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(schema: Schema) {
    const all = new Set<string>();
    collect(schema, all);
    const taken = new Set([...all].filter((name) => FITS.test(name)));
    for (const name of [...all].filter((one) => !FITS.test(one)).sort()) {
      const free = freeName(name, taken);
      taken.add(free);
      this.#named.set(name, free);
      this.#own.set(free, name);
    }
    this.schema = this.#named.size > 0 ? (this.#renamed(schema) as Schema) : schema;
  }

  /** An input in the new names; the server's own are understood, too. */
  toNamed(input: Schema): Schema {
    const name = (key: string, listed: Schema) => {
      const named = this.#named.get(key);
      return !(key in listed) && named !== undefined && named in listed ? named : key;
    };
    return this.#translated(input, [this.schema], name) as Schema;
  }

  /** An input in the names of the server. */
  toOwn(input: Schema): Schema {
    const name = (key: string, listed: Schema) => (key in listed ? (this.#own.get(key) ?? key) : key);
    return this.#translated(input, [this.schema], name) as Schema;
  }

  #translated(value: unknown, schemas: unknown[], name: (key: string, listed: Schema) => string): unknown {
    if (this.#named.size === 0) return value;
    const here = schemas.flatMap(applying);
    if (Array.isArray(value)) {
      return value.map((one, index) =>
        this.#translated(
          one,
          here.map((schema) => itemOf(schema, index)),
          name,
        ),
      );
    }
    if (!isRecord(value)) return value;
    const listed: Schema = Object.assign(Object.create(null), ...here.map(({ properties }) => properties));
    const entries = Object.entries(value).map(([key, one]) => {
      const next = name(key, listed);
      const known = next in listed ? next : key;
      return [
        next,
        this.#translated(
          one,
          here.map((schema) => memberOf(schema, known)),
          name,
        ),
      ];
    });
    return Object.fromEntries(entries);
  }

  #renamed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#renamed(one));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([key, one]): [string, unknown] => {
      if (key === "required" && Array.isArray(one)) return [key, one.map((name) => this.#nameOf(name))];
      if (LITERALS.has(key)) return [key, this.#renamedLiteral(one)];
      if (key === "dependentRequired" && isRecord(one)) {
        const renamed = Object.entries(one).map(([name, needs]) => [
          this.#nameOf(name),
          Array.isArray(needs) ? needs.map((need) => this.#nameOf(need)) : needs,
        ]);
        return [key, Object.fromEntries(renamed)];
      }
      if ((key === "properties" || key === "dependentSchemas") && isRecord(one)) {
        const renamed = Object.entries(one).map(([name, schema]) => [
          this.#nameOf(name),
          key === "properties" ? this.#described(name, this.#renamed(schema)) : this.#renamed(schema),
        ]);
        return [key, Object.fromEntries(renamed)];
      }
      if (key === "patternProperties" && isRecord(one)) {
        return [
          key,
          Object.fromEntries(Object.entries(one).map(([name, schema]) => [name, this.#renamed(schema)])),
        ];
      }
      return [key, this.#renamed(one)];
    });
    return Object.fromEntries(entries);
  }

  /** Texts of the server speak of its own names. */
  #described(name: string, schema: unknown): unknown {
    if (!this.#named.has(name) || !isRecord(schema)) return schema;
    const { description } = schema;
    const own = name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name;
    return { ...schema, description: typeof description === "string" ? `${own}: ${description}` : own };
  }

  #renamedLiteral(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#renamedLiteral(one));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [this.#nameOf(key), this.#renamedLiteral(one)]),
    );
  }

  #nameOf(name: string): string {
    return this.#named.get(name) ?? name;
  }
}

const LITERALS = new Set(["const", "enum", "default", "examples"]);

/** Names in `properties`, at every depth. */
function collect(schema: unknown, names: Set<string>): void {
  if (Array.isArray(schema)) for (const one of schema) collect(one, names);
  if (!isRecord(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (LITERALS.has(key)) continue;
    if (key === "properties" && isRecord(value)) {
      for (const [name, one] of Object.entries(value)) {
        names.add(name);
        collect(one, names);
      }
    } else if (key === "patternProperties" && isRecord(value)) {
      for (const one of Object.values(value)) collect(one, names);
    } else collect(value, names);
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const letters = name.normalize("NFKD").replace(/\p{M}+/gu, "");
  const words = letters.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const plain = /^[A-Za-z]/.test(words) ? words : words === "" ? "parameter" : `_${words}`;
  for (let count = 1; ; count++) {
    const end = count === 1 ? "" : `_${count}`;
    const free = plain.slice(0, NAME_CHARS - end.length) + end;
    if (!taken.has(free)) return free;
  }
}

/** A schema and those that apply to the same value, or may. */
function applying(schema: unknown): Schema[] {
  if (!isRecord(schema)) return [];
  const { allOf, anyOf, oneOf, then, else: other, dependentSchemas } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const more = isRecord(dependentSchemas) ? Object.values(dependentSchemas) : [];
  return [schema, ...[...lists, then, other, ...more].flatMap(applying)];
}

function itemOf({ prefixItems, items }: Schema, index: number): unknown {
  return Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items;
}

function memberOf({ properties, additionalProperties }: Schema, name: string): unknown {
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}
