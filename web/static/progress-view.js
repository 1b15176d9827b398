/** How far a call is. */
import { element } from "./dom.js";
import { visibleLine } from "./hidden-text.js";

export class ProgressView {
  #bar = element("progress", { "aria-label": "Progress" });
  #text = element("span", { class: "soft" });
  view = element("div", { class: "row", hidden: true }, this.#bar, this.#text);

  /** Takes an event `progress`. */
  take({ progress, total, message = "" }) {
    this.view.hidden = false;
    const isShare = total > 0;
    if (isShare) {
      this.#bar.max = total;
      this.#bar.value = Math.min(Math.max(progress, 0), total);
    } else this.#bar.removeAttribute("value");
    const far = isShare ? `${Math.round(100 * this.#bar.position)}%` : String(progress);
    this.#text.textContent = `${far} ${visibleLine(message.slice(0, 300))}`.trim();
  }
}
