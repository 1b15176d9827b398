/** A call on the page: that it runs and since when, its output as it comes, a way to stop it, and its end. */
import { imageView, metadataView, problemLines } from "./answer.js";
import { contentViews } from "./content-view.js";
import { button, element } from "./dom.js";
import { clock, duration } from "./duration.js";
import { Output } from "./output.js";
import { ProgressView } from "./progress-view.js";

export class CallPanel {
  /** What is read out: how the call stands, and not what it writes. */
  #said = element("div", { role: "status", tabindex: "-1" });
  #shown = element("div");
  view = element("div", { role: "region", "aria-label": "Answer" }, this.#said, this.#shown);
  #output;
  #progress;
  #controls;
  #began;
  #ticking;

  /** Nothing was called yet. */
  clear() {
    this.view.className = "";
    this.#said.replaceChildren();
    this.#shown.replaceChildren();
  }

  begin() {
    this.#began = performance.now();
    this.#output = new Output();
    this.#progress = new ProgressView();
    const time = element("span", { class: "soft", role: "timer" }, clock(0));
    this.#ticking = setInterval(() => {
      time.textContent = clock(performance.now() - this.#began);
    }, 1000);
    this.#controls = element("div", { class: "row spread running" }, time);
    this.view.className = "card";
    this.#shown.replaceChildren(this.#controls, this.#progress.view, this.#output.view);
    this.say("Sending …");
  }

  /** The call is on its way: from now on it can be stopped. `stop` resolves when it is over. */
  onTheWay(text, stop) {
    this.say(text);
    if (this.#controls.children.length > 1) return;
    const pressed = () => {
      this.#focus();
      return stop();
    };
    this.#controls.append(button("Stop", pressed, { kind: "danger", busy: "Stopping …" }));
  }

  say(text) {
    if (this.#said.textContent !== text) this.#said.replaceChildren(element("p", {}, text));
  }

  take(event) {
    if (event.type === "progress") this.#progress.take(event);
    else this.#output.take(event);
  }

  /** Shows the answer: its output, its image, and its metadata for who wants them. */
  end({ type, output, image, metadata, content, code, hint, hop }) {
    const took = performance.now() - this.#began;
    if (type === "error") return this.fail({ message: output, code, hint, hop });
    this.#finish("done");
    this.say(`Answered in ${duration(took)}`);
    if (output) this.#output.settle(output);
    else if (!this.#output.isEmpty) this.#output.flush();
    else this.#output.view.replaceWith(...(content ? [] : [element("p", {}, "No output.")]));
    if (image) this.#shown.prepend(imageView(image));
    if (content) this.#shown.append(...contentViews(content));
    if (metadata && Object.keys(metadata).length > 0) this.#shown.append(metadataView(metadata));
  }

  /** Shows a problem. What came until then stays, unless the problem tells it. */
  fail(error) {
    this.#finish("problem");
    this.#said.replaceChildren(...problemLines(error));
    const [, ...more] = error.message.split("\n");
    if (more.length > 0) this.#output.settle(more.join("\n"));
    else this.#output.flush();
  }

  /** The page looks elsewhere. */
  close() {
    clearInterval(this.#ticking);
  }

  /** The focus must not get lost with the button that had it. */
  #focus() {
    this.#said.focus({ preventScroll: true });
  }

  #finish(kind) {
    clearInterval(this.#ticking);
    if (this.#controls.contains(document.activeElement)) this.#focus();
    this.#controls.remove();
    this.#progress.view.remove();
    this.view.className = `card ${kind}`;
  }
}
