/** Confirm a code: a machine that wants to be a device, or a command line that wants to sign in. */
import { ApiError, api, part } from "./api.js";
import { button, date, element, field, form, showDone } from "./dom.js";
import { isSameCode } from "./waiting.js";

/**
 * The request and its buttons. `done` is called after either answer. A login whose code came by a link (not `isTyped`) is
 * approved by typing the code: a link that somebody else sent must not sign them in with one click.
 */
export async function pairingView(code, { isTyped, done }) {
  const asked = await api(`GET /v1/pairings/${part(code)}`);
  const { kind, name } = asked;
  const confirm = async () => {
    await api(`POST /v1/pairings/${part(code)}/confirm`, {});
    showDone(kind === "device" ? `${name} was added.` : `${name} is signed in.`);
    done();
  };
  const later = element("button", { type: "button", onclick: done }, "Not now");
  if (kind === "device") return deviceView(code, asked, confirm, later);
  return loginView(asked, isTyped ? byClick(confirm, later) : byTyping(code, confirm, later));
}

function deviceView(code, { name, hostname, os, os_version: version, fingerprint, expires }, confirm, later) {
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "Add this machine?"),
    element(
      "p",
      {},
      "Add it only if you just started this yourself and the machine shows the same code and key. You will be able to run tools on it.",
    ),
    factsView([
      ["Name", name],
      ["Code", code],
      ["Computer", hostname],
      ["System", [os, version].filter(Boolean).join(" ")],
      ["Key", fingerprint],
      ["Code valid until", date(expires)],
    ]),
    element("div", { class: "row" }, button("Add", confirm, { kind: "main", busy: "Approving …" }), later),
  );
}

function loginView({ name, expires }, yes) {
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "Sign in this command line?"),
    element(
      "p",
      {},
      "Approve it only if you just started this yourself in your own terminal. It will be able to do everything you can do here: run commands and change files on all your devices, add and remove devices, and create tokens, for 90 days or until you revoke it under Access.",
    ),
    factsView([
      ["Name", name],
      ["Code valid until", date(expires)],
    ]),
    yes,
  );
}

function byClick(confirm, later) {
  return element(
    "div",
    { class: "row" },
    button("Approve", confirm, { kind: "main", busy: "Approving …" }),
    later,
  );
}

/** The code isn't shown here: it has to be read from the terminal that made it. */
function byTyping(code, confirm, later) {
  const typed = element("input", {
    type: "text",
    required: true,
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
    placeholder: "ABCD-EFGH",
  });
  const yes = element("button", { type: "submit", class: "main" }, "Approve");
  const check = async () => {
    if (isSameCode(typed.value, code)) return confirm();
    throw new ApiError(0, {
      detail: "That is not the code of this request.",
      hint: "Type the code your terminal shows. If it shows a different code, or none, someone else is asking: choose Not now.",
    });
  };
  return element(
    "div",
    {},
    form(
      yes,
      "Approving …",
      check,
      field("Code", typed, {
        help: "Type the code your terminal shows. If someone sent you this link or a code, approving would sign them in as you.",
      }),
    ),
    element("p", {}, later),
  );
}

function factsView(facts) {
  const known = facts.filter(([, value]) => value);
  return element(
    "dl",
    {},
    ...known.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]),
  );
}
