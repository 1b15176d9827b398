/** Forms for tokens: one for an AI, one behind a warning for own scripts, and one that changes a grant. */
import { api, part } from "./api.js";
import { button, clearNotice, element, field, form, showDone, showProblem } from "./dom.js";

export const FOLDERS_HELP =
  "One full path per line; ~ is the device's home folder, / every file. Secrets such as ~/.ssh stay closed.";

/** Makes an AI grant. `refresh` shows the list again. */
export function makeAiTokenView(refresh) {
  const name = nameInput("coding assistant");
  const where = deviceSelect();
  const folders = element("textarea", {
    required: true,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "~/projects",
  });
  const writes = checkbox(true);
  const runs = checkbox(true);
  const asks = checkbox(true);
  const days = daysSelect("90");
  const submit = async (made) => {
    const { token } = await api("POST /v1/tokens", {
      name: name.value,
      ...placesOf(where.value),
      paths: linesOf(folders.value),
      effects: effectsOf(writes, runs),
      ask: askOf(asks),
      days: Number(days.value),
    });
    made(token);
    name.value = "";
    await refresh();
  };
  return makeView("Create a token for an AI", "Create AI token", submit, where, [
    field("Name", name),
    field("On", where),
    field("Folders it may work in", folders, { help: FOLDERS_HELP, required: true }),
    field("It may change files", writes),
    field("It may run commands", runs, {
      help: "In a sandbox that sees only these folders, without network.",
    }),
    field("Ask me before it changes files or runs commands", asks),
    field("Until", days),
  ]);
}

/** Makes an own script token. */
export function makeScriptTokenView(refresh) {
  const name = nameInput("backup script");
  const where = deviceSelect();
  const days = daysSelect("90");
  const understood = element("input", { type: "checkbox", required: true });
  const submit = async (made) => {
    const { token, warning } = await api("POST /v1/tokens", {
      name: name.value,
      credential: "script",
      ...placesOf(where.value),
      days: Number(days.value),
    });
    made(token, warning);
    name.value = "";
    understood.checked = false;
    await refresh();
  };
  return makeView("Create a token for your own script", "Create script token", submit, where, [
    element(
      "p",
      { class: "warning" },
      "Warning: this token acts as you. It runs any command unconfined, is asked nothing and sees your secrets. Never give it to an AI.",
    ),
    field("Name", name),
    field("On", where),
    field("Until", days),
    field("It is for a script of my own, not for an AI", understood),
  ]);
}

/** Narrows or widens a grant. `changed` is called after it was. */
export function changeTokenView(token, changed) {
  const { id, name, credential, paths, effects, ask } = token;
  const folders = element("textarea", { spellcheck: "false", autocomplete: "off" });
  folders.value = (paths ?? []).join("\n");
  const writes = checkbox(effects.includes("write"));
  const runs = checkbox(effects.includes("execute"));
  const asks = checkbox((ask ?? []).length > 0);
  const days = daysSelect("", element("option", { value: "" }, "As it is"));
  const save = element("button", { type: "submit", "aria-label": `Save ${name}` }, "Save");
  const [before, askedBefore] = [JSON.stringify([writes.checked, runs.checked]), asks.checked];
  const submit = async () => {
    clearNotice();
    const now = linesOf(folders.value) ?? null;
    const { devices_holding: all, devices_acknowledged: told } = await api(`PATCH /v1/tokens/${part(id)}`, {
      paths: JSON.stringify(now) === JSON.stringify(paths) ? undefined : now,
      effects:
        JSON.stringify([writes.checked, runs.checked]) === before ? undefined : effectsOf(writes, runs),
      ask: asks.checked === askedBefore ? undefined : askOf(asks),
      days: days.value ? Number(days.value) : undefined,
    });
    const missing = all - told;
    const late = missing > 0 ? ` ${missing} of ${all} devices can't be reached, and are told later.` : "";
    showDone(`${name} was changed.${late}`);
    await changed();
  };
  return element(
    "details",
    {},
    element("summary", { "aria-label": `Change ${name}` }, "Change"),
    form(
      save,
      "Saving …",
      submit,
      field("Folders it may work in", folders, { help: `${FOLDERS_HELP} Empty: no limit to folders.` }),
      field("It may change files", writes),
      field("It may run commands", runs),
      credential !== "script" ? field("Ask me before it changes files or runs commands", asks) : "",
      field("Until", days),
    ),
  );
}

/** A form that shows the token that it made, once. */
function makeView(title, create, submit, where, fields) {
  const made = element("div", { role: "status" });
  const send = async () => {
    clearNotice();
    await submit((token, warning) => made.replaceChildren(newTokenView(token, warning)));
  };
  const view = element(
    "details",
    { class: "item", ontoggle: () => view.open && offerDevices(where).catch(showProblem) },
    element("summary", {}, title),
    form(element("button", { type: "submit" }, create), "Creating …", send, ...fields),
    made,
  );
  return view;
}

function newTokenView(token, warning) {
  const copy = button("Copy", () => navigator.clipboard.writeText(token).then(() => showDone("Copied.")));
  return element(
    "div",
    {},
    warning && element("p", { class: "warning" }, warning),
    element("p", {}, "Copy it now: it won't be shown again."),
    element("div", { class: "secret", id: "new-token", tabindex: "0" }, token),
    element("p", {}, copy),
  );
}

export function nameInput(placeholder) {
  return element("input", { type: "text", required: true, maxlength: 64, autocomplete: "off", placeholder });
}

export function checkbox(checked) {
  return element("input", { type: "checkbox", checked });
}

function deviceSelect() {
  return element("select", {}, anyDevice());
}

const anyDevice = () => element("option", { value: "" }, "All devices");

export function daysSelect(chosen, ...before) {
  const choices = [1, 7, 30, 90, 365].map((days) =>
    element(
      "option",
      { value: days, selected: String(days) === chosen },
      days === 1 ? "Tomorrow" : `In ${days} days`,
    ),
  );
  return element("select", {}, ...before, ...choices);
}

/** The devices of this moment, and their tags; the choice stays. */
async function offerDevices(select) {
  const { devices } = await api("GET /v1/devices");
  const chosen = select.value;
  const tags = [...new Set(devices.flatMap((device) => device.tags ?? []))].sort();
  const choices = [
    ...devices.map(({ id, name }) => [`device:${id}`, name]),
    ...tags.map((tag) => [`tag:${tag}`, `All tagged ${tag}`]),
  ];
  const options = choices.map(([value, text]) =>
    element("option", { value, selected: value === chosen }, text),
  );
  select.replaceChildren(anyDevice(), ...options);
}

function placesOf(choice) {
  const at = choice.indexOf(":");
  if (at < 0) return {};
  const value = choice.slice(at + 1);
  return choice.startsWith("tag:") ? { tags: [value] } : { devices: [value] };
}

export function effectsOf(writes, runs) {
  return ["read", writes.checked && "write", runs.checked && "execute"].filter(Boolean);
}

function askOf(asks) {
  return asks.checked ? [{ effects: ["write", "execute"] }] : [];
}

/** Undefined for none. */
export function linesOf(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.length > 0 ? lines : undefined;
}
