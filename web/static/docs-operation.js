/** One operation: what it takes, what it answers, and a line to paste. */
import { fieldView, resolved, schemaView } from "./docs-schema.js";
import { json, prose } from "./docs-text.js";
import { button, element, showDone } from "./dom.js";

export function operationView(operation, document) {
  const { operationId, method, path, summary, description } = operation;
  return element(
    "details",
    { class: "operation item", id: operationId },
    element(
      "summary",
      {},
      element(
        "h3",
        {},
        element("span", { class: "method" }, method.toUpperCase()),
        element("code", {}, path),
        ` ${summary}`,
      ),
    ),
    element(
      "div",
      { class: "inside" },
      description && element("p", {}, ...prose(description)),
      ...parametersView(operation, document),
      ...bodyView(operation, document),
      ...curlView(operation),
      element("h4", {}, "Answers"),
      ...Object.entries(operation.responses).map(([status, answer]) =>
        answerView({ status, answer, operationId }, document),
      ),
    ),
  );
}

function parametersView({ parameters = [] }, document) {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ in: place, ...parameter }) => fieldView({ ...parameter, place }, document));
  return [element("h4", {}, "Parameters"), element("ul", { class: "fields" }, ...rows)];
}

function bodyView({ requestBody, operationId }, document) {
  if (!requestBody) return [];
  return Object.entries(requestBody.content).flatMap(([type, { schema, example }]) => [
    element("h4", {}, "Body"),
    element("p", { class: "soft" }, type),
    schemaView(schema, document),
    example !== undefined && code(`Example of the body of ${operationId}`, json(example)),
  ]);
}

/** A WebSocket is nothing for curl. */
function curlView(operation) {
  if ("101" in operation.responses) return [];
  const line = curlLine(operation);
  const copy = button("Copy", () => navigator.clipboard.writeText(line).then(() => showDone("Copied.")), {
    label: `Copy the curl line of ${operation.operationId}`,
  });
  const note =
    operation.security.length > 0 &&
    element(
      "p",
      { class: "soft" },
      ...prose(
        "The file `authorization` contains the line `Authorization: Bearer TOKEN`, so the token doesn't show up in `ps`.",
      ),
    );
  return [
    element("h4", {}, "With curl"),
    code(`The curl line of ${operation.operationId}`, line),
    note,
    element("p", {}, copy),
  ];
}

function curlLine({ method, path, parameters = [], requestBody, security }) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const { example = name } = parameters.find((parameter) => parameter.name === name) ?? {};
    return encodeURIComponent(example);
  });
  const needed = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = needed.map(({ name, example = "" }) => `${name}=${encodeURIComponent(example)}`).join("&");
  const address = `${location.origin}${filled}${query && `?${query}`}`;
  const words = ["curl -sS"];
  if (security.length > 0) words.push("-H @authorization");
  if (method !== "get" && !(method === "post" && requestBody)) words.push(`-X ${method.toUpperCase()}`);
  for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
    const body = example === undefined ? "--data-binary @FILE" : `-d ${quoted(JSON.stringify(example))}`;
    words.push(`-H 'Content-Type: ${type}'`, body);
  }
  return [...words, quoted(address)].join(" ");
}

/** A word of a POSIX shell. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Errors all have the shape that the page shows once, so theirs is a line. */
function answerView({ status, answer, operationId }, document) {
  const { description, headers = {}, content = {} } = resolved(answer, document);
  const bodies = Object.entries(content).filter(([type]) => type !== "application/problem+json");
  const head = [element("strong", {}, status), " ", ...prose(description)];
  if (bodies.length === 0) return element("p", {}, ...head);
  const rows = Object.entries(headers).map(([name, header]) =>
    fieldView({ name, place: "header", ...header }, document),
  );
  return element(
    "details",
    {},
    element("summary", {}, ...head),
    element(
      "div",
      { class: "inside" },
      rows.length > 0 && element("ul", { class: "fields" }, ...rows),
      ...bodies.flatMap(([type, { schema, example }]) => [
        element("p", { class: "soft" }, type),
        schemaView(schema, document),
        example !== undefined && code(`Example of answer ${status} of ${operationId}`, json(example)),
      ]),
    ),
  );
}

/** Code that scrolls by keyboard where it is long. */
function code(label, text) {
  return element("pre", { tabindex: "0", role: "region", "aria-label": label }, text);
}
