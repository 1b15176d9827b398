/** One button that ends all that AI grants do, on all devices; and the way back. */
import { api } from "./api.js";
import { button, date, element } from "./dom.js";
import { visibleLine } from "./hidden-text.js";

const STOP_QUESTION =
  "Stop everything that AI grants do, on all devices? Their calls and background commands end now, and they can do nothing until you let them act again. Your own sessions and script tokens go on.";
const RESUME_QUESTION =
  "Let all AI grants act again, as far as each may? What was stopped does not start again.";

export class StopSwitch {
  #says = element("p", { class: "grow", role: "status" }, "AI grants may act, each as far as it may.");
  #stop = button("Stop everything", () => this.#set(true), {
    ...{ kind: "danger", busy: "Stopping …", ask: STOP_QUESTION, no: "Let them go on" },
  });
  #resume = button("Let AI grants act again", () => this.#set(false), {
    ...{ busy: "Resuming …", ask: RESUME_QUESTION, no: "Keep them stopped" },
  });
  view = element(
    "section",
    { class: "card row spread", "aria-label": "Stop everything" },
    this.#says,
    this.#stop,
    this.#resume,
  );

  constructor() {
    this.#resume.hidden = true;
  }

  /** The pause as the relay has it. */
  show(pause) {
    const { paused } = pause;
    const pressed = paused ? this.#stop : this.#resume;
    const hadFocus = document.activeElement === pressed;
    this.view.classList.toggle("problem", paused);
    // Told once to those who listen.
    const text = wordsOf(pause);
    if (this.#says.textContent !== text) this.#says.textContent = text;
    this.#stop.hidden = paused;
    this.#resume.hidden = !paused;
    if (hadFocus) (paused ? this.#resume : this.#stop).focus({ preventScroll: true });
  }

  async #set(paused) {
    const hadFocus = this.view.contains(document.activeElement) || document.activeElement === document.body;
    this.show(await api("POST /v1/pause", { paused }));
    if (hadFocus) (paused ? this.#resume : this.#stop).focus({ preventScroll: true });
  }
}

function wordsOf({ paused, changed, changed_by: by, devices, devices_told: told }) {
  if (!paused) return "AI grants may act, each as far as it may.";
  const who = by === null ? "" : ` by ${visibleLine(by)}`;
  const waiting =
    told < devices
      ? ` ${devices - told} of ${devices} devices could not be told yet, and will be as soon as they can.`
      : "";
  return `Stopped${who}, ${date(changed)}: AI grants can do nothing until you let them act again.${waiting}`;
}
