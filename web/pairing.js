/** Confirm a code: a machine that wants to be a device, or a command line that wants to sign in. */
import { api, part } from "./api.js";
import { button, date, element, showDone } from "./dom.js";

/** What asks, and the yes. `done` is called after either answer. */
export async function pairingView(code, done) {
  const {
    kind,
    name,
    hostname,
    os,
    os_version: version,
    fingerprint,
    expires,
  } = await api(`GET /v1/pairings/${part(code)}`);
  const isDevice = kind === "device";
  const facts = [
    ["Name", name],
    ["Code", code],
    ["Computer", hostname],
    ["System", [os, version].filter(Boolean).join(" ")],
    ["Key", fingerprint],
    ["Valid until", date(expires)],
  ].filter(([, value]) => value);
  const confirm = async () => {
    await api(`POST /v1/pairings/${part(code)}/confirm`, {});
    showDone(isDevice ? `${name} was added.` : `${name} is signed in.`);
    done();
  };
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, isDevice ? "Add this machine?" : "Sign in this command line?"),
    element(
      "p",
      {},
      isDevice
        ? "Add it only if you just started this yourself and the machine shows the same code and key. You will be able to run tools on it."
        : "Approve it only if you just started this yourself. It will be able to do everything you can do here.",
    ),
    element(
      "dl",
      {},
      ...facts.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]),
    ),
    element(
      "div",
      { class: "row" },
      button(isDevice ? "Add" : "Approve", confirm, { kind: "main", busy: "Approving …" }),
      element("button", { type: "button", onclick: done }, "Not now"),
    ),
  );
}
