/** The reference: /openapi.json of this server, to be read. */
import { operationView } from "./docs-operation.js";
import { schemaView } from "./docs-schema.js";
import { prose } from "./docs-text.js";
import { element, showProblem } from "./dom.js";

const METHODS = ["get", "post", "put", "patch", "delete", "options"];
const main = document.getElementById("main");

async function start() {
  try {
    const description = await load();
    document.title = `${description.info.title}: reference`;
    document.getElementById("title").textContent = document.title;
    const groups = grouped(description);
    main.replaceChildren(
      introduction(description),
      contents(groups),
      ...groups.map((group) => section(group, description)),
    );
    showAddressed();
  } catch (error) {
    showProblem(error);
  } finally {
    main.setAttribute("aria-busy", "false");
  }
}

async function load() {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`Can't load /openapi.json: the server answered ${response.status}`);
  return response.json();
}

/** Operations under their tags, in the order of the description. */
function grouped({ tags, paths }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => ({ method, path, ...methods[method] })),
  );
  return tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ tags: [first] }) => first === tag.name),
  }));
}

function introduction(description) {
  const { info, components } = description;
  const schemes = Object.entries(components.securitySchemes).map(([name, scheme]) =>
    element("li", {}, element("strong", {}, name), ": ", ...prose(scheme.description)),
  );
  return element(
    "section",
    { class: "card" },
    element("p", {}, ...prose(info.description)),
    element("p", {}, `Version ${info.version}. A credential is one of:`),
    element("ul", {}, ...schemes),
    element(
      "details",
      {},
      element("summary", {}, "An error's fields"),
      schemaView(components.schemas.Problem, description),
    ),
  );
}

function contents(groups) {
  const links = groups.flatMap(({ operations }) =>
    operations.map(({ operationId, summary }) =>
      element("li", {}, element("a", { href: `#${operationId}` }, summary)),
    ),
  );
  return element(
    "nav",
    { class: "card", "aria-labelledby": "contents" },
    element("h2", { id: "contents" }, "Contents"),
    element("ul", { class: "contents" }, ...links),
  );
}

function section({ name, description, operations }, document) {
  const id = `tag-${name}`;
  return element(
    "section",
    { class: "card", "aria-labelledby": id },
    element("h2", { id }, name),
    element("p", { class: "soft" }, ...prose(description)),
    ...operations.map((operation) => operationView(operation, document)),
  );
}

/** The operation that the address names is opened and has the focus. */
function showAddressed() {
  const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!found?.matches(".operation")) return;
  found.open = true;
  found.scrollIntoView();
  found.querySelector("summary").focus();
}

addEventListener("hashchange", showAddressed);
await start();
