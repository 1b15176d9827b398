/** Other people: what they share with this account, how they see it, and for the relay's owner who else is here. */
import { api, part } from "./api.js";
import { button, date, element, field, form, showDone } from "./dom.js";
import { invitesView } from "./invites.js";

/** `renamed` is called with the account as it is then, `left` after a share was left. */
export async function peopleView(account, { renamed, left }) {
  const shares = element("div");
  const refresh = async () => {
    const { received } = await api("GET /v1/shares");
    shares.replaceChildren(receivedView(received, () => refresh().then(left)));
  };
  await refresh();
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "People"),
    shares,
    nameView(account, renamed),
    account.relay_owner && (await invitesView()),
  );
}

function receivedView(received, left) {
  if (received.length === 0)
    return element("p", { class: "soft" }, "Nobody shares a device with you at present.");
  return element("ul", { class: "items" }, ...received.map((share) => receivedItem(share, left)));
}

function receivedItem({ id, name, shared_by: by, summary, expires }, left) {
  const leave = async () => {
    await api(`DELETE /v1/shares/${part(id)}`);
    showDone(`You left “${name}”.`);
    await left();
  };
  return element(
    "li",
    { class: "item row spread" },
    element(
      "div",
      { class: "grow" },
      element("h3", {}, `${by} shares “${name}” with you`),
      element("div", {}, `You ${summary}.`),
      element("div", { class: "soft" }, `until ${date(expires)}`),
    ),
    button("Leave", leave, {
      kind: "danger",
      busy: "Leaving …",
      label: `Leave ${name}`,
      ask: `Leave “${name}”? ${by} would have to share it again.`,
    }),
  );
}

function nameView(account, renamed) {
  const name = element("input", { type: "text", required: true, maxlength: 64, autocomplete: "name" });
  name.value = account.display_name ?? "";
  const save = async () => {
    await api("PATCH /v1/account", { display_name: name.value });
    renamed(await api("GET /v1/account"));
    showDone("Your name was saved.");
  };
  return form(
    element("button", { type: "submit", "aria-label": "Save your name" }, "Save"),
    "Saving …",
    save,
    field("Your name", name, { help: "People with whom you share devices see it." }),
  );
}
