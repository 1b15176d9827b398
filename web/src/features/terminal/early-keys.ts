/** Keys that are pressed for a terminal that is about to open: they wait for it. */
import { IS_MAC } from "../../shell/shortcuts.ts";
import { isElsewhere } from "./focus.ts";
import { commandOf } from "./keys.ts";

/** More is no longer taken, in characters. */
const MOST = 4 * 1024;
const NAMED: Readonly<Record<string, string>> = { Enter: "\r", Tab: "\t", Backspace: "\u007f" };

export class EarlyKeys {
  readonly #stopped = new AbortController();
  #text = "";

  /** From now on, until `stop`, or the person presses on something else. */
  constructor() {
    const options = { capture: true, signal: this.#stopped.signal };
    addEventListener("keydown", (event) => this.#press(event), options);
    addEventListener("pointerdown", () => this.stop(), options);
  }

  /** Takes no more of them. */
  stop(): void {
    this.#stopped.abort();
  }

  /** What was typed. */
  get text(): string {
    return this.#text;
  }

  #press(event: KeyboardEvent): void {
    // A key that is held down may be the one that asked for the terminal.
    if (event.isComposing || event.repeat || isElsewhere() || commandOf(event, true)) return;
    const typed = textOf(event);
    if (typed === undefined || this.#text.length >= MOST) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#text += typed;
  }
}

/** As a terminal sends it; undefined: it is left to the page. */
function textOf(event: KeyboardEvent): string | undefined {
  const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
  if (metaKey) return undefined;
  const isChosen = event.getModifierState("AltGraph") || (IS_MAC && altKey && !ctrlKey);
  if (isChosen || (!ctrlKey && !altKey)) return key.length === 1 ? key : shiftKey ? undefined : NAMED[key];
  if (!ctrlKey || altKey || shiftKey || !/^[a-z]$/i.test(key)) return undefined;
  return String.fromCharCode(key.toUpperCase().charCodeAt(0) - 64);
}
