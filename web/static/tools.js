/** Run the tools of one device, one after the other. */
import { api, part } from "./api.js";
import { Call } from "./call.js";
import { CallPanel } from "./call-panel.js";
import { clearNotice, element, field, form } from "./dom.js";
import { toolFields } from "./tool-form.js";

/**
 * The form for a device's tools. `onAnswer` is called after each answer, when the device's proof is new. `close` stops
 * reading the call that runs, and returns what to tell the person of it.
 */
export async function toolsView(device, onAnswer) {
  const { tools: all } = await api(`GET /v1/devices/${part(device.id)}/tools`);
  // Some are only for programs.
  const tools = all.filter(({ model }) => !model?.hidden);
  const title = element("h2", { tabindex: "-1" }, "Run a tool on ", device.name);
  if (tools.length === 0) {
    const none = element("p", {}, "This device hasn't reported its tools yet.");
    return { view: element("section", { class: "card" }, title, none), close: () => undefined };
  }
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const chooser = element(
    "select",
    {},
    ...[...byName.keys()].sort().map((name) => element("option", { value: name }, labelOf(byName.get(name)))),
  );
  if (byName.has("SystemInfo")) chooser.value = "SystemInfo";
  const about = element("p", { class: "soft" });
  const lack = element("p", { class: "soft" });
  const fields = element("div");
  const run = element("button", { type: "submit", class: "main wide" }, "Run");
  const panel = new CallPanel();
  let input;
  let running;

  const choose = () => {
    const tool = byName.get(chooser.value);
    input = toolFields(tool.input_schema);
    const { description, details = "", effect, unavailable } = tool;
    // In a <bdi>, so that bidirectional characters in a description can't reorder the text after it.
    const said = element("bdi", {}, `${description} ${details}`);
    about.replaceChildren(said, ` (${EFFECTS[effect] ?? effect})`);
    lack.hidden = unavailable === undefined;
    lack.textContent = `It can't work there now. ${unavailable}`;
    fields.replaceChildren(...input.view);
    if (!running) panel.clear();
  };
  const submit = async () => {
    clearNotice();
    const tool = byName.get(chooser.value);
    running = { tool, call: new Call(device.id, tool) };
    try {
      await show(running.call, { panel, input: input.read(), text: runningText(tool, device) });
      if (!running.left) onAnswer();
    } finally {
      running = undefined;
    }
  };
  const close = () => {
    if (!running) return undefined;
    const { tool, call } = running;
    running.left = true;
    call.leave();
    panel.close();
    return call.url && `${tool.name} keeps running on ${device.name}. Its result will be at ${call.url}`;
  };
  chooser.addEventListener("change", choose);
  choose();
  const view = element(
    "section",
    { class: "card" },
    title,
    form(run, "Running …", submit, field("Tool", chooser), about, lack, fields),
    panel.view,
  );
  return { view, close };
}

function labelOf({ name, unavailable }) {
  return unavailable === undefined ? name : `${name} (can't work now)`;
}

const EFFECTS = { read: "only reads", write: "changes files", execute: "runs or deletes things" };

function runningText({ name, effect }, device) {
  const leaving =
    effect === "read" ? "It stops when you leave this view." : "It keeps running if you leave this view.";
  return `${name} is running on ${device.name}. ${leaving}`;
}

/** Makes a call and shows how it goes. */
async function show(call, { panel, input, text }) {
  const { promise: over, resolve: isOver } = Promise.withResolvers();
  const stop = () => call.stop().then(() => over);
  panel.begin();
  try {
    const answer = await call.run(input, {
      onCall: () => panel.onTheWay(text, stop),
      onEvent: (event) => panel.take(event),
      onTrouble: (trouble) => panel.say(trouble),
    });
    if (answer) panel.end(answer);
  } catch (error) {
    panel.fail(error);
  } finally {
    isOver();
  }
}
