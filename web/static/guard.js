/** Keeps a press from deciding on what has only just appeared, or has just moved under the pointer. */

/** How long what is shown must have stood still, in milliseconds. */
const STILL_FOR = 700;

export class Guard {
  #view;
  #until = 0;
  #timer;
  #observer = new ResizeObserver(() => this.rearm());

  /** Watches over the buttons in `view`; `above` is what moves it by its size. */
  constructor(view, above) {
    this.#view = view;
    this.#observer.observe(view);
    this.#observer.observe(above);
    document.addEventListener("visibilitychange", this.rearm);
  }

  /** From now on nothing can be pressed for a moment. */
  rearm = () => {
    this.#until = performance.now() + STILL_FOR;
    this.#mark(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#mark(false), STILL_FOR);
  };

  /** Whether a press is a person's, on what they had time to see. */
  admits(event) {
    return event.isTrusted && performance.now() >= this.#until;
  }

  close() {
    clearTimeout(this.#timer);
    this.#observer.disconnect();
    document.removeEventListener("visibilitychange", this.rearm);
  }

  /** A disabled button would lose the focus. */
  #mark(isInert) {
    for (const button of this.#view.querySelectorAll("button")) {
      if (isInert) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  }
}
