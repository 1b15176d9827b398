/** What a call was asked to do, and by whom. Described only if somebody looks: masking secrets takes longer than many calls. */
import type { GrantId } from "@matrx/shared/ids.ts";
import { inputBeginnings, inputPreview } from "@matrx/shared/redact.ts";
import type { WantedCall } from "../calls/call.ts";
import type { Holder } from "../leases.ts";

/** A longer input is shortened at once, so that it is not kept in memory until the call ends. */
const KEPT_CHARS = 16 * 1024;

export class Asked {
  readonly grant: GrantId;
  readonly holder: Holder | undefined;
  /** The record knows that the call began. */
  isTold = false;
  readonly #tool: string;
  #input: string | undefined;
  #beginnings: Record<string, string> | undefined;
  #preview: Record<string, string> | undefined;

  /** `input` is JSON of an object. */
  constructor({ tool, lease, input }: Pick<WantedCall, "tool" | "lease" | "input">) {
    this.#tool = tool;
    this.grant = lease.scope.id;
    this.holder = lease.holder;
    if (input.length <= KEPT_CHARS) this.#input = input;
    else this.#beginnings = beginningsOf(tool, input);
  }

  /** The parameters, shortened and without secrets. */
  get preview(): Record<string, string> {
    this.#preview ??= inputPreview(this.#beginnings ?? beginningsOf(this.#tool, this.#input ?? "{}"));
    this.#beginnings = this.#input = undefined;
    return this.#preview;
  }
}

function beginningsOf(tool: string, input: string): Record<string, string> {
  return inputBeginnings(tool, JSON.parse(input) as Record<string, unknown>);
}
