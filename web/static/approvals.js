/** Calls that wait for this person, on whatever device: shown as they come, decided here. */
import { api, part } from "./api.js";
import { ApprovalCard } from "./approval-card.js";
import { Askers } from "./askers.js";
import { Decided, outcomeOf } from "./decided.js";
import { element } from "./dom.js";
import { Guard } from "./guard.js";

const TITLE = document.title;
/** The session is over, or is no person's. */
const FINAL_STATUSES = [401, 403];
/** How often the relay is asked about one that should have expired, in milliseconds. */
const LOOK_EVERY = 5000;

/** The section, kept up to date by the account link until `close`. */
export class Approvals {
  #title = element("h2", { tabindex: "-1" }, "Approvals");
  #note = element("p", { class: "soft" });
  #said = element("p", { class: "unseen", role: "status" });
  #list = element("ul", { class: "items" });
  #decided = new Decided();
  view = element(
    "section",
    { class: "card", "aria-label": "Approvals" },
    this.#title,
    this.#note,
    this.#said,
    this.#list,
    this.#decided.view,
  );
  #cards = new Map();
  #askers = new Askers();
  #guard = new Guard(this.#list, document.getElementById("notice"));
  #changed;
  #trouble = "";
  #ticking;

  /** `changed` is called after a token was edited. */
  constructor(changed) {
    this.#changed = changed;
    this.#ticking = setInterval(() => this.#tick(), 1000);
    this.#count();
  }

  /** The link is up. */
  opened() {
    void this.#listed();
  }

  /** The link is down. False: there is no use in trying again. */
  lost() {
    return this.#listed("Live connection lost. Reconnecting …");
  }

  close() {
    this.#guard.close();
    clearInterval(this.#ticking);
    document.title = TITLE;
  }

  /** Reads what waits now, and what became of the others. False: there is no use in trying again. */
  async #listed(trouble = "") {
    const before = [...this.#cards.values()];
    this.#say(trouble);
    try {
      const { approvals } = await api("GET /v1/approvals");
      for (const approval of approvals) this.take(approval);
      const listed = new Set(approvals.map(({ id }) => id));
      await Promise.all(
        before.filter(({ approval }) => !listed.has(approval.id)).map((card) => this.#look(card)),
      );
    } catch (error) {
      const isFinal = FINAL_STATUSES.includes(error.status);
      this.#say(`${isFinal ? "New calls are no longer shown." : "Trying again …"} ${error.message}`);
      return !isFinal;
    }
    return true;
  }

  /** News of an approval; the same may come twice, or late. */
  take(approval) {
    const card = this.#cards.get(approval.id);
    if (card?.isDeciding || this.#decided.has(approval.id)) return;
    if (approval.state !== "pending") this.#settle(approval, false);
    else if (!card) this.#add(approval);
    else if (card.differsFrom(approval)) void this.#look(card);
  }

  #add(approval) {
    const card = new ApprovalCard(approval, {
      guard: this.#guard,
      decide: (decision) => this.#decide(card, decision),
    });
    this.#cards.set(approval.id, card);
    this.#list.append(card.view);
    this.#guard.rearm();
    this.#count();
    void this.#look(card).then(() => this.#announce(card));
  }

  /** Asks the relay how it stands, and shows it. */
  async #look(card) {
    try {
      const [detail, asker] = await Promise.all([
        api(`GET ${pathOf(card.approval)}`),
        this.#askers.of(card.approval),
      ]);
      if (card.isDeciding || !this.#isShown(card)) return;
      if (detail.state === "pending") card.show(detail, asker);
      else this.#settle(detail, false);
    } catch (error) {
      if (!card.asker) card.fail(error, () => this.#look(card));
    }
  }

  async #decide(card, decision) {
    card.isDeciding = true;
    try {
      this.#settle(await api(`POST ${pathOf(card.approval)}`, decision), true);
      if (decision.for === "always") await this.#changed(card.asker.name);
    } catch (error) {
      card.isDeciding = false;
      await this.#look(card);
      if (decision.for === "always" && error.code === "CONFLICT" && this.#isShown(card)) card.withoutAlways();
      throw error;
    }
  }

  /** It waits no more. */
  #settle(approval, isMine) {
    const card = this.#cards.get(approval.id);
    const hadFocus = card?.view.contains(document.activeElement);
    card?.view.remove();
    this.#cards.delete(approval.id);
    this.#decided.add(approval, isMine);
    this.#guard.rearm();
    this.#count();
    this.#said.textContent = `${outcomeOf(approval, isMine)}: ${approval.summary}`;
    if (hadFocus || isMine) this.#title.focus({ preventScroll: true });
  }

  #announce(card) {
    if (!this.#isShown(card) || !card.asker) return;
    const { asker, approval } = card;
    this.#said.textContent = `${asker.name} asks on ${asker.device}: ${approval.summary}`;
  }

  #isShown(card) {
    return this.#cards.get(card.approval.id) === card;
  }

  #tick() {
    for (const card of this.#cards.values()) {
      const isOver = card.tick() && !card.isDeciding;
      if (!isOver || Date.now() - card.lookedAt < LOOK_EVERY) continue;
      card.lookedAt = Date.now();
      void this.#look(card);
    }
  }

  #say(trouble) {
    this.#trouble = trouble;
    this.#count();
  }

  #count() {
    const waiting = this.#cards.size;
    document.title = waiting > 0 ? `(${waiting}) ${TITLE}` : TITLE;
    this.#title.textContent = waiting > 0 ? `Approvals (${waiting})` : "Approvals";
    this.#note.textContent = this.#trouble || (waiting > 0 ? "" : "Nothing waits for your decision.");
    this.#note.hidden = this.#note.textContent === "";
  }
}

function pathOf({ device, id }) {
  return `/v1/devices/${part(device)}/approvals/${part(id)}`;
}
