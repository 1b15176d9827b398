/** How much a bench measures: all of it, less for a first look (`--quick`), or each thing once, to see that it runs (`--once`). */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

interface Reading {
  /** The bench takes names of its cases. */
  readonly allowPositionals?: boolean;
}

export class Size {
  readonly quick: boolean;
  /** The cases that were named. */
  readonly names: readonly string[];
  readonly #once: boolean;

  /** Reads this program's arguments. Throws parseArgs' errors. */
  constructor({ allowPositionals = false }: Reading = {}) {
    const flag = { type: "boolean", default: false } as const;
    const { values, positionals } = parseArgs({ options: { quick: flag, once: flag }, allowPositionals });
    this.quick = values.quick;
    this.names = positionals;
    this.#once = values.once;
  }

  pick<Value>(whole: Value, quick: Value, once: Value): Value {
    return this.#once ? once : this.quick ? quick : whole;
  }

  /** Writes the figures to their file, but for those of `--once`, which say nothing. */
  keep(file: URL, text: string): void {
    if (!this.#once) writeFileSync(file, `${text}\n`);
  }
}
