/** Recovery codes: how many are left, and new ones, shown once. */
import { api } from "./api.js";
import { button, date, element, showDone } from "./dom.js";

/** Fewer than this many: time for new ones. */
const FEW = 3;

/** What the relay told about them, and how to make new ones. */
export function recoveryCodesView({ left, created }) {
  const state = element("p", { class: left < FEW ? "warning" : "soft" }, stateOf(left, created));
  const shown = element("div", { role: "status" });
  const make = async () => {
    const { codes } = await api("POST /v1/recovery-codes", {});
    state.className = "soft";
    state.textContent = `${codes.length} left, made now.`;
    shown.replaceChildren(codesView(codes));
  };
  const replaced = left > 0 ? "The codes that you have now will no longer work." : undefined;
  return element(
    "div",
    { class: "part" },
    element("h3", {}, "Recovery codes"),
    element("p", { class: "soft" }, "For the day when every passkey is lost. Each signs you in once."),
    state,
    element(
      "p",
      {},
      button("Make recovery codes", make, {
        busy: "Making …",
        ask: replaced && `Make new recovery codes? ${replaced}`,
      }),
    ),
    shown,
  );
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
