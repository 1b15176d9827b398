/** What pages need of the relay's answers is what the relay's own description promises. */
import { expect, test } from "vitest";
import * as z from "zod";
import { nothingHereError } from "../../shared/caller/no-route.ts";
import { NO_ROUTE } from "../../web/src/relay/refusal.ts";
import { fits, SHAPES } from "../../web/src/relay/shapes.ts";
import { startRelay } from "../helpers/relay.ts";

interface Schema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

test("each field that a page needs is promised by the relay", async () => {
  await using relay = await startRelay();
  const described = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.any())), components: z.any() })
    .parse(await (await fetch(`${relay.url}/openapi.json`)).json());

  const resolved = (schema: Schema): Schema =>
    schema.$ref ? resolved(described.components.schemas[schema.$ref.split("/").at(-1) ?? ""]) : schema;
  /** The schema of a field that is always there; undefined: it is not. */
  function promised(schema: Schema, name: string): Schema | undefined {
    const { required = [], properties = {}, allOf = [], oneOf, anyOf } = resolved(schema);
    if (required.includes(name)) return properties[name];
    for (const part of allOf) {
      const found = promised(part, name);
      if (found) return found;
    }
    const kinds = (oneOf ?? anyOf ?? []).map((kind) => promised(kind, name));
    return kinds.length > 0 && kinds.every(Boolean) ? kinds[0] : undefined;
  }

  const missing: string[] = [];
  for (const [line, shape] of Object.entries(SHAPES)) {
    const [method = "", path = ""] = line.split(" ");
    const operation = described.paths[path]?.[method.toLowerCase()];
    const { content } = operation.responses["200"] ?? operation.responses["201"];
    const schema: Schema = content["application/json"].schema;
    const fields: [string, string | readonly string[]][] = Object.entries(shape);
    for (const [name, kind] of fields) {
      const field = promised(schema, name);
      if (!field) missing.push(`${line} ${name}`);
      if (!field || typeof kind === "string") continue;
      const each = resolved(field).items ?? {};
      missing.push(
        ...kind.filter((part) => !promised(each, part)).map((part) => `${line} ${name}[] ${part}`),
      );
    }
  }
  expect(missing).toEqual([]);
});

test("an answer that lacks one of them does not fit", () => {
  const line = "GET /v1/devices";
  const device = { id: "d", name: "d", kind: "agent", state: "ONLINE", created: "" };
  expect(fits(line, { devices: [device] })).toBe(true);
  for (const answer of [undefined, null, [], {}, { devices: {} }, { devices: [null] }, { devices: [{}] }])
    expect(fits(line, answer), JSON.stringify(answer)).toBe(false);
  expect(fits("DELETE /v1/devices/{device}", undefined)).toBe(true);
});

test("a relay without a route says so in the words that the app knows", () => {
  expect(nothingHereError().message).toBe(NO_ROUTE);
});
