/** What became of the last calls that waited here: the newest first. */
import { element } from "./dom.js";
import { visibleLine } from "./hidden-text.js";
import { questionView } from "./question.js";

const KEPT = 5;
const REACHES = { once: "Allowed once", hour: "Allowed for an hour", always: "Always allowed" };

/** How it ended and by whom, in a sentence without its period. */
export function outcomeOf({ state, for: reach, edited, decided_by: by, note }, isMine) {
  const who = isMine ? "you" : visibleLine(by ?? "somebody");
  if (state === "expired") return "Expired: nobody decided in time";
  if (state === "cancelled") return "Over: the call ended before anybody decided";
  if (state === "denied") return `Denied by ${who}${note ? `: ${visibleLine(note)}` : ""}`;
  return `${edited ? "Allowed with changes" : (REACHES[reach] ?? "Allowed")} by ${who}`;
}

export class Decided {
  #list = element("ul", { class: "items", "aria-label": "Decided recently" });
  view = element("div", { class: "item", hidden: true }, element("h3", {}, "Decided recently"), this.#list);
  /** By id, the newest last. */
  #shown = new Map();

  has(id) {
    return this.#shown.has(id);
  }

  add(approval, isMine) {
    const item = itemView(approval, isMine);
    this.#shown.set(approval.id, item);
    this.#list.prepend(item);
    this.view.hidden = false;
    const [oldest] = this.#shown.keys();
    if (this.#shown.size <= KEPT) return;
    this.#shown.get(oldest).remove();
    this.#shown.delete(oldest);
  }
}

function itemView(approval, isMine) {
  const { summary, decided, expires, edited, question } = approval;
  const at = decided ?? expires;
  return element(
    "li",
    { class: "item" },
    element("p", {}, element("strong", {}, element("bdi", {}, outcomeOf(approval, isMine)))),
    element("p", {}, element("bdi", {}, summary)),
    element("p", { class: "soft" }, element("time", { datetime: at }, timeOf(at))),
    edited && question && changesView(question),
  );
}

function timeOf(iso) {
  return new Date(iso).toLocaleTimeString([], { timeStyle: "short" });
}

/** What runs instead of what was asked. */
function changesView(question) {
  return element("details", { open: true }, element("summary", {}, "What runs"), questionView(question, []));
}
