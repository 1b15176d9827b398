/** For the relay's owner: invites that wait, and the accounts that came by one. */
import { api, part } from "./api.js";
import { button, clearNotice, date, element, field, form, showDone } from "./dom.js";
import { linkCard } from "./link-card.js";

/** The list and the form. */
export async function invitesView() {
  const list = element("div");
  const title = element("h3", { tabindex: "-1" }, "Accounts on this relay");
  // The button that had the focus is gone with its invite.
  const changed = () => refresh().then(() => title.focus({ preventScroll: true }));
  const refresh = async () => list.replaceChildren(listView((await api("GET /v1/invites")).invites, changed));
  await refresh();
  return element("div", {}, title, list, inviteForm(refresh));
}

function listView(invites, changed) {
  if (invites.length === 0) return element("p", { class: "soft" }, "You are the only one here.");
  return element("ul", { class: "items" }, ...invites.map((invite) => inviteItem(invite, changed)));
}

function inviteItem(invite, changed) {
  const { name, account, accepted } = invite;
  return element(
    "li",
    { class: "item row spread" },
    element(
      "div",
      { class: "grow" },
      element("h4", {}, name),
      element("div", { class: "soft" }, stateOf(invite)),
      accepted && element("div", { class: "soft" }, `account ${account}`),
    ),
    endButton(invite, changed),
  );
}

function stateOf({ accepted, expires, closed }) {
  if (closed) return `closed ${date(closed)}`;
  return accepted ? `here since ${date(accepted)}` : `invited, until ${date(expires)}`;
}

function endButton({ id, name, account, accepted, closed }, changed) {
  if (closed) return undefined;
  const end = async (line, told) => {
    await api(line);
    showDone(told);
    await changed();
  };
  if (!accepted)
    return button("Withdraw", () => end(`DELETE /v1/invites/${part(id)}`, `${name} is no longer invited.`), {
      label: `Withdraw the invite for ${name}`,
      busy: "Withdrawing …",
    });
  return button("Close", () => end(`DELETE /v1/accounts/${part(account)}`, `${name}'s account was closed.`), {
    kind: "danger",
    busy: "Closing …",
    label: `Close the account of ${name}`,
    ask: `Close the account of ${name}? All its sessions, tokens and shares end, and it can't be opened again.`,
  });
}

function inviteForm(refresh) {
  const name = element("input", { type: "text", required: true, maxlength: 64, autocomplete: "off" });
  const made = element("div", { role: "status" });
  const submit = async () => {
    clearNotice();
    const invite = await api("POST /v1/invites", { name: name.value });
    name.value = "";
    made.replaceChildren(
      linkCard(invite, {
        text: `Give this link to ${invite.name}. Whoever opens it first gets an account here; it works once, within 7 days.`,
        id: "invite-link",
        alt: "QR code of the invite's link",
      }),
    );
    await refresh();
  };
  return element(
    "details",
    { class: "item" },
    element("summary", {}, "Invite somebody"),
    element(
      "p",
      {},
      "They get an account of their own. Neither of you sees what the other has, unless you share it.",
    ),
    form(
      element("button", { type: "submit" }, "Make an invite"),
      "Making …",
      submit,
      field("For whom", name, { help: "Only you see this name." }),
    ),
    made,
  );
}
