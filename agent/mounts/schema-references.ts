/** What references within a schema refer to. Nothing is fetched, and nothing is followed without end. */

export type Schema = Record<string, unknown>;

export function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];
const MOST_WITHIN = 8;

export class SchemaReferences {
  readonly #root: Schema;
  readonly #named = new Map<string, Schema>();
  readonly #open = new Set<string>();
  #room: number;

  /** What they bring in has at most so many bytes. */
  constructor(root: Schema, maxBytes: number) {
    this.#root = root;
    this.#room = maxBytes;
    this.#collect(root);
  }

  /** Those that could not be followed. */
  get open(): readonly string[] {
    return [...this.#open];
  }

  /** What a schema refers to: no target if to nothing, undefined if it cannot be followed. */
  of(schema: Schema, within: readonly string[]): { reference: string; target?: Schema } | undefined {
    const reference = referenceOf(schema);
    if (reference === undefined) return { reference: "" };
    const target = this.#find(reference);
    const bytes = target ? JSON.stringify(target).length : 0;
    if (!target || within.includes(reference) || within.length > MOST_WITHIN || bytes > this.#room) {
      this.#open.add(reference);
      return undefined;
    }
    this.#room -= bytes;
    return { reference, target };
  }

  /** At least of which type that is which cannot be followed. */
  typeOf(schema: Schema): Schema {
    const target = this.#find(referenceOf(schema) ?? "");
    return typeof target?.type === "string" ? { type: target.type } : {};
  }

  #find(reference: string): Schema | undefined {
    const base = this.#root.$id ?? this.#root.id;
    const local =
      typeof base === "string" && reference.startsWith(`${base}#`) ? reference.slice(base.length) : reference;
    if (local === "#" || local === base) return this.#root;
    if (!local.startsWith("#/")) return this.#named.get(local);
    let at: unknown = this.#root;
    for (const step of local.slice(2).split("/").map(unescaped)) {
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
      at = (at as Schema)[step];
    }
    return isRecord(at) ? at : undefined;
  }

  #collect(value: unknown): void {
    if (Array.isArray(value)) for (const one of value) this.#collect(one);
    if (!isRecord(value)) return;
    const { $anchor, $dynamicAnchor, $id, id } = value;
    for (const name of [$anchor, $dynamicAnchor]) {
      if (typeof name === "string") this.#named.set(`#${name}`, value);
    }
    for (const name of [$id, id]) if (typeof name === "string") this.#named.set(name, value);
    for (const one of Object.values(value)) this.#collect(one);
  }
}

function referenceOf(schema: Schema): string | undefined {
  const found = REFERENCES.map((key) => schema[key]).find((value) => typeof value === "string");
  return found as string | undefined;
}

/** A step of a JSON pointer in a URL's fragment. */
export function unescaped(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
