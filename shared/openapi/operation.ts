/** How a route is described: the entries of the tables that an OpenAPI document is generated from. */
import type * as z from "zod";
import type { ErrorCode } from "../errors.ts";

/** Who may call it. `secret`: whoever knows the secret in the body. `device`: the machine itself. */
export type Access = "anyone" | "secret" | "device" | "caller" | "person";

export interface Parameter {
  readonly schema: z.ZodType;
  readonly description: string;
  readonly required?: boolean;
  readonly example?: unknown;
}

export interface Body {
  readonly schema: z.ZodType;
  readonly example: unknown;
  /** An empty body counts as `{}`. */
  readonly optional?: boolean;
}

/** An answer other than a problem. */
export interface Answer {
  readonly description: string;
  /** For a JSON body. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Bodies of other types, by content type: a description or a schema. */
  readonly other?: Readonly<Record<string, string | z.ZodType>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
}

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  /** With parameters in OpenAPI syntax: `/v1/devices/{device}`. */
  readonly path: string;
  /** The operationId: generated clients name their functions after it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly body?: Body;
  /** Instead, for a body of bytes: what they are, by content type. */
  readonly bytes?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Errors besides those that its surface implies. */
  readonly errors?: readonly ErrorCode[];
}

/** A server's whole interface. */
export interface Surface {
  readonly title: string;
  readonly version: string;
  /** CommonMark. */
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly security: Readonly<Record<string, object>>;
  /** The path parameters, by name. */
  readonly path: Readonly<Record<string, Parameter>>;
  /** Schemas that get a name in the document, by the name of their constant: `deviceViewSchema` becomes `DeviceView`. */
  readonly schemas: Readonly<Record<string, unknown>>;
  readonly operations: readonly Operation[];
  /** Errors that follow from an operation's access and body. */
  readonly implied: (operation: Operation) => readonly ErrorCode[];
}
