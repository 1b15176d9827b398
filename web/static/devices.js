/** The account's devices: their state, the last proof that they work, and a way in. */
import { api, part } from "./api.js";
import { ago, button, element, field, form, showDone } from "./dom.js";
import { shareButton } from "./share.js";

const STATES = { ONLINE: "Online", IDLE: "Idle", OFFLINE: "Offline", UNKNOWN: "Unknown" };

/** One line per device. `open` shows its tools and events; `removed` and `shared` are called after one was. */
export function devicesView(devices, { openId, ...options }) {
  const list = devices.map((device) => deviceItem(device, { isOpen: device.id === openId, ...options }));
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "Devices"),
    list.length > 0
      ? element("ul", { class: "items" }, ...list)
      : element("p", {}, "No devices yet. Add one below."),
  );
}

function deviceItem(device, { isOpen, open, removed, shared }) {
  const { name, state, kind, os, os_version: version, paused, alerts = 0, shared_by: sharer } = device;
  const system = [kind === "bare" ? "bare device" : os, version].filter(Boolean).join(" ");
  const use = element(
    "button",
    {
      type: "button",
      "aria-pressed": String(isOpen),
      "aria-label": `Open ${name}`,
      onclick: () => open(device),
    },
    "Open",
  );
  const remove = button("Remove", () => removeDevice(device, removed), {
    kind: "danger",
    busy: "Removing …",
    label: `Remove ${name}`,
    ask: `Remove ${name}? Its key stops working at once, and it must be paired again to come back.`,
  });
  return element(
    "li",
    { class: "item row spread" },
    element(
      "div",
      { class: "grow" },
      element(
        "div",
        { class: "row" },
        element("h3", {}, name),
        element("span", { class: `state ${state}` }, STATES[state]),
        sharer !== undefined && element("span", { class: "soft" }, `Shared by ${sharer}`),
        paused &&
          element(
            "span",
            { class: "severity open", title: "Only somebody at the machine can open it again: matrx resume" },
            paused === "ai" ? "Paused for AI" : "Paused",
          ),
        alerts > 0 &&
          element("span", { class: "severity open" }, `${alerts} open alert${alerts === 1 ? "" : "s"}`),
      ),
      element(
        "div",
        { class: "soft" },
        [system, device.last_seen ? `last seen ${ago(device.last_seen)}` : "never seen"]
          .filter(Boolean)
          .join(" · "),
      ),
      sharer === undefined && element("div", { class: "soft" }, proofOf(device.proof)),
    ),
    element(
      "div",
      { class: "row" },
      use,
      ...(sharer === undefined ? [shareButton(device, shared), remove] : []),
    ),
  );
}

function proofOf(proof) {
  if (!proof) return "Not proven yet: no tool has answered so far.";
  const { tool, verdict, ms, at } = proof;
  if (verdict === "success") return `Proven ${ago(at)}: ${tool} answered in ${Math.round(ms)} ms.`;
  return `Last answer ${ago(at)}: ${tool}, ${verdict === "cancelled" ? "cancelled" : "with an error"}.`;
}

async function removeDevice({ id, name }, removed) {
  await api(`DELETE /v1/devices/${part(id)}`);
  showDone(`${name} was removed.`);
  await removed();
}

/** Two ways to add a device: our agent by its code, and any program by a token. */
export function addDeviceView({ changed, lookUp }) {
  const code = element("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "characters",
    placeholder: "ABCD-EFGH",
  });
  const look = element("button", { type: "submit" }, "Look up");
  const name = element("input", { type: "text", required: true, maxlength: 64, autocomplete: "off" });
  const add = element("button", { type: "submit" }, "Add");
  const made = element("div", { role: "status" });
  const open = () => {
    if (code.value.trim()) lookUp(code.value.trim());
  };
  const create = async () => {
    made.replaceChildren(bareDeviceView(await api("POST /v1/devices", { name: name.value })));
    name.value = "";
    await changed();
  };
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Add a device"),
    element(
      "p",
      {},
      "On that machine, in a clone of the relay's repository, run ",
      element("code", {}, `npx matrx up --relay ${location.origin}`),
      ", then enter the code that it shows:",
    ),
    form(look, "Looking …", open, field("Code from the machine or command line", code)),
    element(
      "details",
      {},
      element("summary", {}, "Your own program, without our agent"),
      form(
        add,
        "Adding …",
        create,
        field("Name", name, { help: "It gets an id and a token. The protocol is in docs/protocol.md." }),
      ),
      made,
    ),
  );
}

function bareDeviceView({ device, token }) {
  const socket = `${location.origin.replace(/^http/, "ws")}/v1/device/ws?device=${device.id}`;
  return element(
    "div",
    {},
    element("p", {}, "Its token, shown only this once:"),
    element("div", { class: "secret", tabindex: "0" }, token),
    element("p", {}, "It connects to:"),
    element("div", { class: "secret", tabindex: "0" }, socket),
  );
}
