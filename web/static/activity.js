/** What happens on all devices: calls that run, each with a way to end it, and the latest that ended. Nothing of it is kept. */
import { ActivityCall } from "./activity-call.js";
import { api } from "./api.js";
import { button, element, showDone } from "./dom.js";

/** More often than the relay stops sending, in milliseconds. */
const WATCH_EVERY = 120_000;
/** How many that ended are shown. */
const KEPT = 200;

export class Activity {
  #title = element("h2", { tabindex: "-1" }, "Activity");
  #note = element("p", { class: "soft", role: "status" }, "Loading …");
  #running = element("ul", { class: "items", "aria-label": "Running now" });
  #ended = element("ul", { class: "items", "aria-label": "Latest calls" });
  #latest = element(
    "details",
    { ontoggle: () => this.#showLatest() },
    element("summary", {}, "Latest calls"),
    this.#ended,
  );
  #cancelAll = button("Cancel all calls", () => this.#cancelEveryCall(), {
    ...{ kind: "danger", busy: "Cancelling …", no: "Let them run" },
    ask: "Cancel every call that runs or waits, of all callers on all devices?",
  });
  view = element(
    "section",
    { class: "card", "aria-label": "Activity" },
    element("div", { class: "row spread" }, this.#title, this.#cancelAll),
    this.#note,
    this.#running,
    this.#latest,
  );
  /** Those that run, by their ids. */
  #calls = new Map();
  /** Those that ended, the newest first; drawn only while somebody looks. */
  #latestEntries = [];
  /** By device: it could not be asked. */
  #unknown = new Set();
  #names = new Map();
  #isUp = false;
  #send = () => undefined;
  #timer = setInterval(() => this.#watch(), WATCH_EVERY);

  constructor() {
    document.addEventListener("visibilitychange", this.#watch);
    this.#count();
  }

  close() {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#watch);
  }

  /** The link is up. */
  opened(send) {
    this.#send = send;
    this.#isUp = true;
    this.#watch();
  }

  /** The link is down: what is shown may be over. */
  lost() {
    this.#send = () => undefined;
    this.#isUp = false;
    this.#count();
  }

  /** Devices by the names that people gave them. */
  name(devices) {
    this.#names = new Map(devices.map(({ id, name }) => [id, name]));
  }

  /** A frame of the account link. */
  take({ type, device, calls, entries }) {
    if (type === "running") this.#set(device, calls);
    else if (type === "activity") for (const entry of entries) this.#noted(entry);
    else if (type !== "watching") return;
    this.#count();
  }

  #watch = () => {
    if (document.visibilityState === "visible") this.#send({ action: "watch" });
  };

  /** What runs on a device, all of it. */
  #set(device, calls) {
    if (calls === null) return void this.#unknown.add(device);
    this.#unknown.delete(device);
    const running = new Set(calls.map(({ call }) => call));
    for (const [id, { entry }] of this.#calls)
      if (entry.device === device && !running.has(id)) this.#remove(id);
    for (const call of calls) this.#begin(call);
  }

  #noted(entry) {
    if (entry.type === "started") return this.#begin(entry);
    this.#remove(entry.call);
    this.#latestEntries = [entry, ...this.#latestEntries].slice(0, KEPT);
    if (!this.#latest.open) return;
    this.#ended.prepend(this.#draw(entry).view);
    if (this.#ended.children.length > KEPT) this.#ended.lastElementChild.remove();
  }

  #begin(entry) {
    if (this.#calls.has(entry.call)) return;
    const call = this.#draw(entry);
    this.#calls.set(entry.call, call);
    this.#running.append(call.view);
  }

  #remove(id) {
    const view = this.#calls.get(id)?.view;
    if (view?.contains(document.activeElement)) this.#title.focus({ preventScroll: true });
    view?.remove();
    this.#calls.delete(id);
  }

  #showLatest() {
    const shown = this.#latest.open ? this.#latestEntries : [];
    this.#ended.replaceChildren(...shown.map((entry) => this.#draw(entry).view));
  }

  #draw(entry) {
    return new ActivityCall(entry, this.#names.get(entry.device));
  }

  async #cancelEveryCall() {
    const { cancelled, unreachable } = await api("POST /v1/calls/cancel", {});
    const missed = unreachable.length > 0 ? ` ${unreachable.length} devices could not be asked.` : "";
    showDone(`${cancelled === 1 ? "1 call was" : `${cancelled} calls were`} asked to stop.${missed}`);
  }

  #count() {
    const running = this.#calls.size;
    this.#title.textContent = running > 0 ? `Activity (${running} running)` : "Activity";
    this.#latest.hidden = this.#latestEntries.length === 0;
    const text = this.#wordsOf(running);
    if (this.#note.textContent !== text) this.#note.textContent = text;
    this.#note.hidden = text === "";
  }

  #wordsOf(running) {
    if (!this.#isUp) return "Live connection lost. What is shown may be over.";
    const unknown = [...this.#unknown].map((device) => this.#names.get(device) ?? device).join(", ");
    if (unknown) return `What happens on ${unknown} is not known: the relay cannot read its data.`;
    return running > 0 ? "" : "No call is running.";
  }
}
