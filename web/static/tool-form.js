/** A form made from a tool's JSON Schema: text, numbers, choices and yes-or-no as inputs, all else as JSON. */
import { element, field } from "./dom.js";

/** Names of text that is usually more than a line. */
const LONG_TEXT = ["command", "content", "old_string", "new_string", "script", "text"];

/** Text that may be left empty on purpose where the other is given: replacing with nothing takes text away. */
const MAY_BE_EMPTY = { new_string: "old_string" };

/** The fields of an input schema, and how to read them. Unset optional fields are left out. */
export function toolFields(schema) {
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    toolField(name, property, required.includes(name)),
  );
  return {
    view:
      fields.length > 0
        ? fields.map(({ view }) => view)
        : [element("p", { class: "soft" }, "It needs no input.")],
    read: () => {
      const values = Object.fromEntries(fields.map(({ name, read }) => [name, read()]));
      for (const { name } of fields) if (values[MAY_BE_EMPTY[name]]) values[name] ??= "";
      return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    },
  };
}

function toolField(name, property, required) {
  const schema = withoutNull(property);
  const { input, read } = inputFor(name, schema, required);
  const help = schema.description ?? property.description;
  return { name, read, view: field(name, input, { help, required }) };
}

/** `anyOf: [X, null]` and `type: ["X", "null"]` are X, left out when empty. */
function withoutNull(property) {
  const choices = (property.anyOf ?? []).filter(({ type }) => type !== "null");
  const schema = choices.length === 1 ? { ...property, ...choices[0] } : property;
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== "null");
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function inputFor(name, schema, required) {
  if (schema.enum) return choice(schema, required);
  if (schema.type === "boolean") return yesOrNo(schema, required);
  if (schema.type === "number" || schema.type === "integer") return number(schema, required);
  if (schema.type === "string") return text(name, schema, required);
  if (isNumberOrText(schema)) return numberOrText(name, schema, required);
  return json(schema, required);
}

function choice({ enum: values, default: preset }, required) {
  const options = values.map((value, at) =>
    element("option", { value: at, selected: value === preset }, String(value)),
  );
  const input = element(
    "select",
    { required },
    !required && element("option", { value: "" }, "(not set)"),
    ...options,
  );
  return { input, read: () => (input.value === "" ? undefined : values[Number(input.value)]) };
}

function yesOrNo({ default: preset = false }, required) {
  const input = element("input", { type: "checkbox", checked: preset === true });
  return { input, read: () => (input.checked === preset && !required ? undefined : input.checked) };
}

function number({ type, minimum, maximum, default: preset }, required) {
  const step = type === "integer" ? 1 : "any";
  const limits = { min: bounded(minimum), max: bounded(maximum), step };
  const input = element("input", { type: "number", required, placeholder: preset, ...limits });
  return { input, read: () => (input.value === "" ? undefined : Number(input.value)) };
}

/** Bounds of the language's own number type say nothing to a person. */
function bounded(limit) {
  return Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

function text(name, { default: preset, maxLength }, required) {
  const options = {
    required,
    placeholder: preset,
    maxlength: maxLength,
    spellcheck: "false",
    autocomplete: "off",
  };
  const input = LONG_TEXT.includes(name)
    ? element("textarea", options)
    : element("input", { type: "text", autocapitalize: "off", ...options });
  return { input, read: () => (input.value === "" && !required ? undefined : input.value) };
}

function isNumberOrText({ anyOf = [] }) {
  return anyOf.length > 0 && anyOf.every(({ type }) => ["number", "integer", "string"].includes(type));
}

/** What looks like a number is one; 065 is a name. */
function numberOrText(name, schema, required) {
  const { input, read } = text(name, schema, required);
  return { input, read: () => (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(input.value) ? Number(input.value) : read()) };
}

function json({ type, default: preset }, required) {
  const placeholder = preset === undefined ? `JSON${type ? `: ${type}` : ""}` : JSON.stringify(preset);
  const input = element("textarea", { required, spellcheck: "false", placeholder });
  input.addEventListener("input", () =>
    input.setCustomValidity(isJson(input.value) ? "" : "This is not valid JSON yet."),
  );
  return { input, read: () => (input.value.trim() === "" ? undefined : JSON.parse(input.value)) };
}

function isJson(value) {
  if (value.trim() === "") return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
