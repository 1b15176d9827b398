/** The output of a call: as it comes the last of it, following its end until the person scrolls up; then what was answered. */
import { element } from "./dom.js";
import { visible } from "./terminal-text.js";

/** Characters that are kept of what comes. */
const KEPT = 200_000;
/** Pause before what has come is shown, in milliseconds. */
const SHOW_AFTER = 100;
/** This near to its end, in pixels, the output is followed. */
const NEAR = 8;

export class Output {
  #text = document.createTextNode("");
  #box = element(
    "pre",
    { class: "output", tabindex: "0", role: "group", "aria-label": "Output" },
    this.#text,
  );
  #note = element("p", { class: "soft", hidden: true });
  view = element("div", { hidden: true }, this.#note, this.#box);
  /** Came, and is not shown yet. */
  #waiting = "";
  /** Characters that came before those that are kept. */
  #leftOut = 0;
  /** Where the next piece should begin, in bytes of the job's log; undefined: not known. */
  #next = 0;
  #timer;

  get isEmpty() {
    return this.#text.length + this.#waiting.length === 0;
  }

  /** Takes an event `output` or `gap`. */
  take({ type, offset, data, frames }) {
    if (type === "gap") {
      this.#next = undefined;
      return this.#add(missing(`${frames} piece${frames === 1 ? "" : "s"}`));
    }
    if (offset > this.#next) this.#add(missing(`${offset - this.#next} bytes`));
    // What was no UTF-8 does not tell its length.
    this.#next = data.includes("\uFFFD") ? undefined : offset + new TextEncoder().encode(data).length;
    this.#add(data);
  }

  /** Shows what has come. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === "") return;
    this.view.hidden = false;
    const atEnd = this.#isAtEnd();
    // Half of a line's end waits for the other.
    const held = this.#waiting.endsWith("\r") ? "\r" : "";
    this.#text.appendData(visible(held ? this.#waiting.slice(0, -1) : this.#waiting));
    this.#waiting = held;
    const before = this.#box.scrollHeight;
    // What is selected stays so.
    this.#text.deleteData(0, this.#text.length - this.#last(this.#text.data).length);
    this.#note.hidden = this.#leftOut === 0;
    this.#note.textContent = `The first ${this.#leftOut.toLocaleString("en")} characters are not shown.`;
    // What a person reads stays where it is while the beginning goes.
    this.#box.scrollTop = atEnd
      ? this.#box.scrollHeight
      : this.#box.scrollTop - before + this.#box.scrollHeight;
  }

  /** Shows the answer's output in place of what came. */
  settle(text) {
    clearTimeout(this.#timer);
    const atEnd = !this.view.hidden && this.#isAtEnd();
    this.#note.hidden = true;
    this.view.hidden = false;
    this.#text.data = visible(text);
    if (atEnd) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #add(text) {
    this.#waiting = this.#last(this.#waiting + text);
    this.#timer ??= setTimeout(() => this.flush(), SHOW_AFTER);
  }

  /** What is kept of a text; no character is cut in two. */
  #last(text) {
    let over = text.length - KEPT;
    if (over <= 0) return text;
    if (/^[\uDC00-\uDFFF]/.test(text[over])) over++;
    this.#leftOut += over;
    return text.slice(over);
  }

  #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }
}

function missing(what) {
  return `\n[${what} of live output are missing here]\n`;
}
