/** What the page reads of an OpenAPI 3.1 document. Whoever wrote it may have left anything out. */

export interface OpenApi {
  readonly info?: { readonly title?: string; readonly version?: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;
  readonly components?: {
    readonly securitySchemes?: Readonly<Record<string, { readonly description?: string }>>;
    readonly schemas?: Readonly<Record<string, Schema>>;
  };
}

export const METHODS = ["get", "post", "put", "patch", "delete", "options"] as const;
export type Method = (typeof METHODS)[number];

export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  /** Without an entry it needs no credential. */
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Contents };
  readonly responses?: Readonly<Record<string, Answer>>;
}

export interface Parameter {
  readonly name: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Answer extends Reference {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Omit<Parameter, "name">>>;
  readonly content?: Contents;
}

/** By content type. */
export type Contents = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

/** Stands for another part of the document: `#/components/schemas/Problem`. */
export interface Reference {
  readonly $ref?: string;
}

/** JSON Schema, as far as it is put into words. */
export interface Schema extends Reference {
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}
