/** Run one tool of one device, by POST. */
import { answerView, problemView } from "./answer.js";
import { api, part, request } from "./api.js";
import { clearNotice, element, field, form } from "./dom.js";
import { toolFields } from "./tool-form.js";

/** The form for a device's tools. `onAnswer` is called after each answer, when the device's proof is new. */
export async function toolsView(device, onAnswer) {
  const { tools } = await api(`GET /v1/devices/${part(device.id)}/tools`);
  const title = element("h2", { tabindex: "-1" }, "Run a tool on ", device.name);
  if (tools.length === 0) {
    return element(
      "section",
      { class: "card" },
      title,
      element("p", {}, "This device has announced no tools yet."),
    );
  }
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const chooser = element(
    "select",
    {},
    ...[...byName.keys()].sort().map((name) => element("option", {}, name)),
  );
  if (byName.has("SystemInfo")) chooser.value = "SystemInfo";
  const about = element("p", { class: "soft" });
  const fields = element("div");
  const run = element("button", { type: "submit", class: "main wide" }, "Run");
  const result = element("div", { role: "region", "aria-live": "polite", "aria-label": "Answer" });
  let input;

  const choose = () => {
    const tool = byName.get(chooser.value);
    input = toolFields(tool.input_schema);
    about.textContent = `${tool.description} (${EFFECTS[tool.effect] ?? tool.effect})`;
    fields.replaceChildren(...input.view);
    result.replaceChildren();
  };
  const submit = async () => {
    clearNotice();
    result.replaceChildren(element("p", { class: "soft" }, "Waiting for the answer …"));
    result.replaceChildren(await runTool(device.id, chooser.value, input.read()));
    onAnswer();
  };
  chooser.addEventListener("change", choose);
  choose();
  return element(
    "section",
    { class: "card" },
    title,
    form(run, "Running …", submit, field("Tool", chooser), about, fields),
    result,
  );
}

const EFFECTS = { read: "only reads", write: "changes files", execute: "runs or deletes things" };

/** Pause between two looks at a call that takes longer than a request may, in milliseconds. */
const LOOK_EVERY = 2000;

async function runTool(device, tool, input) {
  const began = performance.now();
  try {
    const { status, answer, location } = await request(
      `POST /v1/devices/${part(device)}/tools/${part(tool)}`,
      input,
    );
    const final = status === 202 ? await outcomeOf(location) : answer;
    return answerView(final, Math.round(performance.now() - began));
  } catch (error) {
    return problemView(error);
  }
}

/** Waits for the outcome of a call that the relay answered with 202. */
async function outcomeOf(location) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    const { state, outcome } = await api(`GET ${location}`);
    if (state === "accepted") continue;
    return outcome ?? { type: "error", output: `The call is ${state}, and its outcome is not kept here.` };
  }
}
