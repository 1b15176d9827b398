/** Exactly what a call would do. All of it comes from elsewhere, and is only ever text. */
import { element } from "./dom.js";
import { diffView, linesView } from "./text-lines.js";

const EFFECTS = { read: "only reads", write: "changes files", execute: "runs or deletes things" };
const CUT = "Not all of it is shown.";

/** `from`: rows about who asks, as `[name, text]`. */
export function questionView(question, from) {
  const { summary, tool, effect, paths = [], command, diff, diff_cut, url, app, warnings } = question;
  return element(
    "div",
    { class: "question" },
    warnings.length > 0 && warningsView(warnings),
    element("p", { class: "summary" }, element("bdi", {}, summary)),
    element(
      "dl",
      {},
      ...rows(from),
      ...rows([["Tool", `${tool} (${EFFECTS[effect] ?? effect})`]]),
      ...(paths.length > 0 ? row("Paths", ...paths.map(pathView)) : []),
      ...(url === undefined ? [] : rows([["Address", url]])),
      ...(app === undefined ? [] : rows([["Program", app]])),
      ...(command ? rows(reachOf(command)) : []),
    ),
    ...(command ? part("Command", linesView(command.text, "Command")) : []),
    ...(diff === undefined ? [] : part("Changes", diffView(diff, "Changes"), diff_cut)),
    ...part("Input", linesView(question.input, "Input"), question.input_cut),
  );
}

function warningsView(warnings) {
  const items = warnings.map((warning) =>
    element("li", {}, element("strong", {}, "Warning: "), element("bdi", {}, warning)),
  );
  return element("ul", { class: "warnings" }, ...items);
}

function rows(pairs) {
  return pairs.flatMap(([name, text]) => row(name, element("bdi", {}, text)));
}

function row(name, ...content) {
  return [element("dt", {}, name), element("dd", {}, ...content)];
}

function pathView({ path, intent }) {
  return element("div", {}, element("strong", {}, `${intent}: `), element("bdi", {}, path));
}

function reachOf({ cwd, sandbox, readable, writable, network }) {
  const list = (items = []) => items.join("\n") || "nothing";
  if (!sandbox)
    return [
      ["Runs in", cwd],
      ["Sandbox", "No: it can do whatever the agent's user can, network included"],
    ];
  return [
    ["Runs in", cwd],
    ["Sandbox", "Yes"],
    ["May read", list(readable)],
    ["May change", list(writable)],
    ["Network", network?.join("\n") || "none"],
  ];
}

function part(name, view, isCut) {
  return [
    element("p", { class: "part" }, name),
    view,
    isCut && element("p", { class: "warning" }, CUT),
  ].filter(Boolean);
}
