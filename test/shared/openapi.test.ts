/** OpenAPI documents: valid by the published schema, with examples that the code's own schemas take. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { LOCAL } from "../../agent/local/routes.ts";
import { ROOT } from "../../scripts/tree.ts";
import { openApiDocument } from "../../shared/openapi/document.ts";
import type { Operation, Parameter, Surface } from "../../shared/openapi/operation.ts";

// The relay's routes name their objects' classes; here only their descriptions are read.
vi.mock("cloudflare:workers", () => ({ DurableObject: class {} }));
// Needs that runtime as well.
vi.mock("@cloudflare/workers-oauth-provider", () => ({}));
const { RELAY } = await vi.importActual<{ RELAY: Surface }>("../../worker/routes/relay.ts");

const SURFACES: [string, Surface][] = [
  ["the relay's", RELAY],
  ["the local server's", LOCAL],
];

describe.each(SURFACES)("%s", (_, surface) => {
  const document = openApiDocument(surface);

  it("is valid OpenAPI 3.1", async () => {
    expect(await new Validator().validate({ ...structuredClone(document) })).toEqual({ valid: true });
  });

  it("is of this release", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(document.info.version).toBe(version);
  });

  it("names each operation once, with a tag that is explained", () => {
    const ids = surface.operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(surface.operations.map(({ tag }) => tag));
    expect([...tags].sort()).toEqual(Object.keys(surface.tags).sort());
  });

  it("leads no reference astray, and has no part that nothing uses", () => {
    const text = JSON.stringify(document);
    const referred = new Set(Array.from(text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g), ([, to]) => to));
    const { schemas = {}, responses = {} } = document.components as Record<string, object>;
    const there = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(responses).map((name) => `responses/${name}`),
    ];
    expect([...referred].sort()).toEqual(there.sort());
  });

  it.each(
    surface.operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
  )("%s shows examples that its schemas take", (_, operation) => {
    for (const { schema, example } of examplesOf(operation, surface)) {
      const result = schema.safeParse(example);
      expect(result.error && z.prettifyError(result.error)).toBeUndefined();
    }
  });
});

function examplesOf(operation: Operation, surface: Surface): { schema: z.ZodType; example: unknown }[] {
  const inPath = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => surface.path[name]);
  const parameters = [
    ...inPath,
    ...Object.values(operation.query ?? {}),
    ...Object.values(operation.headers ?? {}),
  ].filter((parameter): parameter is Parameter => parameter?.example !== undefined);
  const answers = Object.values(operation.answers).flatMap(({ schema, example }) =>
    schema && example !== undefined ? [{ schema, example }] : [],
  );
  return [...parameters, ...(operation.body ? [operation.body] : []), ...answers].map(
    ({ schema, example }) => ({
      schema,
      example,
    }),
  );
}
