/** One call that waits: who asks, exactly what would run, until when, and what a person may answer. */
import { decisionView } from "./decision.js";
import { button, element } from "./dom.js";
import { clock } from "./duration.js";
import { questionView } from "./question.js";

let cards = 0;

export class ApprovalCard {
  #id = `approval-${++cards}`;
  #title = element("h3", { id: this.#id }, "A call waits");
  #left = element("span", { role: "timer" });
  #changed = element("p", { class: "warning", role: "status" });
  #place = element("div", {}, element("p", { class: "soft" }, "Loading …"));
  view = element(
    "li",
    { class: "item approval", "aria-labelledby": this.#id },
    this.#title,
    element("p", { class: "soft" }, this.#left),
    this.#changed,
    this.#place,
  );
  /** As it is known; with its question once that is shown. */
  approval;
  /** This page's own decision is on its way: what became of the call is in its answer. */
  isDeciding = false;
  /** A policy asks as well, which the token's own rules cannot lift. */
  isAskedByPolicy = false;
  /** When the relay was last asked why it has not expired, in milliseconds since 1970. */
  lookedAt = 0;
  #asker;
  #guard;
  #decide;

  constructor(approval, { guard, decide }) {
    this.approval = approval;
    this.#guard = guard;
    this.#decide = decide;
    this.tick();
  }

  get asker() {
    return this.#asker;
  }

  /** Whether this is news of what is shown. */
  differsFrom({ summary, expires, edited }) {
    const shown = this.approval;
    return shown.summary !== summary || shown.expires !== expires || shown.edited !== edited;
  }

  /** Shows the question, and the buttons anew if it is another one. */
  show(detail, asker) {
    const { question: before, binding } = this.approval;
    const isSame = before && binding === detail.binding && sameJson(before, detail.question);
    this.approval = detail;
    this.#asker = asker;
    this.tick();
    if (isSame) return;
    this.#title.replaceChildren(bdi(asker.name), ` asks to use ${detail.tool} on `, bdi(asker.device));
    this.#changed.textContent = before ? "The question has changed. Read it again." : "";
    this.#ask();
  }

  /** The token's rules are not the only ones that ask. */
  withoutAlways() {
    this.isAskedByPolicy = true;
    this.#ask();
  }

  fail(error, again) {
    this.#place.replaceChildren(
      element("p", { class: "problem" }, `What it would do can't be shown: ${error.message}`),
      element("p", {}, button("Try again", again)),
    );
  }

  /** Tells how long it waits still. True: by this clock it should be over. */
  tick() {
    const { expires } = this.approval;
    const left = Date.parse(expires) - Date.now();
    const at = new Date(expires).toLocaleTimeString([], { timeStyle: "short" });
    this.#left.textContent = left > 0 ? `Expires in ${clock(left)}, at ${at}` : `Expires now (${at})`;
    return left <= 0;
  }

  #ask() {
    const { question, at } = this.approval;
    const asker = this.#asker;
    const from = [
      ["Asked by", `${asker.name} (${asker.kind})`],
      ["Device", asker.device],
    ];
    const answers =
      at === "machine"
        ? atMachineView()
        : decisionView(question, {
            asker,
            heading: this.#id,
            guard: this.#guard,
            mayExcept: asker.hasRules && !this.isAskedByPolicy,
            decide: this.#decide,
          });
    this.#place.replaceChildren(questionView(question, from), answers);
    this.#guard.rearm();
  }
}

function atMachineView() {
  return element(
    "p",
    {},
    "Only somebody at that machine can decide on this. Run there: ",
    element("code", {}, "matrx approvals --here"),
  );
}

function bdi(text) {
  return element("bdi", {}, text);
}

function sameJson(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
