/** Schemas put together from their parts. */
import { isSchema as isObject, valueAt } from "../../ui/schema/schema.ts";
import type { OpenApi, Reference, Schema } from "./openapi.ts";

/** A schema may contain itself: deeper than this it is not followed. */
export const DEEPEST = 4;

/** What `$ref` leads to, or the thing itself. Empty where it leads nowhere, or in a circle. */
export function resolved(thing: Reference, api: OpenApi): object {
  let found = thing;
  for (let step = 0; step <= DEEPEST; step += 1) {
    if (found.$ref === undefined) return found;
    const target = valueAt(api, found.$ref);
    if (!isObject(target)) return {};
    found = target;
  }
  return {};
}

/** A schema with its references and its `allOf` put together. */
export function whole(schema: Schema, api: OpenApi, depth = 0): Schema {
  const own: Schema = resolved(schema, api);
  const { allOf = [], ...rest } = own;
  let sum: Schema = rest;
  if (depth > DEEPEST) return sum;
  for (const part of allOf) {
    const { properties, ...more } = whole(part, api, depth + 1);
    sum = { ...sum, ...more, properties: { ...sum.properties, ...narrowed(sum.properties, properties) } };
  }
  return sum;
}

/** Fields that a later part only narrows keep what the earlier said. */
function narrowed(
  before: Schema["properties"] = {},
  after: Schema["properties"] = {},
): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(after).map(([name, field]) => [name, { ...before[name], ...field }]),
  );
}

/** The object in a field, in its list or among its choices, if there is one with fields. */
export function nestedOf(schema: Schema, api: OpenApi): Schema | undefined {
  const { items, anyOf = [], ...own } = whole(schema, api);
  return [own, ...(items ? [items] : []), ...anyOf].find(
    (candidate) => Object.keys(whole(candidate, api).properties ?? {}).length > 0,
  );
}
