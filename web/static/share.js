/** Sharing a device with a person who has another account on this relay. */
import { api } from "./api.js";
import { clearNotice, element, field, form } from "./dom.js";
import { linkCard } from "./link-card.js";
import { checkbox, daysSelect, effectsOf, linesOf, nameInput } from "./token-forms.js";

/** `shared` is called after a share was made. */
export function shareButton(device, shared) {
  const open = () => {
    clearNotice();
    const dialog = shareDialog(device, shared);
    document.body.append(dialog);
    dialog.showModal();
  };
  return element("button", { type: "button", "aria-label": `Share ${device.name}`, onclick: open }, "Share");
}

function shareDialog(device, shared) {
  const made = element("div", { role: "status" });
  const title = element("h2", { id: "share-title", tabindex: "-1" }, `Share ${device.name}`);
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const offer = shareForm(device, async (share) => {
    offer.replaceWith(made);
    made.replaceChildren(madeView(share));
    title.focus();
    await shared();
  });
  const dialog = element("dialog", { "aria-labelledby": title.id }, title, offer, close);
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

function shareForm({ id }, done) {
  const name = nameInput("Ben");
  const folders = element("textarea", {
    required: true,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "~/photos",
  });
  const writes = checkbox(false);
  const runs = checkbox(false);
  const asks = checkbox(true);
  const days = daysSelect("90");
  const problem = element("div", { role: "alert" });
  const submit = async () => {
    problem.replaceChildren();
    try {
      const share = await api("POST /v1/shares", {
        name: name.value,
        devices: [id],
        paths: linesOf(folders.value),
        effects: effectsOf(writes, runs),
        ask: asks.checked ? [{ effects: ["write", "execute"] }] : [],
        days: Number(days.value),
      });
      await done(share);
    } catch (error) {
      // The page's own notice is behind the dialog.
      problem.replaceChildren(element("p", { class: "warning" }, error.message));
    }
  };
  return element(
    "div",
    {},
    element(
      "p",
      {},
      "For a person with an account of their own on this relay. They never get your rights: secrets stay closed, and commands run in a sandbox.",
    ),
    form(
      element("button", { type: "submit", class: "main" }, "Make a link"),
      "Making …",
      submit,
      field("For whom", name),
      field("Folders they may use", folders, {
        help: "One full path per line; ~ is the device's home folder, / every file.",
        required: true,
      }),
      field("They may change files", writes),
      field("They may run commands", runs),
      field("Ask me before they change files or run commands", asks),
      field("Until", days),
    ),
    problem,
  );
}

function madeView(share) {
  return linkCard(share, {
    text: `Give this link to ${share.name}. It works once, within 7 days, for a person who is signed in to another account.`,
    id: "share-link",
    alt: "QR code of the share's link",
  });
}
