/** API tokens and signed-in places: make, list, revoke. */
import { anotherDeviceView } from "./another-device.js";
import { api, part } from "./api.js";
import { button, clearNotice, date, element, field, form, showDone, showProblem } from "./dom.js";

const KINDS = { web: "browser", cli: "command line", api: "token" };

/** The list and the form. `ownGrant` is this browser's. */
export async function tokensView(ownGrant) {
  const list = element("div");
  const title = element("h2", { tabindex: "-1" }, "Access");
  const refresh = async () =>
    list.replaceChildren(listView((await api("GET /v1/tokens")).tokens, ownGrant, revoked));
  // The button that had the focus is gone with its token.
  const revoked = () => refresh().then(() => title.focus({ preventScroll: true }));
  await refresh();
  return element(
    "section",
    { class: "card" },
    title,
    element(
      "p",
      { class: "soft" },
      "Everything that may call your devices. Revoking closes open connections at once.",
    ),
    list,
    anotherDeviceView(),
    makeView(refresh),
  );
}

function listView(tokens, ownGrant, revoked) {
  return element("ul", { class: "items" }, ...tokens.map((token) => tokenItem(token, ownGrant, revoked)));
}

function tokenItem(token, ownGrant, revoked) {
  const { id, name, kind, access, devices, paths, created, expires } = token;
  const facts = [
    KINDS[kind] ?? kind,
    access === "read" ? "read only" : "full access",
    devices && `only on ${devices.join(", ")}`,
    paths && `only in ${paths.join(", ")}`,
    `since ${date(created)}`,
    `until ${date(expires)}`,
  ];
  const revoke = button("Revoke", () => revokeToken(token, revoked), {
    kind: "danger",
    busy: "Revoking …",
    label: `Revoke ${name}`,
    ask: `Revoke ${name}? Anyone using it is cut off at once.`,
  });
  return element(
    "li",
    { class: "item row spread" },
    element(
      "div",
      { class: "grow" },
      element("h3", {}, name),
      element("div", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    ),
    id === ownGrant ? element("span", { class: "soft" }, "this browser") : revoke,
  );
}

async function revokeToken({ id, name }, revoked) {
  await api(`DELETE /v1/tokens/${part(id)}`);
  showDone(`${name} was revoked.`);
  await revoked();
}

function makeView(refresh) {
  const name = element("input", {
    type: "text",
    required: true,
    maxlength: 64,
    autocomplete: "off",
    placeholder: "my script",
  });
  const access = element(
    "select",
    {},
    element("option", { value: "read" }, "Read only: files, folders, system information"),
    element("option", { value: "full" }, "Full access, including commands"),
  );
  const device = element("select", {}, anyDevice());
  const folders = element("textarea", { spellcheck: "false", autocomplete: "off" });
  const make = element("button", { type: "submit" }, "Create token");
  const made = element("div", { role: "status" });
  const submit = async () => {
    clearNotice();
    const { token } = await api("POST /v1/tokens", {
      name: name.value,
      access: access.value,
      devices: device.value ? [device.value] : undefined,
      paths: linesOf(folders.value),
    });
    made.replaceChildren(newTokenView(token));
    name.value = "";
    await refresh();
  };
  const view = element(
    "details",
    { class: "item", ontoggle: () => view.open && offerDevices(device).catch(showProblem) },
    element("summary", {}, "Create a token for a script or an app"),
    form(
      make,
      "Creating …",
      submit,
      field("Name", name),
      field("It may", access),
      field("On", device),
      field("Only in these folders", folders, {
        help: "One full path per line; empty means all folders. A token limited to folders can't run commands.",
      }),
    ),
    made,
  );
  return view;
}

/** The devices of this moment; the choice stays. */
async function offerDevices(select) {
  const { devices } = await api("GET /v1/devices");
  const chosen = select.value;
  const options = devices.map(({ id, name }) =>
    element("option", { value: id, selected: id === chosen }, name),
  );
  select.replaceChildren(anyDevice(), ...options);
}

const anyDevice = () => element("option", { value: "" }, "All devices");

/** Undefined for none. */
function linesOf(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.length > 0 ? lines : undefined;
}

function newTokenView(token) {
  const copy = button("Copy", () => navigator.clipboard.writeText(token).then(() => showDone("Copied.")));
  return element(
    "div",
    {},
    element("p", {}, "Copy it now: it won't be shown again."),
    element("div", { class: "secret", id: "new-token", tabindex: "0" }, token),
    element("p", {}, copy),
  );
}
