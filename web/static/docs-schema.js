/** JSON Schema as people read it: a type in words, and the fields of an object. */
import { json, prose } from "./docs-text.js";
import { element } from "./dom.js";

/** What `$ref` leads to; anything else as it is. */
export function resolved(schema, document) {
  if (!schema.$ref) return schema;
  const path = schema.$ref.slice(2).split("/");
  return path.reduce((place, name) => place[name], document);
}

/** Deeper than this, a name stands for the fields. */
const DEEPEST = 4;

/** The fields of a schema, or its type where it has none. */
export function schemaView(schema, document, depth = 0) {
  const merged = whole(schema, document);
  const inner = merged.items ? whole(merged.items, document) : merged;
  if (inner.oneOf) return element("div", {}, ...inner.oneOf.map((one) => schemaView(one, document, depth)));
  const fields = Object.entries(inner.properties ?? {});
  if (fields.length === 0 || depth > DEEPEST) {
    return element("p", {}, ...prose(typeOf(schema, document)));
  }
  const required = new Set(inner.required);
  return element(
    "ul",
    { class: "fields" },
    ...fields.map(([name, field]) =>
      fieldView({ name, schema: field, required: required.has(name) }, document, depth),
    ),
  );
}

/** One field or parameter: name, type, whether it must be there, what it means. */
export function fieldView({ name, schema, required, description, place }, document, depth = 0) {
  const meaning = description ?? whole(schema, document).description;
  const inner = nestedOf(schema, document);
  return element(
    "li",
    {},
    element("code", {}, element("strong", {}, name)),
    element(
      "span",
      { class: "soft" },
      ` ${place ? `${place}, ` : ""}`,
      ...prose(typeOf(schema, document)),
      required ? ", needed" : "",
    ),
    meaning && element("p", {}, ...prose(meaning)),
    inner && depth < DEEPEST && schemaView(inner, document, depth + 1),
  );
}

/** The object inside a field, where there is one with fields. */
function nestedOf(schema, document) {
  const merged = whole(schema, document);
  const candidates = [merged, merged.items, ...(merged.anyOf ?? [])].filter(Boolean);
  return candidates.find((candidate) => Object.keys(whole(candidate, document).properties ?? {}).length > 0);
}

/** A schema with its references and its `allOf` put together. */
function whole(schema, document) {
  const { allOf = [], ...sum } = resolved(schema, document);
  for (const part of allOf) {
    const { properties, ...rest } = whole(part, document);
    Object.assign(sum, rest, { properties: { ...sum.properties, ...narrowed(sum.properties, properties) } });
  }
  return sum;
}

/** Fields that a later part only narrows keep what the earlier said. */
function narrowed(before = {}, after = {}) {
  return Object.fromEntries(
    Object.entries(after).map(([name, field]) => [name, { ...before[name], ...field }]),
  );
}

function typeOf(schema, document) {
  const merged = whole(schema, document);
  const choices = merged.anyOf ?? merged.oneOf;
  if (choices) return choices.map((choice) => typeOf(choice, document)).join(" or ");
  if (merged.const !== undefined) return `\`${json(merged.const)}\``;
  if (merged.enum) return merged.enum.map((value) => `\`${json(value)}\``).join(", ");
  if (merged.type === "array") return `list of ${typeOf(merged.items ?? {}, document)}${limitsOf(merged)}`;
  const type = [merged.type ?? "anything"].flat().join(" or ");
  return `${type}${limitsOf(merged)}`;
}

function limitsOf({
  minimum,
  maximum,
  minLength,
  maxLength,
  minItems,
  maxItems,
  format,
  pattern,
  default: preset,
}) {
  const said = [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " entries"),
    format,
    pattern && !format && `like \`${pattern}\``,
    preset !== undefined && `else \`${json(preset)}\``,
  ].filter(Boolean);
  return said.length > 0 ? ` (${said.join("; ")})` : "";
}

function range(least, most, unit) {
  if (least !== undefined && least === most) return `${least}${unit}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? "" : `at most ${most}${unit}`;
}
