/** Recovery codes: how many are left, and new ones, shown once. */
import { api } from "./api.js";
import { button, date, element, showDone } from "./dom.js";

/** Fewer than this many: time for new ones. */
const FEW = 3;

/** What the relay told about them, and how to make new ones. */
export function recoveryCodesView(told) {
  const view = element("div", { class: "part" });
  const show = ({ left, created, codes }) => {
    const make = async () => {
      const made = await api("POST /v1/recovery-codes", {});
      show({ left: made.codes.length, created: new Date().toISOString(), codes: made.codes });
      view.querySelector(".secret").focus();
    };
    view.replaceChildren(
      element("h3", {}, "Recovery codes"),
      element("p", { class: "soft" }, "For the day when every passkey is lost. Each signs you in once."),
      element("p", { class: left < FEW ? "warning" : "soft" }, stateOf(left, created)),
      element("p", {}, makeButton(left, make)),
      ...(codes ? [codesView(codes)] : []),
    );
  };
  show(told);
  return view;
}

function makeButton(left, make) {
  const ask = left > 0 ? "Make new recovery codes? Those that you have now will no longer work." : undefined;
  return button("Make recovery codes", make, { busy: "Making …", ask });
}

function stateOf(left, created) {
  if (left === 0) return "You have none.";
  return `${left} left, made ${date(created)}.`;
}

function codesView(codes) {
  const text = `${codes.join("\n")}\n`;
  const copy = button("Copy", () => navigator.clipboard.writeText(text).then(() => showDone("Copied.")));
  const save = element(
    "a",
    { href: `data:text/plain,${encodeURIComponent(text)}`, download: "matrx-recovery-codes.txt" },
    "Save as a file",
  );
  return element(
    "div",
    {},
    element("p", {}, "Print them, or write them down: they won't be shown again. Whoever has one is you."),
    element("div", { class: "secret", id: "recovery-codes", tabindex: "0" }, codes.join("\n")),
    element("div", { class: "row" }, copy, save),
  );
}
