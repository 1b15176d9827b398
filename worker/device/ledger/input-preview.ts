/** What a call's input says. Described only if somebody looks: masking secrets takes longer than many calls. */
import { inputBeginnings, inputPreview } from "@matrx/shared/redact.ts";

/** A longer input is shortened at once, so that it is not kept in memory until the call ends. */
const KEPT_CHARS = 16 * 1024;

export class InputPreview {
  readonly #tool: string;
  #input: string | undefined;
  #beginnings: Record<string, string> | undefined;
  #preview: Record<string, string> | undefined;

  /** `input` is JSON of an object. */
  constructor(tool: string, input: string) {
    this.#tool = tool;
    if (input.length <= KEPT_CHARS) this.#input = input;
    else this.#beginnings = beginningsOf(tool, input);
  }

  /** The parameters, shortened and without secrets. */
  get parameters(): Record<string, string> {
    this.#preview ??= inputPreview(this.#beginnings ?? beginningsOf(this.#tool, this.#input ?? "{}"));
    this.#beginnings = this.#input = undefined;
    return this.#preview;
  }
}

function beginningsOf(tool: string, input: string): Record<string, string> {
  return inputBeginnings(tool, JSON.parse(input) as Record<string, unknown>);
}
