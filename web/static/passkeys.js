/** The passkeys of the person who is signed in: list, add, rename, remove. */
import { api, part } from "./api.js";
import { button, clearNotice, date, element, field, form, showDone } from "./dom.js";
import { forgetPasskey, makePasskey, passkeyObstacle } from "./passkey.js";

/** `changed` shows the section again. */
export function passkeysView(passkeys, changed) {
  const here = passkeys.filter(({ host }) => host === location.hostname);
  return element(
    "div",
    { class: "part" },
    element("h3", {}, "Passkeys"),
    here.length === 0 && nudge(passkeys),
    passkeys.length > 0 &&
      element(
        "ul",
        { class: "items" },
        ...passkeys.map((passkey) => passkeyItem(passkey, { isLast: passkeys.length === 1, changed })),
      ),
    addView(changed),
  );
}

function nudge(passkeys) {
  const elsewhere = passkeys.length > 0 ? ` Those below are for other addresses than ${location.host}.` : "";
  return element(
    "p",
    { class: "warning" },
    `You have no passkey here, so you need a link to sign in again.${elsewhere}`,
  );
}

function addView(changed) {
  const obstacle = passkeyObstacle();
  if (obstacle) return element("p", { class: "soft" }, obstacle);
  const name = nameInput("this phone");
  const add = element("button", { type: "submit" }, "Add a passkey");
  const submit = async () => {
    clearNotice();
    const made = await makePasskey(name.value.trim() || undefined);
    showDone(`${made.name} was added: you can sign in with it from now on.`);
    await changed();
  };
  return element(
    "details",
    { class: "item" },
    element("summary", {}, "Add a passkey"),
    form(add, "Waiting for you …", submit, field("Name of the new passkey", name)),
  );
}

function passkeyItem(passkey, { isLast, changed }) {
  const { id, name, host, synced, created, used } = passkey;
  const last = isLast ? " It is your last one." : "";
  const remove = async () => {
    await api(`DELETE /v1/passkeys/${part(id)}`);
    await forgetPasskey(passkey);
    showDone(`${name} was removed. Browsers that it signed in stay signed in: see below.`);
    await changed();
  };
  return element(
    "li",
    { class: "item" },
    element(
      "div",
      { class: "row spread" },
      element(
        "div",
        { class: "grow" },
        element("h4", {}, name),
        element(
          "div",
          { class: "soft" },
          [
            host !== location.hostname && `for ${host}`,
            synced && "synced",
            `since ${date(created)}`,
            used ? `last used ${date(used)}` : "never used",
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      button("Remove", remove, {
        kind: "danger",
        busy: "Removing …",
        label: `Remove passkey ${name}`,
        ask: `Remove the passkey ${name}? Nobody can sign in with it any more.${last}`,
      }),
    ),
    renameView(passkey, changed),
  );
}

function renameView({ id, name }, changed) {
  const input = nameInput("");
  input.value = name;
  input.required = true;
  const save = element("button", { type: "submit", "aria-label": `Save the name of ${name}` }, "Save");
  const submit = async () => {
    clearNotice();
    const renamed = await api(`PATCH /v1/passkeys/${part(id)}`, { name: input.value });
    showDone(`${name} is now called ${renamed.name}.`);
    await changed();
  };
  return element(
    "details",
    {},
    element("summary", { "aria-label": `Rename passkey ${name}` }, "Rename"),
    form(save, "Saving …", submit, field("Name", input)),
  );
}

function nameInput(placeholder) {
  return element("input", { type: "text", maxlength: 64, autocomplete: "off", placeholder });
}
